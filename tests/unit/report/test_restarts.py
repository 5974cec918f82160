"""Words about what restarts."""

from __future__ import annotations

import pytest

from repack_gitops.model.cluster import Owner
from repack_gitops.model.impact import WorkloadRestart
from repack_gitops.report.restarts import restarts_first, restarts_sentence, retries


def workload(name: str, outside: int = 0, left: int | None = None) -> WorkloadRestart:
    return WorkloadRestart("team", Owner("batch/v1", "Job", name), "Job", 1, 1 + outside, outside, left)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([workload("a", 0, 2)], "Only pods that move restart."),
        ([workload("a", 1)], "1 pod restarts though no move names it."),
        ([workload("a", 1), workload("b", 2)], "3 pods restart though no move names them."),
        (
            [workload("a", 0, 0)],
            "Only pods that move restart. 1 workload is left without a retry: its next failure ends it.",
        ),
        (
            [workload("a", 3, 0), workload("b", 0, 0)],
            "3 pods restart though no move names them. 2 workloads are left without a retry: their next failure ends them.",
        ),
    ],
)
def test_sentence(found: list[WorkloadRestart], words: str) -> None:
    assert restarts_sentence(found) == words


def test_those_without_a_retry_come_first_then_the_widest() -> None:
    found = [workload("a"), workload("b", 3), workload("c", 1, 0)]
    assert [r.owner.name for r in restarts_first(found)] == ["c", "b", "a"]


def test_retries_in_words() -> None:
    assert [retries(workload("a", left=left)) for left in (None, 0, 1_000)] == ["not counted", "none", "1,000"]
