"""What is done about a policy's pull request; every step can be repeated, so that the next tick heals a crash.

Order: the branch is pushed first, then the pull request is found or created, then people and labels; our own label is
the last of them, so that its absence tells of an unfinished job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.forge.interface import PullRequest
from repack_gitops.git.interface import Denied, Expected, Identity, NonFastForward, Protected, Pushed
from repack_gitops.model.policy import PullRequestOptions
from repack_gitops.report.markdown import pull_request_body, pull_request_title
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.proposal import Proposal
from repack_gitops.workflow.standing import AUTOCLOSED, Standing

LABEL = "repack"
FRESHNESS = "repack/fresh"
#: The name of no forge: branches are all there is.
NO_FORGE = "none"


class BranchMoved(TryAgain):
    """Somebody pushed to a branch while it was looked at; other policies are not concerned."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Writes to branches and pull requests, as ``identity``; ``warn`` is told of wishes the forge did not grant."""

    ports: Ports
    base: str
    base_commit: str
    identity: Identity
    warn: Callable[[str], None]

    @property
    def exist(self) -> bool:
        """Whether there is a forge that knows pull requests."""
        return self.ports.forge.kind != NO_FORGE

    def open(self, proposal: Proposal, options: PullRequestOptions, orphan: Standing | None) -> str:
        """Push the branch and open its pull request; an ``orphan`` with this plan is used as it is. Returns the URL."""
        keep = orphan is not None and orphan.tip is not None and orphan.digest == proposal.digest
        commit = orphan.tip if keep and orphan and orphan.tip else self._push(proposal, orphan.tip if orphan else None)
        title, body = self._text(proposal)
        request = self.ports.forge.create_pull_request(proposal.path.branch, self.base, title, body, options.draft)
        self._decorate(request, options)
        self._fresh(commit)
        return request.url

    def update(self, proposal: Proposal, options: PullRequestOptions, standing: Standing) -> None:
        """Rebuild the branch as one commit on the current base, unless it has this plan; the text follows."""
        commit = standing.tip
        if commit is None or standing.digest != proposal.digest:
            commit = self._push(proposal, standing.tip)
        if standing.request is not None:
            self.ports.forge.update_pull_request(standing.request.number, *self._text(proposal))
            self._decorate(standing.request, options)
        self._fresh(commit)

    def keep(self, options: PullRequestOptions, standing: Standing) -> None:
        """Refresh the status; finish what a tick that died began."""
        if standing.request is None:
            return
        if LABEL not in standing.request.labels:
            self._decorate(standing.request, options)
        self._fresh(standing.tip or standing.request.head_commit)

    def leave(self, standing: Standing, why: str) -> None:
        """Say once why nothing is done."""
        if standing.request is not None:
            self._say_once(standing.request.number, f"The planner leaves this pull request alone: {why}.")

    def close(self, standing: Standing, why: str) -> bool:
        """Close with a reason and delete the branch; False if it was merged a moment ago."""
        if standing.request is not None and not self._close_request(standing.request, why):
            return False
        self.delete(standing)
        return True

    def delete(self, standing: Standing) -> None:
        """Delete a branch that nobody else pushed to; a push a moment ago saves it."""
        if standing.tip is not None and not standing.human_commits:
            self.ports.repository.delete_branch(standing.path.branch, standing.tip)

    def _close_request(self, request: PullRequest, why: str) -> bool:
        forge = self.ports.forge
        self._say_once(request.number, f"Closed by the planner: {why}.")
        forge.update_pull_request(request.number, request.title.removesuffix(AUTOCLOSED) + AUTOCLOSED, request.body)
        if forge.close_pull_request(request.number).state != "merged":
            return True
        forge.update_pull_request(request.number, request.title.removesuffix(AUTOCLOSED), request.body)
        return False

    def _text(self, proposal: Proposal) -> tuple[str, str]:
        return pull_request_title(proposal.facts), pull_request_body(proposal.facts, self.ports.forge.body_limit)

    def _push(self, proposal: Proposal, expected: Expected) -> str:
        repository, branch = self.ports.repository, proposal.path.branch
        when = proposal.planned_at
        commit = repository.commit(self.base_commit, proposal.files(), proposal.message(), self.identity, when)
        match repository.push(commit, branch, expected):
            case Pushed():
                return commit
            case NonFastForward(message=message):
                raise BranchMoved(f"branch {branch} moved meanwhile: {message}", hint="The next tick looks again.")
            case Protected(message=message):
                raise GitFailed(f"branch {branch} is protected: {message}", hint="Let the bot push to repack/*.")
            case Denied(message=message):
                raise GitFailed(f"pushing {branch} was denied: {message}", hint="Give the token write access.")

    def _decorate(self, request: PullRequest, options: PullRequestOptions) -> None:
        """People and labels are wishes: what the forge does not do is no reason to stop."""
        forge, number = self.ports.forge, request.number
        reviewers = forge.request_reviewers(number, options.reviewers) if options.reviewers else ()
        assignees = forge.set_assignees(number, options.assignees) if options.assignees else ()
        labels = forge.set_labels(number, [*options.labels, LABEL])
        for shortfall in (*reviewers, *assignees, *labels):
            self.warn(f"pull request {number}: {shortfall.message}")

    def _fresh(self, commit: str) -> None:
        # Always the same words: a status that says something new is a write, and a notice to everybody.
        self.ports.forge.set_commit_status(commit, FRESHNESS, "success", "the plan holds on the live cluster")

    def _say_once(self, number: int, text: str) -> None:
        # Forges change line ends and blanks.
        said = (c.body.split() for c in self.ports.forge.comments(number))
        if text.split() not in said:
            self.ports.forge.comment(number, text)
