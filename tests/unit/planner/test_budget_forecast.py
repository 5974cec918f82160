"""The forecast of a plan's evictions, against hand-worked cases and against an Eviction API that takes no short cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repack_gitops.model.budget_forecast import BudgetForecast, BudgetVerdict, Forecast, PodVerdict
from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod, PodDisruptionBudget
from repack_gitops.model.plan import Step
from repack_gitops.planner import evaluate
from repack_gitops.planner.disruption_budgets.forecast import forecast
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets
from repack_gitops.planner.verify import verify
from tests.unit.planner.budgets import EvictionApi, pdb, steps_of, with_budgets
from tests.unit.planner.build import cluster, node, plan, pod, spec
from tests.unit.planner.random_clusters import random_case

GO, WAIT = PodVerdict.EVICTABLE, PodVerdict.WAITS_FOR_BUDGET
WEB = [pod(f"w{i}", f"n{i // 2}", 1, labels={"app": "web"}, owner=Owner("apps/v1", "ReplicaSet", "web")) for i in range(6)]


def world(*budgets: PodDisruptionBudget, pods: list[Pod] = WEB) -> ClusterSnapshot:
    return cluster([node(f"n{i}") for i in range(3)], pods, budgets=tuple(sorted(budgets, key=lambda b: b.key)))


def foretold(snapshot: ClusterSnapshot, steps: tuple[Step, ...] | None = None) -> Forecast:
    """Return the forecast for emptying n0, n1 and n2, two web pods each, unless other steps are given."""
    pods = snapshot.pods
    given_steps = steps_of(*((f"n{i}", [p for p in pods if p.node == f"n{i}"]) for i in range(3)))
    return forecast(snapshot, DisruptionBudgets(snapshot), given_steps if steps is None else steps)


def only(snapshot: ClusterSnapshot) -> BudgetForecast:
    (found,) = foretold(snapshot).budgets
    return found


def test_p19_the_sum_over_the_plan_counts_and_it_is_said_where_it_runs_dry() -> None:
    found = foretold(world(pdb("web", 3, "web")))
    assert [p.verdict for p in found.pods] == [GO, GO, GO, WAIT, WAIT, WAIT]
    (budget,) = found.budgets
    assert (budget.moved, budget.needed, budget.allowed, budget.verdict) == (6, 6, 3, BudgetVerdict.WAITS)
    assert budget.runs_dry_at == "n1"
    assert "runs dry at step 2 (node n1)" in budget.message


def test_p19_one_allowed_and_three_moved() -> None:
    found = foretold(world(pdb("web", 1, "web"), pods=WEB[:3]))
    assert [p.verdict for p in found.pods] == [GO, WAIT, WAIT]
    assert found.budgets[0].runs_dry_at == "n0"


def test_enough() -> None:
    found = only(world(pdb("web", 6, "web")))
    assert (found.verdict, found.needed, found.allowed, found.runs_dry_at) == (BudgetVerdict.ENOUGH, 6, 6, "")


def test_none_left_now_waits_and_says_what_is_missing() -> None:
    found = only(world(pdb("web", 0, "web", current_healthy=4)))
    assert found.verdict is BudgetVerdict.WAITS
    assert "only 4 of the 5 pods that it demands are healthy now" in found.message


def test_p17_a_failed_sync_that_may_pass_waits() -> None:
    found = only(world(pdb("web", 0, "web", sync_failure="found no controllers for pod w0")))
    assert found.verdict is BudgetVerdict.WAITS
    assert "its controller fails now: found no controllers for pod w0" in found.message


def test_a_negative_number_allows_nothing_and_is_no_missing_permission() -> None:
    found = only(world(pdb("web", -1, "web")))
    assert (found.verdict, found.allowed) == (BudgetVerdict.WAITS, 0)
    assert "403" in found.message


def test_a_stale_status_allows_nothing_yet() -> None:
    found = only(world(pdb("web", 6, "web", observed=False)))
    assert (found.verdict, found.allowed, found.needed) == (BudgetVerdict.STALE, 0, 6)


def test_a_budget_whose_first_sync_failed_is_not_called_stale() -> None:
    # Its observedGeneration stays 0 for ever: waiting for the controller to catch up would be in vain.
    failed = pdb("web", 0, "web", observed=False, sync_failure="timeout", min_available=None, max_unavailable=1)
    assert only(world(failed)).verdict is BudgetVerdict.WAITS


def test_p08_pods_that_are_not_ready_are_exempt() -> None:
    pods = [replace(p, ready=False) for p in WEB]
    found = foretold(world(pdb("web", 0, "web"), pods=pods))
    assert {p.verdict for p in found.pods} == {GO}
    assert (found.budgets[0].verdict, found.budgets[0].moved, found.budgets[0].needed) == (BudgetVerdict.EXEMPT, 6, 0)


def test_p08_only_ready_pods_draw() -> None:
    pods = [replace(p, ready=i % 2 == 0) for i, p in enumerate(WEB)]
    found = foretold(world(pdb("web", 2, "web"), pods=pods))
    assert [p.verdict for p in found.pods] == [GO, GO, GO, GO, WAIT, GO]


def test_p07_pending_pods_are_exempt_and_do_not_draw() -> None:
    pods = [replace(p, phase="Pending", ready=False) if i < 3 else p for i, p in enumerate(WEB)]
    unhealthy = pdb("web", 3, "web", current_healthy=0)
    assert [p.verdict for p in foretold(world(unhealthy, pods=pods)).pods] == [GO] * 6


def test_p01_several_budgets_block_and_draw_from_none() -> None:
    found = foretold(world(pdb("web", 1, "web"), pdb("every", 9)))
    assert {p.verdict for p in found.pods} == {PodVerdict.BLOCKED_BY_SEVERAL}
    assert [(b.name, b.verdict, b.needed) for b in found.budgets] == [
        ("every", BudgetVerdict.NEVER, 0),
        ("web", BudgetVerdict.NEVER, 0),
    ]
    assert found.pods[0].budgets == (("team", "every"), ("team", "web"))
    assert "pod team/w0 is selected by other budgets too" in found.budgets[0].message


def test_a_budget_that_never_allows_anything_blocks_for_good() -> None:
    found = foretold(world(pdb("web", 0, "web", min_available=None, max_unavailable=0)))
    assert {p.verdict for p in found.pods} == {PodVerdict.BLOCKED_FOR_GOOD}
    assert found.budgets[0].verdict is BudgetVerdict.NEVER
    assert "maxUnavailable is 0" in found.budgets[0].message


def test_a_node_that_needs_more_at_once_than_full_health_allows_is_named() -> None:
    # 6 pods of which 5 must be healthy: one may go at a time, and every node holds two.
    found = only(world(pdb("web", 1, "web", expected_pods=6)))
    assert "node n0 needs 2 at once and it never allows more than 1" in found.message
    assert "at once" not in only(world(pdb("web", 1, "web", expected_pods=7))).message


def test_without_budgets_everything_goes() -> None:
    found = foretold(world())
    assert (found.budgets, {p.verdict for p in found.pods}) == ((), set())


def test_a_pod_that_is_gone_or_another_by_now_is_left_out() -> None:
    snapshot = world(pdb("web", 9, "web"))
    other = replace(WEB[1], uid="another")
    found = foretold(snapshot, steps_of(("n0", [WEB[0], other, pod("gone", "n0", 1)])))
    assert [p.key for p in found.pods] == [("team", "w0")]


def test_a_plan_carries_the_forecast_and_the_judge_checks_it() -> None:
    guest = pod("guest", "n2", 1, owner=None)
    snapshot = world(pdb("web", 3, "web"), pdb("idle", 0, "other"), pods=[*WEB[:4], guest])
    evaluation = plan(snapshot)
    assert [(b.name, b.needed, b.allowed, b.verdict) for b in evaluation.disruption_budgets] == [
        ("web", 4, 3, BudgetVerdict.WAITS)
    ]
    assert evaluation.warnings == ()
    lie = replace(evaluation, disruption_budgets=())
    assert "what the plan says of PodDisruptionBudgets does not follow from the moves" in verify(snapshot, spec(), lie)


# ---- against an Eviction API without short cuts ----
ANSWERS = {GO: {201}, WAIT: {429, 403}, PodVerdict.BLOCKED_FOR_GOOD: {429, 403}, PodVerdict.BLOCKED_BY_SEVERAL: {500}}


def any_plan(seed: int) -> tuple[ClusterSnapshot, list[tuple[str, list[Pod]]]]:
    """Return a random cluster with budgets, and all of its nodes with their pods in random order: the worst of plans."""
    snapshot = with_budgets(random_case(seed), most=4).snapshot
    nodes = [(n.name, list(snapshot.pods_by_node[n.name])) for n in snapshot.nodes]
    Random(seed).shuffle(nodes)
    return snapshot, nodes


@given(st.integers(0, 10**9))
@settings(max_examples=300, deadline=None)
def test_pod_by_pod_the_forecast_is_what_the_api_answers(seed: int) -> None:
    snapshot, nodes = any_plan(seed)
    found, api, pods = foretold(snapshot, steps_of(*nodes)), EvictionApi(snapshot), {p.key: p for p in snapshot.pods}
    for victim in found.pods:
        assert api.evict(pods[victim.key]) in ANSWERS[victim.verdict], victim


@given(st.integers(0, 10**9))
@settings(max_examples=300, deadline=None)
def test_no_budget_grants_more_than_it_allows_in_any_prefix(seed: int) -> None:
    snapshot, nodes = any_plan(seed)
    pods, granted = {p.key: p for p in snapshot.pods}, Counter[Key]()
    for victim in foretold(snapshot, steps_of(*nodes)).pods:
        pod = pods[victim.key]
        if victim.verdict is GO and pod.ready and pod.phase == "Running" and not pod.terminating:
            granted.update(victim.budgets)
        assert all(granted[b.key] <= max(b.disruptions_allowed, 0) for b in snapshot.budgets)


@given(st.integers(0, 10**9), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_totals_do_not_depend_on_the_order(seed: int, random: Any) -> None:
    snapshot, nodes = any_plan(seed)
    shuffled = [(name, random.sample(pods, len(pods))) for name, pods in random.sample(nodes, len(nodes))]
    one, other = (foretold(snapshot, steps_of(*order)).budgets for order in (nodes, shuffled))
    assert [_totals(b) for b in one] == [_totals(b) for b in other]


def _totals(budget: BudgetForecast) -> tuple[object, ...]:
    return (budget.namespace, budget.name, budget.moved, budget.needed, budget.allowed, budget.verdict)


@pytest.mark.parametrize("chunk", range(4))
def test_no_plan_moves_a_pod_that_can_never_be_evicted(chunk: int) -> None:
    for seed in range(chunk * 150, (chunk + 1) * 150):
        case = with_budgets(random_case(seed))
        evaluation = evaluate(case.snapshot, case.spec)
        assert verify(case.snapshot, case.spec, evaluation) == (), f"seed {seed}"
        found = foretold(case.snapshot, evaluation.steps)
        assert {p.verdict for p in found.pods} <= {GO, WAIT}, f"seed {seed}"
        assert all(b.verdict is not BudgetVerdict.NEVER for b in evaluation.disruption_budgets), f"seed {seed}"
