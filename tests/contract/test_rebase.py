"""Result commits reach a busy branch: they are rebuilt on whatever came in between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.git.interface import Protected, Pushed
from repack_gitops.git.repository import GitRepository
from repack_gitops.workflow.rebase import backoff, push_with_rebase
from tests.unit.git.scratch import AUTHOR, NO_WAIT, WHEN, Scratch, Sleeps, recording, refusing


def record(repository: GitRepository, run: str, before: Callable[[], object] = lambda: None) -> Callable[[str], str]:
    def make(parent: str) -> str:
        made = repository.commit(parent, {f"runs/{run}/result.yaml": run.encode()}, f"Record {run}", AUTHOR, WHEN)
        before()
        return made

    return make


def test_a_quiet_branch_takes_it_at_once(clone: GitRepository, scratch: Scratch) -> None:
    answer = push_with_rebase(clone, record(clone, "r-1"), "main", sleep=refusing)
    assert answer == Pushed(scratch.tip)


def test_two_writers_both_get_through(clone: GitRepository, scratch: Scratch) -> None:
    sleeps: Sleeps = []
    interruptions = [1, 2]

    def interrupt() -> None:
        if interruptions:
            scratch.human_commits(f"runs/other-{interruptions.pop()}/result.yaml", "theirs")

    answer = push_with_rebase(clone, record(clone, "r-1", interrupt), "main", sleep=recording(sleeps), jitter=lambda: 0.0)
    assert answer == Pushed(scratch.tip)
    assert sleeps == [0.5, 0.75]
    assert clone.list_files(scratch.tip, "runs") == (
        "runs/other-1/result.yaml",
        "runs/other-2/result.yaml",
        "runs/r-1/result.yaml",
    )


def test_two_clones_in_turn(clone: GitRepository, scratch: Scratch) -> None:
    with GitRepository.clone(scratch.url, branch="main", settings=NO_WAIT) as other:
        first = push_with_rebase(other, record(other, "r-1"), "main", sleep=refusing)
        second = push_with_rebase(clone, record(clone, "r-2"), "main", sleep=refusing)
    assert isinstance(first, Pushed)
    assert second == Pushed(scratch.tip)


def test_content_that_is_there_already_counts_as_pushed(clone: GitRepository, scratch: Scratch) -> None:
    first = push_with_rebase(clone, record(clone, "r-1"), "main", sleep=refusing)
    later = scratch.tip
    assert push_with_rebase(clone, record(clone, "r-1"), "main", sleep=refusing) == first == Pushed(later)
    assert scratch.tip == later


def test_a_race_that_is_never_won_is_tried_again_later(clone: GitRepository, scratch: Scratch) -> None:
    sleeps: Sleeps = []
    count = iter(range(100))
    make = record(clone, "r-1", lambda: scratch.human_commits("x", str(next(count))))
    with pytest.raises(TryAgain, match="each of 3 attempts"):
        push_with_rebase(clone, make, "main", attempts=3, sleep=recording(sleeps))
    assert len(sleeps) == 2


def test_a_protected_branch_is_an_answer(clone: GitRepository, scratch: Scratch) -> None:
    scratch.hook("pre-receive", "echo GH013: no >&2; exit 1")
    assert isinstance(push_with_rebase(clone, record(clone, "r-1"), "main", sleep=refusing), Protected)


def test_a_branch_of_results_is_started_once(clone: GitRepository, scratch: Scratch) -> None:
    with pytest.raises(GitFailed, match="no branch 'results'"):
        push_with_rebase(clone, record(clone, "r-1"), "results", sleep=refusing)
    for run in ("r-1", "r-2"):
        answer = push_with_rebase(clone, record(clone, run), "results", start=scratch.tip, sleep=refusing)
        assert answer == Pushed(scratch.tip_of("results"))
    assert clone.list_files(scratch.tip_of("results"), "runs") == ("runs/r-1/result.yaml", "runs/r-2/result.yaml")


def test_backoff_grows_to_a_bound_and_jitter_halves_it_at_most() -> None:
    assert [backoff(attempt, 1.0) for attempt in (1, 2, 3)] == [1.0, 1.5, 2.25]
    assert backoff(50, 1.0) == 30.0
    assert backoff(50, 0.0) == 15.0
