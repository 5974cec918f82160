"""Pushing: leases, races, protected branches, refusals, failures that pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, InvalidInput, TryAgain
from repack_gitops.git.interface import ANY, Deleted, Denied, Expected, NonFastForward, Protected, Pushed
from repack_gitops.git.repository import GitRepository
from repack_gitops.model.backoff import backoff
from tests.unit.git.scratch import AUTHOR, NO_WAIT, WHEN, Scratch, Sleeps, fake_git, git, recording


def commit(repository: GitRepository, parent: str, content: str = "x") -> str:
    return repository.commit(parent, {"runs/r": content.encode()}, f"Write {content}", AUTHOR, WHEN)


def test_a_new_branch(clone: GitRepository, scratch: Scratch) -> None:
    made = commit(clone, scratch.tip)
    assert clone.push(made, "repack/p/r-1", None) == Pushed(made)
    assert scratch.tip_of("repack/p/r-1") == made
    assert clone.remote_branches("repack/") == {"repack/p/r-1": made}
    assert clone.push(made, "repack/p/r-1", None) == Pushed(made), "pushing the same again is fine"


def test_a_new_branch_that_exists_already(clone: GitRepository, scratch: Scratch) -> None:
    theirs = scratch.human_commits("y", "y", branch="repack/p/r-1")
    answer = clone.push(commit(clone, scratch.tip), "repack/p/r-1", None)
    assert isinstance(answer, NonFastForward)
    assert "stale info" in answer.message
    assert scratch.tip_of("repack/p/r-1") == theirs


def test_a_branch_is_rebuilt_only_from_the_expected_commit(clone: GitRepository, scratch: Scratch) -> None:
    first, second = commit(clone, scratch.tip, "1"), commit(clone, scratch.tip, "2")
    clone.push(first, "repack/p", None)
    assert isinstance(clone.push(second, "repack/p", scratch.tip), NonFastForward)
    assert scratch.tip_of("repack/p") == first
    assert clone.push(second, "repack/p", first) == Pushed(second)
    assert scratch.tip_of("repack/p") == second


def test_without_an_expectation_only_a_fast_forward_goes_through(clone: GitRepository, scratch: Scratch) -> None:
    first = commit(clone, scratch.tip, "1")
    assert clone.push(first, "main", ANY) == Pushed(first)
    scratch.human_commits("policies/a.yaml", "a: 2\n")
    for elsewhere in (commit(clone, first, "2"), first):
        assert isinstance(clone.push(elsewhere, "main", ANY), NonFastForward)


@pytest.mark.parametrize(
    "said",
    [
        "error: GH006: Protected branch update failed for refs/heads/main.",
        "GitLab: You are not allowed to push code to protected branches on this project.",
        "Not allowed to push to protected branch main",
    ],
)
def test_a_protected_branch(clone: GitRepository, scratch: Scratch, said: str) -> None:
    scratch.hook("pre-receive", f"echo '{said}' >&2; exit 1")
    before = scratch.tip
    answer = clone.push(commit(clone, before), "main", before)
    assert isinstance(answer, Protected)
    assert said in answer.message
    assert scratch.tip == before


def test_force_push_that_the_server_denies(clone: GitRepository, scratch: Scratch) -> None:
    git(scratch.bare, "config", "receive.denyNonFastForwards", "true")
    first, second = commit(clone, scratch.tip, "1"), commit(clone, scratch.tip, "2")
    clone.push(first, "repack/p", None)
    answer = clone.push(second, "repack/p", first)
    assert isinstance(answer, Protected)
    assert "non-fast-forward" in answer.message


def test_a_race_lost_at_the_server(clone: GitRepository, scratch: Scratch) -> None:
    # The branch moves after our git has compared it and before the server locks it.
    theirs = scratch.human_commits("y", "y", branch="other")
    before = scratch.tip
    scratch.hook("pre-receive", f'env -i PATH="$PATH" git update-ref refs/heads/main {theirs}')
    answer = clone.push(commit(clone, before), "main", before)
    assert isinstance(answer, NonFastForward)
    assert "cannot lock ref" in answer.message or "failed to update ref" in answer.message
    assert scratch.tip == theirs


def test_a_branch_name_that_blocks_ours(clone: GitRepository, scratch: Scratch) -> None:
    scratch.human_commits("y", "y", branch="repack")
    with pytest.raises(GitFailed, match="delete or rename the other branch"):
        clone.push(commit(clone, scratch.tip), "repack/p", None)


def test_deleting_a_branch(clone: GitRepository, scratch: Scratch) -> None:
    made = commit(clone, scratch.tip)
    clone.push(made, "repack/p", None)
    assert isinstance(clone.delete_branch("repack/p", scratch.tip), NonFastForward)
    assert clone.delete_branch("repack/p", made) == Deleted(existed=True)
    assert clone.delete_branch("repack/p", made) == Deleted(existed=False)
    clone.push(made, "repack/p", None)
    assert clone.delete_branch("repack/p", ANY) == Deleted(existed=True)
    assert clone.remote_branches("repack/") == {}


def test_branches_are_found_by_the_start_of_their_name(clone: GitRepository, scratch: Scratch) -> None:
    for name in ("repack/a", "repack/b", "repacking", "x/repack/c"):
        clone.push(scratch.tip, name, None)
    assert list(clone.remote_branches("repack/")) == ["repack/a", "repack/b"]
    assert list(clone.remote_branches("repack")) == ["repack/a", "repack/b", "repacking"]
    assert list(clone.remote_branches()) == ["main", "repack/a", "repack/b", "repacking", "x/repack/c"]


@pytest.mark.parametrize("expected", ["main", "-x", "abc"])
def test_an_expectation_is_a_whole_id(clone: GitRepository, scratch: Scratch, expected: Expected) -> None:
    with pytest.raises(InvalidInput):
        clone.push(scratch.tip, "x", expected)


# What follows needs a remote that fails: a stand-in for git that fails the network commands and passes on the rest.


def failing(place: Path, verb: str, reaction: str) -> str:
    return fake_git(place, f'case " $* " in *" {verb} "*) {reaction} ;; esac\nexec "$REAL" "$@"')


def test_passing_failures_are_retried_with_jitter_and_a_bound(scratch: Scratch, tmp_path: Path) -> None:
    sleeps: Sleeps = []
    program = failing(tmp_path, "push", f"echo x >> {tmp_path}/tries; echo 'fatal: Could not resolve host: h' >&2; exit 128")
    settings = replace(NO_WAIT, executable=program, sleep=recording(sleeps), attempts=3)
    with (
        GitRepository.clone(scratch.url, branch="main", settings=settings) as clone,
        pytest.raises(TryAgain, match=r"tried 3 times: Could not resolve host"),
    ):
        clone.push(commit(clone, scratch.tip), "main", scratch.tip)
    assert (tmp_path / "tries").read_text().count("x") == 3
    assert sleeps == [0.5, 0.75]


def test_a_push_that_arrived_although_the_answer_was_lost(scratch: Scratch, tmp_path: Path) -> None:
    once = f'[ -e {tmp_path}/done ] || {{ touch {tmp_path}/done; "$REAL" "$@"; echo "fatal: early EOF" >&2; exit 128; }}'
    settings = replace(NO_WAIT, executable=failing(tmp_path, "push", once), sleep=recording([]))
    with GitRepository.clone(scratch.url, branch="main", settings=settings) as clone:
        before = scratch.tip
        made = commit(clone, before)
        assert clone.push(made, "main", before) == Pushed(made)
    assert scratch.tip == made


def test_refusals_are_not_retried(scratch: Scratch, tmp_path: Path) -> None:
    program = failing(tmp_path, "push", "echo \"fatal: Authentication failed for 'https://h/'\" >&2; exit 128")
    with GitRepository.clone(scratch.url, branch="main", settings=replace(NO_WAIT, executable=program)) as clone:
        assert clone.push(commit(clone, scratch.tip), "main", ANY) == Denied("Authentication failed for 'https://h/'")


def test_a_server_that_hangs(scratch: Scratch, tmp_path: Path) -> None:
    program = failing(tmp_path, "push", "exec sleep 600")
    settings = replace(NO_WAIT, executable=program, network_timeout=5)
    with GitRepository.clone(scratch.url, branch="main", settings=settings) as clone:
        impatient = replace(clone._reach().settings, network_timeout=0.2)
        object.__setattr__(clone._reach(), "settings", impatient)
        with pytest.raises(TryAgain, match=r"did not finish within 0\.2 s"):
            clone.push(commit(clone, scratch.tip), "main", ANY)


def test_a_branch_called_like_an_error_confuses_nobody(clone: GitRepository, scratch: Scratch) -> None:
    scratch.hook("update", 'case "$1" in *timeout*) exit 1;; esac')
    answer = clone.push(commit(clone, scratch.tip), "fix-connection-refused-timeout-stale info".replace(" ", "-"), None)
    assert isinstance(answer, Protected)


def test_fetching_from_nowhere(scratch: Scratch, tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="Check that the URL is right"):
        GitRepository.clone((tmp_path / "nothing.git").as_uri(), branch="main", settings=NO_WAIT)
    with pytest.raises(GitFailed, match="has no branch 'absent'"):
        GitRepository.clone(scratch.url, branch="absent", settings=NO_WAIT)


def test_backoff_grows_to_a_bound_and_jitter_halves_it_at_most() -> None:
    assert [backoff(attempt, 1.0) for attempt in (1, 2, 3)] == [1.0, 1.5, 2.25]
    assert backoff(50, 1.0) == 30.0
    assert backoff(50, 0.0) == 15.0
