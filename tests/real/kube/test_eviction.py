"""What a real API server answers to evictions."""

from __future__ import annotations

import pytest

from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import (
    BudgetRefused,
    Evicted,
    EvictionAnswer,
    PermanentRefusal,
    PodGone,
    TransientRefusal,
)
from tests.real.kube.victims import budget, evict, healthy, pod, running
from tests.testbed.cluster import Cluster
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real


def test_a_dry_run_leaves_the_pod_and_an_eviction_does_not(
    control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str
) -> None:
    control_plane.apply(pod(namespace, "p", node))
    victim = running(cluster, namespace, "p")
    assert evict(cluster, victim, dry_run=True) == Evicted()
    found = cluster.get_pod(namespace, "p")
    assert found is not None
    assert (found.uid, found.terminating) == (victim.uid, False)
    assert evict(cluster, victim) == Evicted()
    wait_for("the pod to go", lambda: cluster.get_pod(namespace, "p") is None)
    assert isinstance(evict(cluster, victim), PodGone)


@pytest.mark.parametrize("dry_run", [False, True])
def test_another_pod_of_that_name_stays(
    control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str, dry_run: bool
) -> None:
    control_plane.apply(pod(namespace, "p", node))
    answer = evict(cluster, running(cluster, namespace, "p"), uid="another", dry_run=dry_run)
    assert isinstance(answer, PodGone)
    assert "does not match the UID in record" in answer.message
    assert cluster.get_pod(namespace, "p") is not None


def test_a_budget_refuses_and_says_why(control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str) -> None:
    control_plane.apply(pod(namespace, "p", node), budget(namespace, "guard", "p", 0))
    victim = running(cluster, namespace, "p")
    healthy(control_plane, namespace, "guard")
    answer = evict(cluster, victim)
    assert isinstance(answer, BudgetRefused)
    assert "The disruption budget guard needs 1 healthy pods and has 1 currently" in answer.message
    assert isinstance(evict(cluster, victim, dry_run=True), BudgetRefused)


def test_a_budget_is_asked_before_the_uid_is_looked_at(
    control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str
) -> None:
    """So a refusal by a budget does not say that the victim is still there."""
    control_plane.apply(pod(namespace, "p", node), budget(namespace, "guard", "p", 0))
    victim = running(cluster, namespace, "p")
    healthy(control_plane, namespace, "guard")
    assert isinstance(evict(cluster, victim, uid="another"), BudgetRefused)


def test_several_budgets_refuse_for_good(control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str) -> None:
    control_plane.apply(pod(namespace, "p", node), budget(namespace, "one", "p", 1), budget(namespace, "two", "p", 1))
    victim = running(cluster, namespace, "p")
    answer = wait_for("both budgets", lambda: _permanent(evict(cluster, victim, dry_run=True)))
    assert "more than one PodDisruptionBudget" in answer.message


def _permanent(answer: EvictionAnswer) -> PermanentRefusal | None:
    return answer if isinstance(answer, PermanentRefusal) else None


def test_without_permission_an_eviction_is_refused_for_good(
    control_plane: Cluster, cluster: LiveCluster, stranger: LiveCluster, namespace: str, node: str
) -> None:
    control_plane.apply(pod(namespace, "p", node))
    answer = evict(stranger, running(cluster, namespace, "p"))
    assert isinstance(answer, PermanentRefusal)
    assert 'cannot create resource "pods/eviction"' in answer.message


def test_a_namespace_that_is_going_is_no_missing_permission(
    control_plane: Cluster, cluster: LiveCluster, namespace: str
) -> None:
    waiting = pod(namespace, "p")
    waiting["metadata"]["finalizers"] = ["test/hold"]
    control_plane.apply(waiting)
    victim = cluster.get_pod(namespace, "p")
    assert victim is not None
    control_plane.kubectl("delete", "namespace", namespace, "--wait=false")
    try:
        answer = wait_for("the namespace to end", lambda: _transient(evict(cluster, victim)))
        assert "is being terminated" in answer.message
    finally:
        control_plane.kubectl("patch", "pod", "p", "-n", namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


def _transient(answer: EvictionAnswer) -> TransientRefusal | None:
    return answer if isinstance(answer, TransientRefusal) else None
