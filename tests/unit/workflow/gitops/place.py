"""One repository with its forge, its cluster and its people: real git on disk, the rest in memory."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, cast

from repack_gitops.forge.interface import Forge, PullRequest
from repack_gitops.forge.none import NoForge
from repack_gitops.git.interface import Repository
from repack_gitops.git.repository import GitRepository
from repack_gitops.kube.interface import Cluster
from repack_gitops.model.documents import read_run
from repack_gitops.model.run import RepackRun
from repack_gitops.policy.names import PLAN_DIGEST
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.propose import PolicyReport, Tick, propose
from tests.unit.git.scratch import NO_WAIT, Scratch, git, make_scratch
from tests.unit.workflow.gitops.fake_cluster import FakeCluster, layout
from tests.unit.workflow.gitops.fake_forge import FakeForge, Store

START = datetime(2026, 11, 2, 9, 0, 30, tzinfo=UTC)
GPU = "nvidia.com/gpu"

CONFIG = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepositoryConfig
metadata:
  name: test
spec:
  cluster:
    name: bed
  forge:
    kind: none
"""


def policy_text(name: str, resource: str = GPU, more: str = "", trigger: str = 'cronSchedule: "* * * * *"') -> str:
    """Return a policy's file; ``more`` continues its spec."""
    return f"""\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepackPolicy
metadata:
  name: {name}
spec:
  trigger:
    {trigger}
  runTemplate:
    spec:
      goals:
        - resource: {resource}
{more}"""


class FixedClock:
    """Stands still until a test moves it; sleeping only takes notes."""

    def __init__(self) -> None:
        self.time, self.slept = START, list[float]()

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return (self.time - START).total_seconds()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def pass_by(self, **duration: float) -> None:
        self.time += timedelta(**duration)


