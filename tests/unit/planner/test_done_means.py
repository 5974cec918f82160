"""The issue's table: 8-card nodes with one pod each, every pod its own PodGroup."""

from __future__ import annotations

import pytest

from repack_gitops.model.plan import Verdict
from tests.unit.planner.build import layout, plan


@pytest.mark.parametrize(
    ("cards", "nodes"),
    [
        ((4, 2), 1),
        ((5, 3), 1),
        ((7, 1), 1),
        ((5, 4, 3), 1),
        ((8, 3, 1), 1),
        ((2, 2, 2, 2), 3),
        ((3, 3, 2), 2),
        ((6, 1, 1), 2),
        ((5, 5), 0),
        ((8, 8), 0),
    ],
)
@pytest.mark.parametrize("order", [1, -1], ids=["as listed", "reversed"])
def test_nodes_freed(cards: tuple[int, ...], nodes: int, order: int) -> None:
    evaluation = plan(layout(cards[::order]))
    assert len(evaluation.steps) == nodes
    assert (evaluation.verdict is Verdict.RECOMMENDED) == (nodes > 0)


def test_two_nodes_of_five_are_compact() -> None:
    # 10 cards need two nodes of 8, and two are occupied: nothing to gain, which is not the same as not succeeding.
    assert plan(layout((5, 5))).verdict is Verdict.NO_FRAGMENTATION


def test_three_nodes_of_five_cannot_be_helped() -> None:
    # 15 cards would fit on two nodes by their sum, but no two pods of 5 fit together.
    evaluation = plan(layout((5, 5, 5)))
    assert evaluation.verdict is Verdict.INSUFFICIENT
    assert evaluation.improvement == 0
    assert not evaluation.before.exact
