"""What stands of a policy's proposals: its open pull requests, and branches that have none (spec 3.2).

The branch is the truth about a plan, since it is what a merge brings; the text of a pull request only tells of it, and
anyone may edit that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from repack_gitops.errors import InvalidInput
from repack_gitops.forge.interface import PullRequest
from repack_gitops.git.interface import Identity
from repack_gitops.model.documents import read_run
from repack_gitops.policy.names import PLAN_DIGEST, PLANNED_AT, RunPath, branch_prefix
from repack_gitops.report.machine_block import read_machine_block
from repack_gitops.workflow.books import LIMIT_BYTES, Books
from repack_gitops.workflow.clock import parse_timestamp
from repack_gitops.workflow.ports import Ports

#: Ends the title of a pull request that the planner closed, so that a human's closing is told from it.
AUTOCLOSED = " - autoclosed"
#: A branch without a pull request is one of a tick that died, unless one from it ended in this time.
_MEMORY = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Standing:
    """A branch that proposes a run, and its open pull request.

    Attributes
    ----------
    tip
        What the branch points at; None when it is gone.
    digest
        The material digest in its run.yaml; empty when that cannot be read.
    planned_at, base_commit
        When its plan was made, and on which commit it stands; None and empty when that cannot be told.
    ours, human_commits
        Whether all its commits (and at least one) are the planner's; whether one is somebody else's.
    """

    path: RunPath
    tip: str | None
    digest: str
    planned_at: datetime | None
    base_commit: str
    ours: bool
    human_commits: bool
    request: PullRequest | None = None

    @property
    def told_digest(self) -> str:
        """The digest, if the pull request tells of the same plan; else empty: its text must be written again."""
        if self.request is None:
            return self.digest
        block = read_machine_block(self.request.body)
        told = block is not None and block.plan_digest == self.digest and not self.request.title.endswith(AUTOCLOSED)
        return self.digest if told else ""

    def older_than(self, age: timedelta, now: datetime) -> bool:
        """Tell whether the plan is that old; without a date, its pull request's age counts."""
        made = self.planned_at or (self.request.created_at if self.request else now)
        return now - made > age


@dataclass(frozen=True, slots=True)
class Scene:
    """All that stands for one policy.

    Attributes
    ----------
    requests
        Open pull requests, by number; one, unless two planners ran at once.
    orphans
        Branches that never had a pull request: of a tick that died, or of a repository without a forge.
    remains
        Branches of pull requests that the planner closed, by a tick that died before it deleted them.
    """

    requests: tuple[Standing, ...]
    orphans: tuple[Standing, ...]
    remains: tuple[Standing, ...]


class Scout:
    """Looks at a repository and its forge from the base branch as ``books`` has it."""

    def __init__(self, ports: Ports, books: Books, base: str, identity: Identity, now: datetime) -> None:
        self._ports, self._books, self._base, self._identity, self._now = ports, books, base, identity, now

    def look(self, policy: str) -> Scene:
        """Return what stands for ``policy``."""
        prefix = branch_prefix(policy)
        requests = tuple(
            self._standing(path, request)
            for request in self._ports.forge.open_pull_requests(self._base, prefix)
            if (path := RunPath.of_branch(request.head)) is not None
        )
        taken, recorded = {s.path for s in requests}, set(self._books.runs(policy))
        branches = map(RunPath.of_branch, self._ports.repository.remote_branches(prefix))
        left = [path for path in branches if path is not None and path not in taken]
        never = [path for path in left if path not in recorded and not self._ended(path)]
        orphans = tuple(map(self._standing, never))
        return Scene(requests, orphans, tuple(map(self._standing, self._closed_by_us(policy, left, never))))

    def rejected(self, policy: str, digest: str, since: datetime) -> bool:
        """Tell whether a human closed a pull request with this very plan unmerged, at or after ``since``."""
        ended = self._ports.forge.closed_pull_requests(self._base, branch_prefix(policy), since)
        blocks = (read_machine_block(p.body) for p in ended if _closed(p) and not p.title.endswith(AUTOCLOSED))
        return any(block is not None and block.plan_digest == digest for block in blocks)

    def _ended(self, path: RunPath) -> tuple[PullRequest, ...]:
        """Return the pull requests from this branch that were merged or closed."""
        found = self._ports.forge.closed_pull_requests(self._base, path.branch, self._now - _MEMORY)
        return tuple(p for p in found if p.head == path.branch)

    def _closed_by_us(self, policy: str, left: Iterable[RunPath], never: list[RunPath]) -> list[RunPath]:
        candidates = {path.branch: path for path in left if path not in never}
        if not candidates:
            return []
        ended = self._ports.forge.closed_pull_requests(self._base, branch_prefix(policy), self._now - timedelta(days=7))
        return [candidates[p.head] for p in ended if p.head in candidates and _closed(p) and p.title.endswith(AUTOCLOSED)]

    def _standing(self, path: RunPath, request: PullRequest | None = None) -> Standing:
        repository = self._ports.repository
        tip = repository.fetch(path.branch)
        if tip is None:
            return Standing(path, None, "", None, "", ours=False, human_commits=False, request=request)
        commits = repository.commits(self._books.commit, tip)
        foreign = any(c.author != self._identity or c.committer != self._identity for c in commits)
        base = commits[-1].parents[0] if commits and commits[-1].parents else ""
        ours = bool(commits) and not foreign
        return Standing(path, tip, *self._plan_on(tip, path), base, ours=ours, human_commits=foreign, request=request)

    def _plan_on(self, tip: str, path: RunPath) -> tuple[str, datetime | None]:
        """Return digest and time of the plan that a branch proposes; people may have put anything there."""
        file = path.file("run.yaml")
        try:
            content = self._ports.repository.read(tip, file, LIMIT_BYTES)
            notes = read_run(content, file).metadata.annotations if content is not None else {}
        except InvalidInput:
            return "", None
        try:
            made = parse_timestamp(notes.get(PLANNED_AT, ""))
        except ValueError:
            return notes.get(PLAN_DIGEST, ""), None
        return notes.get(PLAN_DIGEST, ""), made if made.tzinfo else None


def _closed(request: PullRequest) -> bool:
    return request.state == "closed"