@dataclass
class Place:
    """Everything a tick touches."""

    scratch: Scratch
    clock: FixedClock
    forge: FakeForge
    cluster: FakeCluster
    without_forge: bool = False
    said: list[str] = field(default_factory=list)

    # ---- the product ----
    @contextmanager
    def ports(self) -> Iterator[Ports]:
        """Yield the ports of a fresh process."""
        with GitRepository.clone(self.scratch.url, branch="main", settings=NO_WAIT) as repository:
            yield self.ports_on(repository)

    def ports_on(self, repository: Repository, forge: Forge | None = None) -> Ports:
        """Return ports on these."""
        plain = NoForge(self.scratch.url) if self.without_forge else cast(Forge, self.forge)
        return Ports(cast(Cluster, self.cluster), repository, forge or plain, self.clock)

    def tick(self, *only: str) -> dict[str, PolicyReport]:
        """Let a minute pass and run one tick in a fresh process; return its reports by policy."""
        with self.ports() as ports:
            return self.tick_on(ports, *only)

    def tick_on(self, ports: Ports, *only: str) -> dict[str, PolicyReport]:
        """Run one tick on ``ports``, a minute later."""
        self.clock.pass_by(minutes=1)
        reports = propose(ports, "main", Tick(timedelta(minutes=1), frozenset(only)), self.said.append)
        assert [r.policy for r in reports] == sorted(r.policy for r in reports)
        return {r.policy: r for r in reports}

    def action(self, policy: str = "gpu", *only: str) -> str:
        """Run one tick and return what it did for ``policy``."""
        return self.tick(*only)[policy].action

    # ---- the repository ----
    def write(self, path: str, text: str) -> str:
        """Commit a file to main as an administrator would."""
        self._on_main()
        return self.scratch.human_commits(path, text)

    def write_all(self, files: Mapping[str, str]) -> None:
        """Commit files to main at once."""
        self._on_main()
        for path, text in files.items():
            file = self.scratch.checkout / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.commit_checkout("Several files")

    def commit_checkout(self, message: str = "By hand") -> None:
        """Commit whatever a test did to the checkout, to main."""
        git(self.scratch.checkout, "add", "--all")
        git(self.scratch.checkout, "commit", "--quiet", "-m", message)
        git(self.scratch.checkout, "push", "--quiet", "origin", "main")

    def remove(self, path: str) -> None:
        """Delete a file or folder from main."""
        self._on_main()
        git(self.scratch.checkout, "rm", "-r", "--quiet", "--", path)
        self.commit_checkout(f"Remove {path}")

    def push_to(self, branch: str, path: str, text: str) -> str:
        """Add a human's commit to a branch; return it."""
        git(self.scratch.checkout, "fetch", "--quiet", "origin", branch)
        git(self.scratch.checkout, "checkout", "--quiet", "-B", branch, "FETCH_HEAD")
        return self.scratch.human_commits(path, text, branch)

    def merge_squashed(self, number: int, by: str = "human") -> str:
        """Merge a pull request by squashing, and delete its branch; return the new commit."""
        request = self.request(number)
        commit = self.merge_branch(request.head)
        self.forge.somebody_merges(number, commit, by)
        git(self.scratch.checkout, "push", "--quiet", "origin", f":{request.head}")
        return commit

    def merge_branch(self, branch: str) -> str:
        """Squash a branch onto main, with git alone."""
        self._on_main()
        git(self.scratch.checkout, "fetch", "--quiet", "origin", branch)
        git(self.scratch.checkout, "merge", "--quiet", "--squash", "FETCH_HEAD")
        self.commit_checkout("Merge")
        return self.scratch.tip

    def _on_main(self) -> None:
        git(self.scratch.checkout, "fetch", "--quiet", "origin", "main")
        git(self.scratch.checkout, "checkout", "--quiet", "--force", "-B", "main", "FETCH_HEAD")

    def branches(self) -> dict[str, str]:
        """Return all branches but main."""
        out = git(self.scratch.bare, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
        pairs = (line.split() for line in out.splitlines())
        return {name: commit for name, commit in pairs if name != "main"}

    def show(self, commit: str, path: str) -> str:
        """Return a file at a commit."""
        return git(self.scratch.bare, "show", f"{commit}:{path}")

    def run_at(self, branch: str) -> RepackRun:
        """Return the run.yaml that a branch proposes."""
        path = f"runs/{branch.removeprefix('repack/')}/run.yaml"
        return read_run(self.show(branch, path), path)

    def run_on_main(self, run: str, policy: str = "gpu") -> RepackRun:
        """Return the run.yaml that was merged."""
        path = f"runs/{policy}/{run}/run.yaml"
        return read_run(self.show("main", path), path)

    def digest_at(self, branch: str) -> str:
        """Return the plan digest that a branch proposes."""
        return self.run_at(branch).metadata.annotations[PLAN_DIGEST]

    # ---- the forge ----
    def request(self, number: int) -> PullRequest:
        """Return a pull request."""
        found = self.forge.pull_request(number)
        assert found is not None
        return found

    def open_requests(self, policy: str = "") -> list[PullRequest]:
        """Return the open pull requests (of a policy)."""
        return list(self.forge.open_pull_requests("main", f"repack/{policy}/" if policy else ""))

    def the_request(self, policy: str = "gpu") -> PullRequest:
        """Return the one open pull request of a policy."""
        (found,) = self.open_requests(policy)
        return found

    def comments(self, number: int) -> list[str]:
        """Return the texts of all comments."""
        return [c.body for c in self.forge.comments(number)]


@dataclass(frozen=True)
class Checkpoint:
    """A place as it was at one moment, to go back to."""

    place: Place
    kept: Path
    store: Store
    time: datetime
    objects: list[Any]

    @staticmethod
    def of(place: Place, folder: Path) -> Checkpoint:
        """Remember ``place`` in the new folder ``folder``."""
        shutil.copytree(place.scratch.bare, folder / "bare")
        return Checkpoint(place, folder, _copied(place.forge.store), place.clock.time, list(place.cluster.objects))

    def restore(self) -> None:
        """Make the place what it was."""
        shutil.rmtree(self.place.scratch.bare)
        shutil.copytree(self.kept / "bare", self.place.scratch.bare)
        self.place.forge.store = _copied(self.store)
        self.place.clock.time, self.place.cluster.objects = self.time, list(self.objects)


def _copied(store: Store) -> Store:
    return replace(store, **{f.name: deepcopy(getattr(store, f.name)) for f in fields(store) if f.name not in ("tips", "now")})


def make_place(folder: Path, files: Mapping[str, str] | None = None, cluster: Sequence[Any] | None = None) -> Place:
    """Return a place with repack.yaml and policy ``gpu`` (or ``files``) on main, and one node that can be freed."""
    wanted = files or {"policies/gpu.yaml": policy_text("gpu")}
    for part in _seed(tuple(sorted(wanted.items()))).iterdir():
        shutil.copytree(part, folder / part.name)
    scratch = Scratch(folder / "remote.git", folder / "checkout")
    git(scratch.checkout, "remote", "set-url", "origin", str(scratch.bare))
    clock = FixedClock()

    def tip(branch: str) -> str | None:
        # The remote is never packed; a process for each look would take most of a test's time.
        ref = scratch.bare / "refs/heads" / branch
        return ref.read_text().strip() if ref.is_file() else None

    forge = FakeForge(Store(tip, clock.now))
    return Place(scratch, clock, forge, FakeCluster(layout(4, 2) if cluster is None else cluster))


@cache
def _seed(files: tuple[tuple[str, str], ...]) -> Path:
    """Return a folder with a remote and a checkout that hold ``files``, to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="repack-seed-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scratch = make_scratch(folder)
    for path, text in {"repack.yaml": CONFIG, **dict(files)}.items():
        file = scratch.checkout / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if "policies/a.yaml" not in dict(files):
        (scratch.checkout / "policies/a.yaml").unlink()
    git(scratch.checkout, "add", "--all")
    git(scratch.checkout, "commit", "--quiet", "-m", "Configuration and policies")
    git(scratch.checkout, "push", "--quiet", "origin", "main")
    return folder


def one_line(text: str) -> str:
    """Return ``text`` with all white space as single blanks."""
    return re.sub(r"\s+", " ", text).strip()
