"""Limits over a whole plan: the counters themselves, and PodDisruptionBudgets as a hard constraint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from repack_gitops.model.budget_forecast import BudgetVerdict
from repack_gitops.model.cluster import ClusterSnapshot, Owner, Pod
from repack_gitops.model.plan import Code, Verdict
from repack_gitops.planner import PlannerOptions, evaluate
from repack_gitops.planner.drain import drain
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.quotas import Quota, Quotas
from repack_gitops.planner.verify import verify
from tests.unit.planner.brute_force import most_freed
from tests.unit.planner.budgets import EvictionApi, pdb, with_budgets
from tests.unit.planner.build import cluster, node, plan, pod, spec
from tests.unit.planner.random_clusters import random_case, tiny_case
from tests.unit.planner.reference_drain import Reference

ENFORCED = PlannerOptions(enforce_budgets=True)
TWO = Quota("two", 2, Code.DISRUPTION_BUDGET_EXCEEDED)
NONE = Quota("none", 0, Code.BUDGET_EXCEEDED)


# ---- the counters ----
def by_label(subject: Pod) -> Iterable[Quota]:
    return [{"two": TWO, "none": NONE}[name] for name in subject.labels.values()]


def drawing(*names: str) -> Pod:
    return pod("p", "n", 1, labels={str(i): name for i, name in enumerate(names)})


def test_a_node_is_exceeding_as_soon_as_it_no_longer_fits() -> None:
    one, two, three = [drawing("two")], [drawing("two"), drawing("two")], [drawing("two")] * 3
    quotas = Quotas((by_label,), [one, two, three, [], [drawing("none")]])
    assert quotas.exceeded.tolist() == [False, False, True, False, True]
    quotas.commit(0)
    assert quotas.exceeded.tolist() == [False, True, True, False, True]
    assert quotas.why_not(1).detail == "two: 2 left, 1 taken by nodes before it, 2 needed here"
    assert quotas.why_not(1).code is Code.DISRUPTION_BUDGET_EXCEEDED


def test_a_pod_may_draw_more_than_one_and_the_first_quota_by_name_is_named() -> None:
    quotas = Quotas((by_label,), [[drawing("two", "two", "two", "none")]])
    assert quotas.exceeded.tolist() == [True]
    assert quotas.why_not(0).code is Code.BUDGET_EXCEEDED


def test_without_rules_nothing_is_counted() -> None:
    quotas = Quotas((), [[drawing("none")]])
    quotas.commit(0)
    assert quotas.exceeded.tolist() == [False]


# ---- PodDisruptionBudgets as a hard constraint ----
def fleet(allowed: int, **changes: object) -> ClusterSnapshot:
    """Return nodes a, b and c with one web pod each (1, 2 and 3 cards), and a large node where all would fit."""
    web = {"labels": {"app": "web"}, "owner": Owner("apps/v1", "ReplicaSet", "web")}
    pods = [pod(f"w-{n}", n, c, **web) for c, n in enumerate("abc", start=1)]  # type: ignore[arg-type]
    stays = pod("stays", "r", 1, owner=None)
    budget = pdb("web", allowed, "web", **changes)
    return cluster([*(node(n) for n in "abc"), node("r", 64)], [*pods, stays], budgets=(budget,))


@pytest.mark.parametrize(("allowed", "freed"), [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_p19_an_enforced_budget_caps_the_whole_plan(allowed: int, freed: int) -> None:
    evaluation = plan(fleet(allowed), options=ENFORCED)
    assert len(evaluation.steps) == freed
    assert all(b.verdict is BudgetVerdict.ENOUGH for b in evaluation.disruption_budgets)
    held = [r for r in evaluation.stays.values() if r.code is Code.DISRUPTION_BUDGET_EXCEEDED]
    assert len(held) == 3 - freed
    assert all("PodDisruptionBudget team/web" in r.detail for r in held)


def test_without_enforcement_the_plan_goes_beyond_and_says_so() -> None:
    evaluation = plan(fleet(1))
    assert len(evaluation.steps) == 3
    assert evaluation.disruption_budgets[0].verdict is BudgetVerdict.WAITS


def test_a_stale_budget_allows_nothing_when_enforced() -> None:
    assert plan(fleet(9, observed=False), options=ENFORCED).verdict is Verdict.INSUFFICIENT


def test_pods_that_go_free_of_charge_are_not_capped() -> None:
    base = fleet(0)
    unready = replace(base, pods=tuple(replace(p, ready=False) for p in base.pods))
    assert len(plan(unready, options=ENFORCED).steps) == 3


def test_max_per_run_is_named_first_where_both_are_exceeded() -> None:
    evaluation = plan(fleet(1), spec(pod_groups=1), ENFORCED)
    assert {evaluation.stays[n].code for n in "bc"} == {Code.BUDGET_EXCEEDED}


def test_the_judge_counts_for_itself() -> None:
    snapshot = fleet(1)
    evaluation = evaluate(snapshot, spec())
    assert verify(snapshot, spec(), evaluation) == ()
    assert verify(snapshot, spec(), evaluation, ENFORCED) == ("PodDisruptionBudget team/web: the plan needs 3, 1 left",)


# ---- random clusters ----
@pytest.mark.parametrize("chunk", range(4))
def test_same_plan_move_for_move_as_the_reference(chunk: int) -> None:
    for seed in range(chunk * 200, (chunk + 1) * 200):
        case = with_budgets(random_case(seed))
        for options in (PlannerOptions(), ENFORCED):
            steps = drain(Problem(case.snapshot, case.spec, options)).steps
            quick = [(m.pod, m.from_node, m.to_node) for s in steps for m in s.moves]
            assert quick == Reference(case.snapshot, case.spec, options).run(), f"seed {seed}"


@pytest.mark.parametrize("chunk", range(4))
def test_an_enforced_plan_can_be_executed_now_without_waiting(chunk: int) -> None:
    for seed in range(chunk * 200, (chunk + 1) * 200):
        case = with_budgets(random_case(seed))
        evaluation = evaluate(case.snapshot, case.spec, ENFORCED)
        assert verify(case.snapshot, case.spec, evaluation, ENFORCED) == (), f"seed {seed}"
        api, pods = EvictionApi(case.snapshot), {p.key: p for p in case.snapshot.pods}
        assert {api.evict(pods[m.namespace, m.pod]) for m in evaluation.moves} <= {201}, f"seed {seed}"


@pytest.mark.parametrize("chunk", range(4))
def test_enforced_plans_free_no_more_than_is_possible_and_something_if_anything_is(chunk: int) -> None:
    for seed in range(100_000 + chunk * 100, 100_000 + (chunk + 1) * 100):
        case = with_budgets(tiny_case(seed))
        greedy = len(drain(Problem(case.snapshot, case.spec, ENFORCED)).steps)
        best = most_freed(case.snapshot, case.spec, ENFORCED)
        assert greedy <= best, f"seed {seed}"
        assert (greedy > 0) == (best > 0), f"seed {seed}"


def test_random_budgets_do_bind() -> None:
    """Otherwise the comparisons above would say nothing."""
    codes = [
        reason.code
        for seed in range(300)
        for case in [with_budgets(random_case(seed))]
        for reason in evaluate(case.snapshot, case.spec, ENFORCED).stays.values()
    ]
    budgets = (Code.DISRUPTION_BUDGET_EXCEEDED, Code.DISRUPTION_BUDGET_FORBIDS, Code.SEVERAL_DISRUPTION_BUDGETS)
    assert all(codes.count(code) >= 10 for code in budgets), {code: codes.count(code) for code in budgets}
