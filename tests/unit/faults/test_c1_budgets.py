"""PodDisruptionBudgets and limits (tables C1 and C2), and nominations (C3)."""

from __future__ import annotations

import pytest

from tests.unit.faults.manifests import anchor, budget, moves, node, plan, pod, stage, stuck, subject, told, why

FORECAST = "needs the forecast of disruption budgets"


def warnings_of(*objects: object) -> str:
    return "\n".join(plan(*objects).warnings)  # type: ignore[arg-type]


@pytest.mark.xfail(strict=True, reason=FORECAST)
def test_fault_1_two_budgets_select_one_pod() -> None:
    """P 1, kubernetes#75957: its eviction is refused for good, so it does not move and both budgets are named."""
    one, two = budget("keep-one", "subject", 5), budget("keep-two", "subject", 5)
    assert moves(*stage(subject()), one) == {"subject": "target"}
    reason = why(*stage(subject()), one, two)
    assert "keep-one" in reason
    assert "keep-two" in reason


@pytest.mark.xfail(strict=True, reason=FORECAST)
def test_fault_7_a_bound_pod_that_is_still_pending_needs_no_budget() -> None:
    """P 7, kubernetes eviction handler: a pod that does not run yet is evicted whatever its budget says."""
    keep = budget("keep", "subject", 0)
    assert "keep" in warnings_of(*stage(subject()), keep)
    starting = stage(subject(phase="Pending"))
    assert moves(*starting, keep) == {"subject": "target"}
    assert "keep" not in warnings_of(*starting, keep)


@pytest.mark.xfail(strict=True, reason=FORECAST)
def test_fault_8_a_pod_that_is_not_ready_may_go() -> None:
    """P 8, kubernetes#72320: the budget has as many healthy pods as it wants, so the broken one costs it nothing."""
    keep = budget("keep", None, 0, healthy=2, desired=2)
    others = [
        pod("a", "target", 1, schedulerName="default-scheduler"),
        pod("b", "target", 1, schedulerName="default-scheduler"),
    ]
    broken = [node("source"), node("target"), subject(ready=False), *others, keep]
    assert moves(*broken) == {"subject": "target"}
    assert "keep" not in warnings_of(*broken)


def test_fault_8_a_ready_pod_may_not() -> None:
    """P 8, kubernetes#72320: the same budget allows none of its ready pods to go, and the plan says so."""
    keep = budget("keep", None, 0, healthy=2, desired=2)
    assert "keep" in told(plan(*stage(subject()), keep))


@pytest.mark.xfail(strict=True, reason=FORECAST)
def test_fault_8_but_not_while_too_few_are_healthy() -> None:
    """P 8, kubernetes#72320: below the wanted number even a broken pod stays, unless the budget always lets it go."""
    below = budget("keep", "subject", 0, healthy=1, desired=2)
    always = budget("keep", "subject", 0, healthy=1, desired=2, unhealthyPodEvictionPolicy="AlwaysAllow")
    broken = stage(subject(ready=False))
    assert "keep" in told(plan(*broken, below))
    assert moves(*broken, always) == {"subject": "target"}
    assert "keep" not in warnings_of(*broken, always)


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
    assert moves(*stage(subject(), *ended), *(budget(f"keep-{p}", p, 0) for p in ("succeeded", "failed"))) == {
        "subject": "target"
    }


def test_fault_17_what_a_budget_allows_now_is_not_what_it_allows_for_ever() -> None:
    """P 17, autoscaler#9111: it allows nobody while one of its pods waits; the plan stands, and the budget is shown."""
    waiting = pod("waiting", None, 8, labels={"app": "subject"})
    keep = budget("keep", "subject", 0, healthy=1, desired=1)
    found = plan(*stage(subject()), waiting, keep)
    assert found.freed_nodes == ("source",)
    assert "keep" in told(found)


def test_fault_19_a_budget_counts_over_the_whole_plan() -> None:
    """P 19, CanEvictPods, by inference: one disruption is allowed, three pods move: they go in waves, and it is said."""
    members = [pod(f"member-{i}", f"source-{i}", 1, labels={"app": "web"}) for i in range(3)]
    nodes = [node(f"source-{i}") for i in range(3)]
    cluster = [*nodes, node("target"), anchor(), *members]
    assert len(moves(*cluster, budget("keep", "web", 1))) == 3
    assert "keep" in warnings_of(*cluster, budget("keep", "web", 1))
    assert "keep" not in warnings_of(*cluster, budget("keep", "web", 3))


def test_fault_43_replicas_that_are_down_already_count() -> None:
    """P 43, koordinator#933: half of two replicas may be missing, one is: none is left for the plan, and it is said."""
    half = budget("keep", "web", 0, healthy=1, desired=1, minAvailable=None, maxUnavailable="50%")
    down = pod("down", "target", 1, labels={"app": "web"}, ready=False, schedulerName="default-scheduler")
    found = plan(*stage(subject(labels={"app": "web"}), down), half)
    assert "keep" in told(found)


def test_fault_50_room_of_a_nominated_pod_is_taken() -> None:
    """P 50, kubernetes#109236: a waiting pod that is nominated to the target holds the last four cards there."""
    room = {"resident": anchor(count=4)}
    assert moves(*stage(subject(4), **room)) == {"subject": "target"}
    nominated = pod("waiting", None, 4, status={"nominatedNodeName": "target"})
    assert stuck(*stage(subject(4), nominated, **room))
    assert moves(*stage(subject(4), pod("waiting", None, 4), **room)) == {"subject": "target"}
