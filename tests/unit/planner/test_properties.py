"""What holds for every plan, on random clusters: gangs, unequal capacities, constraints, budgets, scopes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.planner import evaluate
from repack_gitops.planner.fragmentation import fragmentation
from repack_gitops.planner.verify import verify
from tests.unit.planner.brute_force import most_freed
from tests.unit.planner.build import DRAIN, GPU, cluster, freed, layout, node, plan, pod, spec
from tests.unit.planner.random_clusters import Case, random_case, tiny_case, unlimited_case
from tests.unit.planner.replay import apply, replay_fits

SEEDS = range(8)
CHUNK = 100


def cases(chunk: int, make: object = random_case) -> list[tuple[Case, Evaluation]]:
    found = []
    for seed in range(100_000 + chunk * CHUNK, 100_000 + (chunk + 1) * CHUNK):
        case: Case = make(seed)  # type: ignore[operator]
        found.append((case, evaluate(case.snapshot, case.spec, DRAIN)))
    return found


def occupied(snapshot: ClusterSnapshot) -> set[str]:
    return {n.name for n in snapshot.nodes if n.allocatable.get(GPU) and snapshot.used(n.name, GPU)}


@pytest.mark.parametrize("chunk", SEEDS)
def test_every_answer_passes_the_judge_and_a_naive_replay(chunk: int) -> None:
    for case, evaluation in cases(chunk):
        assert verify(case.snapshot, case.spec, evaluation) == (), f"seed {case.seed}"
        assert replay_fits(case.snapshot, evaluation), f"seed {case.seed}"


@pytest.mark.parametrize("chunk", SEEDS)
def test_the_plan_does_what_it_says(chunk: int) -> None:
    """Afterwards exactly the freed nodes are empty, nothing else changed hands, and the rate is the one foretold."""
    for case, evaluation in cases(chunk):
        after = apply(case.snapshot, evaluation)
        assert occupied(after) == occupied(case.snapshot) - set(evaluation.freed_nodes), f"seed {case.seed}"
        assert fragmentation(after, GPU).occupied == evaluation.after.occupied
        assert fragmentation(after, GPU).rate == evaluation.after.rate


@pytest.mark.parametrize("chunk", SEEDS)
def test_every_prefix_of_the_plan_is_feasible_and_occupied_never_rises(chunk: int) -> None:
    for case, evaluation in cases(chunk):
        before = len(occupied(case.snapshot))
        for length in range(1, len(evaluation.steps) + 1):
            prefix = _prefix(evaluation, length)
            assert replay_fits(case.snapshot, prefix), f"seed {case.seed}"
            now = len(occupied(apply(case.snapshot, prefix)))
            assert now == before - 1, f"seed {case.seed}"
            before = now


def _prefix(evaluation: Evaluation, length: int) -> Evaluation:
    return replace(evaluation, steps=evaluation.steps[:length])


@pytest.mark.parametrize("chunk", SEEDS)
def test_no_receiver_is_emptied_and_no_emptied_or_empty_node_receives(chunk: int) -> None:
    for case, evaluation in cases(chunk):
        receivers = {m.to_node for m in evaluation.moves}
        assert not receivers & set(evaluation.freed_nodes), f"seed {case.seed}"
        assert receivers <= occupied(case.snapshot), f"seed {case.seed}"


@pytest.mark.parametrize("chunk", range(4))
def test_planning_again_only_ever_empties_receivers(chunk: int) -> None:
    """What is true of "apply and plan again": see ``test_a_second_run_may_find_more``.

    Without a budget the first plan ends when every other candidate is stuck. Their room did not change since, so a
    second plan can only start with a node that could not be emptied before because it was receiving. Every further
    plan is valid and frees something, so repetition ends at a layout where planning again yields nothing new.
    """
    for case, evaluation in cases(chunk, unlimited_case):
        snapshot, receivers, rounds = apply(case.snapshot, evaluation), {m.to_node for m in evaluation.moves}, 0
        again = evaluate(snapshot, case.spec, DRAIN)
        if again.steps:
            assert again.steps[0].node in receivers, f"seed {case.seed}"
        while again.steps:
            assert verify(snapshot, case.spec, again) == (), f"seed {case.seed}"
            snapshot, rounds = apply(snapshot, again), rounds + 1
            again = evaluate(snapshot, case.spec, DRAIN)
            assert rounds < len(case.snapshot.nodes)


def test_a_plan_of_which_nothing_receives_twice_leaves_nothing_to_do() -> None:
    """{2, 2, 2, 2}: one receiver takes all, and it is full."""
    snapshot = layout((2, 2, 2, 2))
    again = plan(apply(snapshot, plan(snapshot)))
    assert again.verdict is Verdict.NO_FRAGMENTATION


def test_a_second_run_may_find_more() -> None:
    """The greedy way is not a fixed point: a receiver is taboo in its own plan, and may be emptied by the next."""
    found = next(
        (case, evaluation)
        for seed in range(100_000, 101_000)
        for case in [unlimited_case(seed)]
        for evaluation in [evaluate(case.snapshot, case.spec, DRAIN)]
        if evaluation.steps and evaluate(apply(case.snapshot, evaluation), case.spec, DRAIN).steps
    )
    case, first = found
    second = evaluate(apply(case.snapshot, first), case.spec, DRAIN)
    assert {s.node for s in second.steps} <= {m.to_node for m in first.moves}


@pytest.mark.parametrize("chunk", range(4))
def test_greedy_never_beats_the_optimum_and_is_never_beaten_to_nothing(chunk: int) -> None:
    """It frees no more than is possible, and frees something exactly if something can be freed."""
    for case, _ in cases(chunk, tiny_case):
        evaluation = evaluate(case.snapshot, case.spec, DRAIN)
        best = most_freed(case.snapshot, case.spec)
        greedy = len(evaluation.steps)
        reached = evaluation.improvement * evaluation.before.providing / 100
        assert greedy <= best, f"seed {case.seed}"
        if evaluation.verdict is Verdict.NO_FRAGMENTATION:
            assert best == 0, f"seed {case.seed}"
        else:
            assert (reached > 0) == (best > 0), f"seed {case.seed}"


@pytest.mark.parametrize("seed", range(60))
def test_nodes_of_one_pod_are_all_or_nothing_as_brute_force_says(seed: int) -> None:
    """One pod per node and nothing else: the verdict is recommended exactly if a plan exists."""
    cards = tuple(Random(seed).choice((1, 2, 3, 4, 5, 6, 7, 8)) for _ in range(Random(seed).randint(2, 5)))
    evaluation = plan(layout(cards))
    assert (evaluation.verdict is Verdict.RECOMMENDED) == (most_freed(layout(cards), spec()) > 0)


def test_greedy_may_free_fewer_than_the_optimum() -> None:
    # One PodGroup may move. Emptying a moves one card of a PodGroup of its own, the cheapest; emptying b or c moves two
    # cards of a gang that stands on both. Greedy takes a, and the budget is spent; the gang would have freed two nodes.
    pods = [pod("a", "a", 1), pod("b", "b", 2, "gang"), pod("c", "c", 2, "gang"), pod("r", "r", 1, owner=None)]
    snapshot = cluster([node("a"), node("b"), node("c"), node("r")], pods)
    assert freed(snapshot, spec(pod_groups=1)) == ("a",)
    assert most_freed(snapshot, spec(pod_groups=1)) == 2


@pytest.mark.parametrize("chunk", range(4))
def test_a_larger_budget_of_pod_groups_or_cards_never_yields_an_invalid_plan(chunk: int) -> None:
    for case, _ in cases(chunk, unlimited_case):
        for limit in (0, 1, 2, 5):
            for run in (spec(cards=limit), spec(pod_groups=limit)):
                evaluation = evaluate(case.snapshot, run, DRAIN)
                assert verify(case.snapshot, run, evaluation) == (), f"seed {case.seed}"
                assert limit or not evaluation.steps
