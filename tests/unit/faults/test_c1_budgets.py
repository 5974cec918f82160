"""PodDisruptionBudgets and limits (tables C1 and C2), and nominations (C3)."""

from __future__ import annotations

import pytest

from repack_gitops.model.options import PlannerOptions
from tests.unit.faults.manifests import Object, anchor, budget, moves, node, plan, pod, stage, stuck, subject, told, why

MOVED = {"subject": "target"}


def within(*objects: Object) -> dict[str, str]:
    """Return the moves of a plan that must keep within what budgets allow now."""
    return moves(*objects, options=PlannerOptions(enforce_budgets=True))


def test_fault_1_two_budgets_select_one_pod() -> None:
    """B 1, kubernetes#75957: its eviction is refused for good, so it does not move and both budgets are named."""
    one, two = budget("keep-one", "subject", 5), budget("keep-two", "subject", 5)
    assert moves(*stage(subject()), one) == MOVED
    reason = why(*stage(subject()), one, two)
    assert "keep-one" in reason
    assert "keep-two" in reason


def test_fault_7_a_bound_pod_that_is_still_pending_needs_no_budget() -> None:
    """P 7, kubernetes eviction handler: a pod that does not run yet is evicted whatever its budget says."""
    keep = budget("keep", "subject", 0)
    assert not within(*stage(subject()), keep)
    assert within(*stage(subject(phase="Pending")), keep) == MOVED


def of_three(count: int, **fields: object) -> list[Object]:
    """Return the stage with two pods of another scheduler, and what the budget of all three counts."""
    others = [pod(n, "target", 1, schedulerName="default-scheduler", labels={"app": "web"}) for n in ("a", "b")]
    return [*stage(subject(labels={"app": "web"}, **fields), *others), budget("keep", "web", 0, healthy=count, desired=2)]


def test_fault_8_a_pod_that_is_not_ready_may_go() -> None:
    """B 8, kubernetes#72320: the budget has as many healthy pods as it wants, so the broken one costs it nothing; a
    ready one it would not spare."""
    assert within(*of_three(2, ready=False)) == MOVED
    assert not within(*of_three(2))


def test_fault_8_but_not_while_too_few_are_healthy() -> None:
    """B 8, kubernetes#72320: below the wanted number even a broken pod stays, unless the budget always lets it go."""
    below = budget("keep", "subject", 0, healthy=1, desired=2)
    always = budget("keep", "subject", 0, healthy=1, desired=2, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert not within(*stage(subject(ready=False)), below)
    assert within(*stage(subject(ready=False)), always) == MOVED
    assert not within(*stage(subject()), always)


def test_fault_8_a_budget_that_is_short_is_shown() -> None:
    """B 8, kubernetes#72320: where budgets do not bind the plan, it still says which of them it would not please."""
    found = plan(*of_three(2))
    assert found.freed_nodes == ("source",)
    assert "keep" in told(found)


def test_fault_11_pods_that_ended_are_not_evicted_at_all() -> None:
    """P 11, kubernetes#68892: they hold nothing, no budget of theirs matters, and their node is not even occupied."""
    ended = [pod(phase.lower(), "source", 2, phase=phase) for phase in ("Succeeded", "Failed")]
    keep = budget("keep", None, 0)
    found = plan(*stage(*ended), keep)
    assert found.before.occupied == 1
    assert not found.moves
    assert not found.warnings


def test_fault_11_pods_that_ended_do_not_keep_their_node_occupied() -> None:
    """P 11, kubernetes#68892: a node is freed by moving what still runs there."""
    ended = [pod(phase.lower(), "source", 2, phase=phase) for phase in ("Succeeded", "Failed")]
    budgets = [budget(f"keep-{name}", name, 0) for name in ("succeeded", "failed")]
    assert moves(*stage(subject(), *ended), *budgets) == MOVED


def test_fault_17_what_a_budget_allows_now_is_not_what_it_allows_for_ever() -> None:
    """P 17, autoscaler#9111: it allows nobody while one of its pods waits; the plan stands, and the budget is shown."""
    waiting = pod("waiting", None, 8, labels={"app": "subject"})
    keep = budget("keep", "subject", 0, healthy=1, desired=1)
    found = plan(*stage(subject()), waiting, keep)
    assert found.freed_nodes == ("source",)
    assert "keep" in told(found)


def three_members() -> list[Object]:
    members = [pod(f"member-{i}", f"source-{i}", 1, labels={"app": "web"}) for i in range(3)]
    return [*(node(f"source-{i}") for i in range(3)), node("target"), anchor(), *members]


def test_fault_19_what_a_whole_plan_asks_of_a_budget_is_shown() -> None:
    """P 19, CanEvictPods, by inference: one disruption is allowed and three pods move: that takes waves, and is said."""
    found = plan(*three_members(), budget("keep", "web", 1))
    assert len(found.moves) == 3
    assert "keep" in told(found)


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_fault_19_a_budget_counts_over_the_whole_plan(allowed: int) -> None:
    """P 19, CanEvictPods, by inference: each pod alone is within the budget; no more move than it allows in all."""
    assert len(within(*three_members(), budget("keep", "web", allowed))) == allowed
    assert len(within(*three_members(), budget("keep", "web", 3))) == 3


def test_fault_43_replicas_that_are_down_already_count() -> None:
    """P 43, koordinator#933: half of two replicas may be missing, and one is: none is left for the plan."""
    half = {"minAvailable": None, "maxUnavailable": "50%"}
    down = pod("down", "target", 1, labels={"app": "web"}, ready=False, schedulerName="default-scheduler")
    cluster = stage(subject(labels={"app": "web"}), down)
    assert not within(*cluster, budget("keep", "web", 0, healthy=1, desired=1, **half))
    assert within(*cluster, budget("keep", "web", 1, healthy=2, desired=1, **half)) == MOVED


def test_fault_50_room_of_a_nominated_pod_is_taken() -> None:
    """P 50, kubernetes#109236: a waiting pod that is nominated to the target holds the last four cards there."""
    nominated = pod("waiting", None, 4, status={"nominatedNodeName": "target"})
    assert moves(*stage(subject(4))) == MOVED
    assert stuck(*stage(subject(4), nominated))
    assert moves(*stage(subject(4), pod("waiting", None, 4))) == MOVED
