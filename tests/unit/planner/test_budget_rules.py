"""Which pods no eviction can ever move because of PodDisruptionBudgets, and who goes free of charge.

Rows are those of the project's list of known faults of other tools, section Eviction API and PDB.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.model.cluster import ClusterSnapshot, Owner, Pod, PodDisruptionBudget
from repack_gitops.model.plan import Code
from repack_gitops.planner.disruption_budgets.rules import allowed_now, counts_against
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets
from tests.unit.planner.budgets import pdb
from tests.unit.planner.build import cluster, node, plan, pod

REPLICA_SET = Owner("apps/v1", "ReplicaSet", "web")
SUBJECT = pod("subject", "a", 1, labels={"app": "web"}, owner=REPLICA_SET)


def world(*budgets: PodDisruptionBudget, subject: Pod = SUBJECT, others: int = 0, **more: Any) -> ClusterSnapshot:
    """Return a cluster in which ``subject``, alone on node a, would move to node b; ``others`` are further web pods there."""
    pods = [subject, pod("guest", "b", 4), *(pod(f"web-{i}", "b", 0, labels={"app": "web"}) for i in range(others))]
    return cluster([node("a"), node("b")], pods, budgets=budgets, **more)


def why(snapshot: ClusterSnapshot) -> Code | None:
    """Return why node a stays; None if it is freed."""
    evaluation = plan(snapshot)
    return None if "a" in evaluation.freed_nodes else evaluation.stays["a"].code


# ---- several budgets ----
def test_p01_two_budgets_on_one_pod_are_immovable_and_both_are_named() -> None:
    snapshot = world(pdb("one", 5, "web"), pdb("two", 5, "web"))
    reason = plan(snapshot).stays["a"]
    assert reason.code is Code.SEVERAL_DISRUPTION_BUDGETS
    assert "team/one, team/two" in reason.detail


def test_p01_one_of_two_budgets_is_no_help_if_it_selects_everything() -> None:
    assert why(world(pdb("every", 5), pdb("web", 5, "web"))) is Code.SEVERAL_DISRUPTION_BUDGETS


def test_p01_a_budget_without_selector_or_of_another_namespace_does_not_count() -> None:
    null, elsewhere = pdb("null", 5, selector=None), pdb("web", 5, "web", namespace="other")
    assert why(world(null, elsewhere, pdb("web", 5, "web"))) is None


def test_p01_many_budgets_are_not_all_named() -> None:
    found = plan(world(*(pdb(f"b{i}", 5, "web") for i in range(9)))).stays["a"].detail
    assert "team/b3 and 5 more" in found


# ---- no budget is asked ----
@pytest.mark.parametrize("changes", [{"phase": "Pending"}, {"phase": "Pending", "ready": False}])
def test_p07_pending_pods_skip_budgets(changes: dict[str, Any]) -> None:
    none_left = pdb("web", 0, "web", min_available=None, max_unavailable=0)
    assert why(world(none_left, pdb("two", 0, "web"), subject=replace(SUBJECT, **changes))) is None


@pytest.mark.parametrize("changes", [{"phase": "Succeeded"}, {"phase": "Failed"}, {"terminating": True}])
def test_p11_terminal_and_terminating_pods_skip_budgets(changes: dict[str, Any]) -> None:
    subject = replace(SUBJECT, **changes)
    budgets = (pdb("web", 0, "web"), pdb("two", 0, "web"))
    assert DisruptionBudgets(world(*budgets, subject=subject)).why_not(subject) is None
    assert not counts_against(subject, budgets[0])


def test_p11_finished_pods_on_a_node_do_not_keep_it() -> None:
    # A Succeeded pod with cards under a budget that forbids everything, on a node whose other pod may move.
    snapshot = world(pdb("done", 0, "done", max_unavailable=0))
    finished = pod("finished", "a", 4, phase="Succeeded", labels={"app": "done"})
    evaluation = plan(replace(snapshot, pods=(finished, *snapshot.pods)))
    assert evaluation.freed_nodes == ("a",)
    assert [m.pod for m in evaluation.moves] == ["subject"]


def test_a_pod_in_phase_unknown_is_asked_for() -> None:
    assert counts_against(replace(SUBJECT, phase="Unknown"), pdb("web", 0, "web"))


# ---- pods that are not Ready ----
@pytest.mark.parametrize(
    ("policy", "current", "desired", "charged"),
    [
        ("IfHealthyBudget", 2, 2, False),
        ("IfHealthyBudget", 1, 2, True),
        ("IfHealthyBudget", 3, 0, True),  # desiredHealthy must be above 0
        ("AlwaysAllow", 0, 2, False),
    ],
)
def test_p08_a_pod_that_is_not_ready_may_go_if_enough_others_are_healthy(
    policy: str, current: int, desired: int, charged: bool
) -> None:
    budget = pdb("web", 0, "web", unhealthy_policy=policy, current_healthy=current, desired_healthy=desired)
    assert counts_against(replace(SUBJECT, ready=False), budget) is charged
    assert counts_against(SUBJECT, budget)


def test_p08_three_replicas_one_crashing_minimum_two() -> None:
    budget = pdb("web", 0, "web", min_available=2, current_healthy=2, desired_healthy=2, expected_pods=3)
    snapshot = world(budget, subject=replace(SUBJECT, ready=False), others=2)
    assert why(snapshot) is None
    assert plan(snapshot).disruption_budgets[0].needed == 0


def test_p08_not_ready_pods_go_even_under_a_budget_that_forbids_everything() -> None:
    budget = pdb("web", 0, "web", min_available=None, max_unavailable=0, unhealthy_policy="AlwaysAllow")
    assert why(world(budget)) is Code.DISRUPTION_BUDGET_FORBIDS
    assert why(world(budget, subject=replace(SUBJECT, ready=False))) is None


# ---- never ----
NOTHING = "does not implement the scale subresource"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"min_available": None, "max_unavailable": 0}, "maxUnavailable is 0"),
        ({"min_available": None, "max_unavailable": "0%"}, "maxUnavailable is 0%"),
        ({"min_available": "100%"}, "minAvailable is 100%"),
        ({"min_available": 3, "expected_pods": 3}, "minAvailable 3 demands 3 of its 3 pods"),
        ({"min_available": 9, "expected_pods": 3}, "minAvailable 9 demands 9 of its 3 pods"),
        ({"min_available": "90%", "expected_pods": 3, "desired_healthy": 3}, "minAvailable 90% demands 3 of its 3 pods"),
        ({"min_available": None, "max_unavailable": 1, "sync_failure": f"jobs.x {NOTHING}"}, NOTHING),
        ({"min_available": "50%", "sync_failure": f"jobs.x {NOTHING}"}, NOTHING),
        # also before its controller has seen the spec that forbids everything
        ({"min_available": None, "max_unavailable": 0, "observed": False, "disruptions_allowed": 3}, "maxUnavailable is 0"),
    ],
)
def test_a_budget_that_can_never_allow_anything_forbids_and_says_why(changes: dict[str, Any], says: str) -> None:
    reason = plan(world(pdb("web", 0, "web", **changes))).stays["a"]
    assert reason.code is Code.DISRUPTION_BUDGET_FORBIDS
    assert says in reason.detail
    assert "team/web" in reason.detail


@pytest.mark.parametrize("spec", [{"min_available": None, "max_unavailable": 1}, {"min_available": "50%"}])
def test_a_budget_that_needs_the_scale_of_a_vcjob_never_syncs(spec: dict[str, Any]) -> None:
    member = replace(SUBJECT, owner=Owner("batch.volcano.sh/v1alpha1", "Job", "train"))
    reason = plan(world(pdb("web", 0, "web", expected_pods=0, **spec), subject=member)).stays["a"]
    assert reason.code is Code.DISRUPTION_BUDGET_FORBIDS
    assert "Job.batch.volcano.sh, which has no scale subresource" in reason.detail
    number = pdb("web", 0, "web", min_available=2)
    assert why(world(number, subject=member)) is None


@pytest.mark.parametrize(
    ("spec", "expected", "code"),
    [
        # One replica and 50 %: the controller rounds minAvailable up to the one, and maxUnavailable up to the one as well.
        ({"min_available": "50%", "disruptions_allowed": 0, "desired_healthy": 1}, 1, Code.DISRUPTION_BUDGET_FORBIDS),
        ({"min_available": None, "max_unavailable": "50%", "disruptions_allowed": 1, "desired_healthy": 0}, 1, None),
        ({"min_available": "50%", "disruptions_allowed": 0, "desired_healthy": 1}, 2, None),
    ],
)
def test_p43_a_limit_equal_to_the_replica_count_forbids(spec: dict[str, Any], expected: int, code: Code | None) -> None:
    allowed = int(spec.pop("disruptions_allowed"))
    assert why(world(pdb("web", allowed, "web", expected_pods=expected, **spec))) is code


# ---- not now is not never ----
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"observed": False},
        {"disruptions_allowed": -1},
        {"min_available": None, "max_unavailable": 1},
        {"min_available": 3, "expected_pods": 0},  # the controller has not counted any pod yet
        {"min_available": 3, "expected_pods": 3, "observed": False},
        {"min_available": 3, "expected_pods": 3, "sync_failure": "found no controllers for pod x"},
        {"min_available": "90%", "expected_pods": 3, "desired_healthy": 3, "sync_failure": "timeout"},
        {"min_available": None, "max_unavailable": 1, "sync_failure": "timeout"},
        {"min_available": None, "max_unavailable": 1, "expected_pods": 0},
        {"min_available": None},
        {"min_available": "much"},
    ],
)
def test_no_disruption_left_for_now_is_not_never(changes: dict[str, Any]) -> None:
    budget = pdb("web", 0, "web", **changes)
    assert allowed_now(budget) == 0
    assert why(world(budget)) is None


def test_p17_a_replica_that_is_pending_because_of_the_plan_does_not_block_for_good() -> None:
    # Spread over three hosts, maxSkew 1: one pod is Pending since a host is closed, so two are healthy of the two demanded.
    budget = pdb("web", 0, "web", min_available=2, current_healthy=2, desired_healthy=2, expected_pods=3)
    pending = pod("web-pending", None, 0, labels={"app": "web"}, ready=False)
    snapshot = world(budget, others=1)
    evaluation = plan(replace(snapshot, pods=tuple(sorted((*snapshot.pods, pending), key=lambda p: p.key))))
    assert evaluation.freed_nodes == ("a",)
    assert evaluation.disruption_budgets[0].verdict.value == "Waits"


@pytest.mark.parametrize(
    "changes", [{"min_available": None, "max_unavailable": 0}, {"min_available": "100%"}, {"expected_pods": 1}]
)
def test_what_the_controller_allows_now_is_allowed(changes: dict[str, Any]) -> None:
    # During a roll-out there are more pods than replicas: even maxUnavailable 0 then lets one go.
    assert why(world(pdb("web", 1, "web", **changes))) is None


def test_pods_that_the_controller_has_not_counted_yet_count() -> None:
    # minAvailable 3 of 3 by the status, but a fourth pod is there already.
    budget = pdb("web", 0, "web", min_available=3, expected_pods=3)
    assert why(world(budget, others=2)) is Code.DISRUPTION_BUDGET_FORBIDS
    assert why(world(budget, others=3)) is None


def test_members_that_a_gang_lacks_just_now_count() -> None:
    # minAvailable 3 while 2 of a gang of 4 are there: with the others back, one may go.
    budget = pdb("web", 0, "web", min_available=3, expected_pods=2)
    pods = [pod(n, "b", 0, "gang", labels={"app": "web"}) for n in ("w1",)]
    subject = replace(SUBJECT, pod_group="gang")
    base = [node("a"), node("b")], [subject, pod("guest", "b", 4), *pods]
    assert why(cluster(*base, budgets=(budget,))) is Code.DISRUPTION_BUDGET_FORBIDS
    assert why(cluster(*base, {"gang": 4}, budgets=(budget,))) is Code.GANG_INCOMPLETE  # that is why, and not the budget
