"""The planner's tick (spec 3.2): which policies are due, what they would do, and their pull requests kept true.

Each step can be repeated, so a crash anywhere is healed by the next tick: the branch is pushed first, then the pull
request is found or created, then labels and reviewers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.forge.interface import PullRequest
from repack_gitops.git.interface import Denied, Expected, Identity, NonFastForward, Protected, Pushed
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.documents import read_run
from repack_gitops.model.duration import parse_duration
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from repack_gitops.model.status import verdict_message
from repack_gitops.planner import evaluate
from repack_gitops.planner.fragmentation import fragmentation
from repack_gitops.policy.due import cron_due, fragmentation_due
from repack_gitops.policy.guardrails import guarded_options, violations
from repack_gitops.policy.lifecycle import (
    HOLD_LABEL,
    Action,
    Close,
    Keep,
    Leave,
    Nothing,
    OpenRequest,
    Situation,
    Update,
    decide,
)
from repack_gitops.policy.names import PLAN_DIGEST, branch_prefix
from repack_gitops.report.machine_block import read_machine_block
from repack_gitops.report.markdown import pull_request_body, pull_request_title
from repack_gitops.workflow.books import LIMIT_BYTES, Books, base_books
from repack_gitops.workflow.clock import parse_timestamp
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.proposal import Origin, Proposal, propose_run

LABEL = "repack"
FRESHNESS = "repack/fresh"
#: Marks the bot's own closing comment, so that a human's closing is told from it.
CLOSED_BY_US = "<!-- repack: closed by the planner -->"
LEFT_ALONE = "<!-- repack: left alone -->"


@dataclass(frozen=True, slots=True)
class Tick:
    """Which policies to look at: all due ones, or those named; ``lookback`` is the period of the CronJob that asks."""

    lookback: timedelta
    only: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """What a tick did for one policy."""

    policy: str
    action: str
    message: str
    url: str = ""


def propose(ports: Ports, branch: str, tick: Tick, progress: Callable[[str], None]) -> tuple[PolicyReport, ...]:
    """Run one tick on the base branch ``branch``; returns a report per policy, sorted by name."""
    books = base_books(ports.repository, branch)
    story = _Tick(ports, books, tick)
    reports = [story.policy(path, policy, progress) for path, policy in sorted(books.policies().items())]
    return tuple(reports)


class _Tick:
    def __init__(self, ports: Ports, books: Books, tick: Tick) -> None:
        self._ports, self._books, self._tick = ports, books, tick
        self._config: RepositoryConfig = books.config()
        self._guardrails: Guardrails | None = books.guardrails()
        self._base = self._config.spec.git.base_branch
        identity = self._config.spec.git.identity
        self._identity = Identity(identity.name, identity.email)
        self._now = ports.clock.now()
        self._snapshot: ClusterSnapshot | None = None

    def policy(self, path: str, policy: RepackPolicy, progress: Callable[[str], None]) -> PolicyReport:
        """Bring one policy's pull request up to date."""
        name = policy.metadata.name
        asleep = self._asleep(policy)
        if asleep is not None:
            return PolicyReport(name, "skipped", asleep)
        progress(f"policy {name}: planning")
        origin = Origin(self._config, policy, path, self._books.commit, self._now)
        options = guarded_options(self._guardrails, PlannerOptions())
        evaluation = evaluate(self._cluster(), policy.spec.run_template.spec, options)
        request = self._open_request(name)
        proposal = self._proposal(origin, evaluation, request)
        situation = self._situation(policy, evaluation, proposal, request)
        action = decide(situation)
        return self._act(action, policy, proposal, request, situation.verdict)

    def _asleep(self, policy: RepackPolicy) -> str | None:
        """Return why the policy is not looked at now, or None."""
        if policy.spec.suspend:
            return "suspended"
        if self._tick.only:
            return None if policy.metadata.name in self._tick.only else "not asked for"
        trigger = policy.spec.trigger
        if cron_due(trigger, self._now, self._tick.lookback):
            return None
        resource = policy.spec.run_template.spec.goals[0].resource
        if trigger.on_frag_above_percent is not None:
            current = fragmentation(self._cluster(), resource)
            if fragmentation_due(trigger, current):
                return None
            return f"fragmentation {current.percent}% is not above {trigger.on_frag_above_percent}%"
        return "not due"

    def _cluster(self) -> ClusterSnapshot:
        """Return the tick's one snapshot, taken when first needed."""
        if self._snapshot is None:
            self._snapshot = build_snapshot(self._ports.cluster.list_objects())
        return self._snapshot

    # ---- what there is ----
    def _open_request(self, policy: str) -> PullRequest | None:
        found = self._ports.forge.open_pull_requests(self._base, branch_prefix(policy))
        if found:
            self._ports.repository.fetch(found[0].head)
        return found[0] if found else None

    def _proposal(self, origin: Origin, evaluation: Evaluation, request: PullRequest | None) -> Proposal | None:
        if evaluation.verdict is not Verdict.RECOMMENDED:
            return None
        prefix = branch_prefix(origin.policy.metadata.name)
        run = request.head.removeprefix(prefix) if request else self._orphan(origin.policy.metadata.name)
        proposal = propose_run(origin, self._cluster(), evaluation, run)
        forge, branch = self._ports.forge, proposal.path.branch
        files = forge.file_page(branch, proposal.path.directory)
        return proposal.on_forge(files, forge.file_content(branch, proposal.path.file("layout.svg")))

    def _orphan(self, policy: str) -> str | None:
        """Return the run of a branch that was pushed by a tick that died before its pull request; None without one."""
        prefix = branch_prefix(policy)
        recorded = {run.run for run in self._books.runs(policy)}
        for branch in sorted(self._ports.repository.remote_branches(prefix)):
            run = branch.removeprefix(prefix)
            merged = run in recorded or self._ports.forge.find_merged(branch) is not None
            if not merged and not self._closed(branch):
                return run
        return None

    def _closed(self, branch: str) -> bool:
        since = self._now - timedelta(days=365)
        return any(p.head == branch for p in self._ports.forge.closed_pull_requests(self._base, branch, since))

    def _situation(
        self, policy: RepackPolicy, evaluation: Evaluation, proposal: Proposal | None, request: PullRequest | None
    ) -> Situation:
        name, spec = policy.metadata.name, policy.spec.run_template.spec
        approved = self._books.approved(name)
        digest = proposal.digest if proposal else None
        return Situation(
            digest=digest,
            verdict=verdict_message(evaluation, threshold=spec.goals[0].min_frag_improvement_percent),
            blocked="; ".join(violations(self._guardrails, spec, evaluation)) if proposal else "",
            in_flight=approved[0].run if approved else "",
            rejected=digest is not None and request is None and self._rejected(name, digest),
            open=self._describe(policy, request) if request else None,
        )

    def _rejected(self, policy: str, digest: str) -> bool:
        """Tell whether a human closed this very plan unmerged, not too long ago."""
        since = self._now - timedelta(milliseconds=parse_duration(self._config.spec.rejected_for))
        for request in self._ports.forge.closed_pull_requests(self._base, branch_prefix(policy), since):
            block = read_machine_block(request.body)
            if request.state == "closed" and block is not None and block.plan_digest == digest:
                return not any(CLOSED_BY_US in c.body for c in self._ports.forge.comments(request.number))
        return False

    def _describe(self, policy: RepackPolicy, request: PullRequest) -> OpenRequest:
        block = read_machine_block(request.body)
        commits = self._ports.repository.commits(self._books.commit, self._tip(request))
        age = self._now - (parse_timestamp(block.snapshot_time) if block else request.created_at)
        return OpenRequest(
            number=request.number,
            digest=block.plan_digest if block else "",
            human_commits=any(c.author != self._identity or c.committer != self._identity for c in commits),
            held=HOLD_LABEL in request.labels,
            in_merge_queue=request.in_merge_queue,
            expired=age > timedelta(milliseconds=parse_duration(policy.spec.approval.max_plan_age)),
        )

    def _tip(self, request: PullRequest) -> str:
        """Return what the branch points at; git knows at once what a forge's list may learn a moment later."""
        return self._ports.repository.resolve(f"origin/{request.head}") or request.head_commit

    # ---- what is done about it ----
    def _act(
        self, action: Action, policy: RepackPolicy, proposal: Proposal | None, request: PullRequest | None, verdict: str
    ) -> PolicyReport:
        name = policy.metadata.name
        match action:
            case Nothing(why=why):
                return PolicyReport(name, "nothing", why)
            case Keep() if request is not None:
                self._fresh(request.head_commit, "the plan still holds")
                return PolicyReport(name, "unchanged", "the open pull request still holds", request.url)
            case Leave(number=number, why=why):
                self._say_once(number, f"{LEFT_ALONE}\nThe planner leaves this pull request alone: {why}.")
                return PolicyReport(name, "left alone", why, request.url if request else "")
            case Close(why=why, reopen=reopen) if request is not None:
                self._close(request, why)
                if not reopen or proposal is None:
                    return PolicyReport(name, "closed", why, request.url)
                return self._open(policy, self._renamed(proposal, policy), verdict)
            case _ if proposal is None:
                raise TryAgain(f"policy {name}: nothing is proposed to {action}", hint="The next tick looks again.")
            case Update() if request is not None:
                return self._update(policy, proposal, request, verdict)
            case _:
                return self._open(policy, proposal, verdict)

    def _renamed(self, proposal: Proposal, policy: RepackPolicy) -> Proposal:
        """Return the proposal under a new run name: the branch of a closed pull request is not used again."""
        origin = Origin(self._config, policy, proposal.facts.policy_path, self._books.commit, self._now)
        return propose_run(origin, self._cluster(), proposal.facts.evaluation)

    def _open(self, policy: RepackPolicy, proposal: Proposal, verdict: str) -> PolicyReport:
        forge, options = self._ports.forge, policy.spec.pull_request
        present = self._ports.repository.fetch(proposal.path.branch)
        commit = present if present and self._says(present, proposal) else self._push(proposal, present)
        body = pull_request_body(proposal.facts, forge.body_limit)
        request = forge.create_pull_request(
            proposal.path.branch, self._base, pull_request_title(proposal.facts), body, options.draft
        )
        self._decorate(request.number, policy)
        self._fresh(commit, "planned on the live cluster")
        return PolicyReport(policy.metadata.name, "opened", verdict, request.url)

    def _update(self, policy: RepackPolicy, proposal: Proposal, request: PullRequest, verdict: str) -> PolicyReport:
        commit = self._push(proposal, self._tip(request))
        body = pull_request_body(proposal.facts, self._ports.forge.body_limit)
        self._ports.forge.update_pull_request(request.number, pull_request_title(proposal.facts), body)
        self._decorate(request.number, policy)
        self._fresh(commit, "planned again: the plan changed")
        return PolicyReport(policy.metadata.name, "updated", verdict, request.url)

    def _says(self, commit: str, proposal: Proposal) -> bool:
        """Tell whether ``commit`` proposes this very plan already: a tick died after its push, or there is no forge."""
        content = self._ports.repository.read(commit, proposal.path.file("run.yaml"), LIMIT_BYTES)
        if content is None:
            return False
        run = read_run(content, proposal.path.file("run.yaml"))
        return run.metadata.annotations.get(PLAN_DIGEST) == proposal.digest

    def _push(self, proposal: Proposal, expected: Expected) -> str:
        commit = self._ports.repository.commit(
            self._books.commit, proposal.files(), proposal.message(), self._identity, self._now
        )
        match self._ports.repository.push(commit, proposal.path.branch, expected):
            case Pushed():
                return commit
            case NonFastForward(message=message):
                raise TryAgain(f"branch {proposal.path.branch} moved meanwhile: {message}", hint="The next tick looks again.")
            case Protected(message=message):
                raise GitFailed(f"branch {proposal.path.branch} is protected: {message}", hint="Let the bot push to repack/*.")
            case Denied(message=message):
                raise GitFailed(f"pushing {proposal.path.branch} was denied: {message}", hint="Give the token write access.")

    def _decorate(self, number: int, policy: RepackPolicy) -> None:
        """Labels and people are wishes: what the forge does not do is no reason to stop."""
        forge, options = self._ports.forge, policy.spec.pull_request
        forge.set_labels(number, [LABEL, *options.labels])
        if options.reviewers:
            forge.request_reviewers(number, options.reviewers)
        if options.assignees:
            forge.set_assignees(number, options.assignees)

    def _fresh(self, commit: str, description: str) -> None:
        self._ports.forge.set_commit_status(commit, FRESHNESS, "success", description)

    def _close(self, request: PullRequest, why: str) -> None:
        self._say_once(request.number, f"{CLOSED_BY_US}\nClosed by the planner: {why}")
        self._ports.forge.close_pull_request(request.number)
        self._ports.repository.delete_branch(request.head, self._tip(request))

    def _say_once(self, number: int, text: str) -> None:
        if not any(c.body.strip() == text.strip() for c in self._ports.forge.comments(number)):
            self._ports.forge.comment(number, text)


def summary(reports: Sequence[PolicyReport]) -> str:
    """Return the tick in lines for a log."""
    return "\n".join(f"{r.policy}: {r.action}: {r.message}" + (f" ({r.url})" if r.url else "") for r in reports)
