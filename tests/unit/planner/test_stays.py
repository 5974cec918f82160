"""Every occupied node that is not freed says why; the value that decided is the value that is shown."""

from __future__ import annotations

import pytest

from repack_gitops.model.plan import Code, Verdict
from tests.unit.planner.build import cluster, layout, node, plan, pod, spec
from tests.unit.planner.random_clusters import random_case


def test_receiver_blocked_stuck_and_over_budget() -> None:
    nodes = [node(n) for n in ("blocked", "free", "rich", "stuck")]
    pods = [pod("p", "free", 2), pod("q", "blocked", 4, owner=None), pod("r", "stuck", 7), pod("s", "rich", 3)]
    evaluation = plan(cluster(nodes, pods), spec(cards=2))
    assert {n: r.code for n, r in evaluation.stays.items()} == {
        "blocked": Code.NO_CONTROLLER,  # it also receives, but that it could not be emptied anyway says more
        "rich": Code.BUDGET_EXCEEDED,
        "stuck": Code.NO_RECEIVER,
    }


def test_a_receiver_says_so() -> None:
    assert plan(layout((1, 5))).stays["n1"].code is Code.RECEIVES


def test_pods_that_fit_alone_but_not_together() -> None:
    # a's two pods of 2 cards each fit on b (3 idle), one at a time; c has 1 idle. 16 cards would do with two nodes.
    pods = [pod("p", "a", 2), pod("q", "a", 2), pod("b0", "b", 5, owner=None), pod("c0", "c", 7, owner=None)]
    stays = plan(cluster([node(n) for n in "abc"], pods)).stays
    assert stays["a"].code is Code.NO_RECEIVER
    assert stays["a"].detail == "each of its pods fits somewhere, but not all together"


class TestBelowThreshold:
    """A plan that gains too little is not shown, but the nodes it would free or fill say what they could do."""

    def test_nodes_of_the_plan_that_was_not_good_enough(self) -> None:
        evaluation = plan(layout((1, 5, 0, 0)), spec(50))
        assert evaluation.verdict is Verdict.INSUFFICIENT
        assert {n: r.code for n, r in evaluation.stays.items()} == {"n0": Code.BELOW_THRESHOLD, "n1": Code.BELOW_THRESHOLD}

    def test_a_receiver_that_may_not_be_emptied_keeps_its_own_reason(self) -> None:
        pods = [pod("p", "a", 1), pod("q", "b", 4, owner=None)]
        evaluation = plan(cluster([node("a"), node("b"), node("c"), node("d")], pods), spec(50))
        assert evaluation.stays["a"].code is Code.BELOW_THRESHOLD
        assert evaluation.stays["b"].code is Code.NO_CONTROLLER


def test_pods_on_nodes_that_no_longer_provide_the_resource_are_warned_about() -> None:
    """A device plugin that restarts reports nothing for a while; its pods still run (row 94 of the known faults)."""
    lost = node("lost", allocatable={"cpu": 64_000, "pods": 110_000})
    evaluation = plan(cluster([node("a"), node("b"), lost], [pod("p", "a", 1), pod("q", "b", 4), pod("r", "lost", 8)]))
    assert evaluation.freed_nodes == ("a",)
    assert "lost" not in evaluation.stays
    assert any("no longer provide it: lost" in w for w in evaluation.warnings)


def test_a_compact_layout_needs_no_reasons() -> None:
    evaluation = plan(layout((8, 8)))
    assert evaluation.verdict is Verdict.NO_FRAGMENTATION
    assert evaluation.stays == {}


@pytest.mark.parametrize("seed", range(150))
def test_every_occupied_node_is_freed_or_has_a_reason(seed: int) -> None:
    case = random_case(seed)
    evaluation = plan(case.snapshot, case.spec)
    resource = evaluation.resource
    occupied = {n.name for n in case.snapshot.nodes if n.allocatable.get(resource) and case.snapshot.used(n.name, resource)}
    if evaluation.verdict is Verdict.NO_FRAGMENTATION:
        assert evaluation.stays == {}
    else:
        assert set(evaluation.stays) == occupied - set(evaluation.freed_nodes)
        assert list(evaluation.stays) == sorted(evaluation.stays)
        assert all(r.detail for r in evaluation.stays.values())
