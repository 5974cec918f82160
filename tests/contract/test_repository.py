"""The same story on every way to hold a repository: cloned or lent by a checkout, SHA-1 or SHA-256."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git.interface import ANY, Change, Deleted, NonFastForward, Protected, Pushed, Repository
from repack_gitops.git.repository import GitRepository
from repack_gitops.workflow.rebase import push_with_rebase
from tests.unit.git.scratch import AUTHOR, NO_WAIT, WHEN, Scratch, make_scratch, refusing


@dataclass(frozen=True)
class World:
    """A repository under test and the remote behind it."""

    repository: Repository
    scratch: Scratch

    def commit(self, parent: str, path: str = "runs/p/r-1/run.yaml") -> str:
        """Write one file on top of a commit."""
        return self.repository.commit(parent, {path: b"kind: RepackRun\n"}, f"Write {path}", AUTHOR, WHEN)


@pytest.fixture(params=["cloned-sha1", "cloned-sha256", "lent-sha1", "lent-sha256"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    how, _, object_format = request.param.partition("-")
    scratch = make_scratch(tmp_path, object_format)
    with ExitStack() as stack:
        if how == "cloned":
            made = GitRepository.clone(scratch.url, branch="main", settings=NO_WAIT)
        else:
            made = GitRepository.open(scratch.checkout, url=scratch.url, settings=NO_WAIT)
        yield World(stack.enter_context(made), scratch)


def test_reading(world: World) -> None:
    tip = world.scratch.tip
    repository = world.repository
    assert repository.fetch("main") == repository.resolve("main") == repository.resolve("origin/main") == tip
    assert repository.fetch("absent") is repository.resolve("absent") is None
    assert repository.list_files("main") == ("README.md", "policies/a.yaml")
    assert repository.list_files("main", "policies") == ("policies/a.yaml",)
    assert repository.read("main", "policies/a.yaml", 100) == b"a: 1\n"
    assert repository.read("main", "absent", 100) is None
    assert repository.read_many(tip, ["README.md", "absent"], 100) == {"README.md": b"hello\n"}
    with pytest.raises(InvalidInput):
        repository.read("main", "policies", 100)
    with pytest.raises(InvalidInput):
        repository.read("main", "README.md", 5)
    with pytest.raises(GitFailed):
        repository.read("absent", "README.md", 100)


def test_a_proposal_from_branch_to_deletion(world: World) -> None:
    repository, base = world.repository, world.scratch.tip
    first, second = world.commit(base), world.commit(base, "runs/p/r-2/run.yaml")
    assert world.commit(base) == first
    assert repository.changes(base, first) == (Change("runs/p/r-1/run.yaml", "added"),)
    assert [c.parents for c in repository.commits(base, first)] == [(base,)]
    assert repository.merge_base(first, second) == base
    assert repository.push(first, "repack/p", None) == Pushed(first)
    assert isinstance(repository.push(second, "repack/p", None), NonFastForward)
    assert isinstance(repository.push(second, "repack/p", base), NonFastForward)
    assert repository.push(second, "repack/p", first) == Pushed(second)
    assert repository.remote_branches("repack/") == {"repack/p": second}
    assert isinstance(repository.delete_branch("repack/p", first), NonFastForward)
    assert repository.delete_branch("repack/p", second) == Deleted(existed=True)
    assert repository.delete_branch("repack/p", ANY) == Deleted(existed=False)


def test_a_result_on_a_busy_branch(world: World) -> None:
    interruptions = ["theirs"]

    def make(parent: str) -> str:
        made = world.commit(parent, "runs/p/r-1/result.yaml")
        while interruptions:
            world.scratch.human_commits(interruptions.pop(), "x")
        return made

    waits: list[float] = []
    answer = push_with_rebase(world.repository, make, "main", sleep=waits.append)
    assert answer == Pushed(world.scratch.tip)
    assert len(waits) == 1
    assert push_with_rebase(world.repository, make, "main", sleep=refusing) == answer, "recorded already"
    assert set(world.repository.list_files(world.scratch.tip)) == {
        "README.md",
        "policies/a.yaml",
        "runs/p/r-1/result.yaml",
        "theirs",
    }


def test_a_server_that_says_no(world: World) -> None:
    world.scratch.hook("pre-receive", "echo 'GH006: Protected branch update failed' >&2; exit 1")
    base = world.scratch.tip
    assert isinstance(world.repository.push(world.commit(base), "main", base), Protected)
    assert world.scratch.tip == base
