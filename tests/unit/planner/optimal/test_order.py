"""The order of execution: whole nodes, cheapest first, every prefix feasible; and what pods say about each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.shapes import SHAPES, shaped
from repack_gitops.model.affinity import AffinityTerm
from repack_gitops.model.cluster import Key, Relations
from repack_gitops.model.labels import LabelSelector
from repack_gitops.model.plan import Step
from tests.unit.planner.build import cluster, node, plan, pod
from tests.unit.planner.optimal.cases import OPTIMAL, fragmented
from tests.unit.planner.replay import replay_fits


@pytest.mark.parametrize("chunk", range(4))
def test_every_prefix_is_feasible(chunk: int) -> None:
    for seed in range(chunk * 80, (chunk + 1) * 80):
        question = fragmented(5_000 + seed, related=0.15)
        evaluation = question.answer()
        receivers = {m.to_node for m in evaluation.moves}
        assert not receivers & set(evaluation.freed_nodes), question.label
        for length in range(1, len(evaluation.steps) + 1):
            prefix = replace(evaluation, steps=evaluation.steps[:length])
            assert replay_fits(question.snapshot, prefix), question.label


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_the_cheapest_of_those_left(shape: str, seed: int) -> None:
    """New PodGroups, then cards: an aborted run has disturbed the fewest for what it freed."""
    evaluation = plan(shaped(shape, 60, seed), options=OPTIMAL)
    assert evaluation.optimality is not None
    assert evaluation.optimality.strategy == "Optimal"
    assert len(evaluation.steps) >= 5
    touched: set[Key] = set()
    for number, step in enumerate(evaluation.steps):
        costs = [new_groups_and_cards(other, touched) for other in evaluation.steps[number:]]
        assert costs[0] == min(costs)
        touched |= {m.group_key for m in step.moves}


def new_groups_and_cards(step: Step, touched: set[Key]) -> tuple[int, int]:
    return len({m.group_key for m in step.moves} - touched), sum(m.cards for m in step.moves)


def test_the_cheapest_node_comes_first_and_a_gangs_nodes_follow_each_other() -> None:
    """c moves one card of its own PodGroup; a and d belong to one gang, and b is as dear as a."""
    gang = [pod("a", "a", 2, "gang"), pod("d", "d", 2, "gang")]
    others = [pod("b", "b", 2), pod("c", "c", 1), pod("r", "r", 1, owner=None)]
    snapshot = cluster([node(n) for n in "abcdr"], [*gang, *others])
    assert plan(snapshot, options=OPTIMAL).freed_nodes == ("c", "a", "d", "b")


def test_a_node_waits_until_others_have_moved() -> None:
    """a's pod keeps away from the zone of b's pod, which is r's: it may only come once that has gone to s's zone."""
    away = Relations(anti_affinity=(AffinityTerm("zone", LabelSelector.of({"app": "x"}), frozenset({"team"})),))
    zones = {"a": "w", "b": "v", "r": "v", "s": "u"}
    nodes = [node(n, labels={"kubernetes.io/hostname": n, "zone": z}) for n, z in zones.items()]
    pods = [
        pod("a", "a", 1, relations=away),
        pod("b", "b", 2, labels={"app": "x"}),
        pod("r", "r", 7, owner=None),
        pod("s", "s", 6, owner=None),
    ]
    evaluation = plan(cluster(nodes, pods), options=OPTIMAL)
    assert evaluation.freed_nodes == ("b", "a")
    assert evaluation.optimality is not None
    assert evaluation.optimality.proven


def test_pods_that_keep_apart_find_nodes_of_their_own() -> None:
    """Best fit would put both on r; each must have a node for itself."""
    apart = Relations(
        anti_affinity=(AffinityTerm("kubernetes.io/hostname", LabelSelector.of({"app": "x"}), frozenset({"team"})),)
    )
    moving = [pod(n, n, 1, relations=apart, labels={"app": "x"}) for n in "ab"]
    pods = [*moving, pod("r", "r", 6, owner=None), pod("s", "s", 5, owner=None)]
    evaluation = plan(cluster([node(n) for n in "abrs"], pods), options=OPTIMAL)
    assert len(evaluation.steps) == 2
    assert {m.to_node for m in evaluation.moves} == {"r", "s"}
    assert evaluation.optimality is not None
    assert evaluation.optimality.proven


def test_where_they_cannot_the_bound_says_that_more_was_not_ruled_out() -> None:
    """Only r could take them, and they keep apart: one node is freed, and the model does not know why not two."""
    apart = Relations(
        anti_affinity=(AffinityTerm("kubernetes.io/hostname", LabelSelector.of({"app": "x"}), frozenset({"team"})),)
    )
    moving = [pod(n, n, 1, relations=apart, labels={"app": "x"}) for n in "ab"]
    evaluation = plan(cluster([node(n) for n in "abr"], [*moving, pod("r", "r", 5, owner=None)]), options=OPTIMAL)
    optimality = evaluation.optimality
    assert optimality is not None
    assert (len(evaluation.steps), optimality.upper_bound, optimality.gap, optimality.proven) == (1, 2, 1, False)
    assert [f.strategy for f in optimality.found] == ["Optimal", "Drain"]
