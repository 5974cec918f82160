"""The forecast of PodDisruptionBudgets against what a real disruption controller writes and a real API server answers."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.kube.client import LiveCluster, connect
from repack_gitops.kube.interface import BudgetRefused
from repack_gitops.model.budget_forecast import BudgetVerdict, PodVerdict
from repack_gitops.model.plan import Code
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets
from tests.real.kube.budget_objects import (
    ANSWERS,
    Watcher,
    alone,
    budget,
    foretold,
    patch_status,
    pods,
    replicas,
    volcano_job,
)
from tests.testbed.cluster import Cluster
from tests.testbed.control_plane import ControlPlane
from tests.testbed.nodes import Object, fake_node
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real

GO, WAIT = PodVerdict.EVICTABLE, PodVerdict.WAITS_FOR_BUDGET
NEVER, SEVERAL = PodVerdict.BLOCKED_FOR_GOOD, PodVerdict.BLOCKED_BY_SEVERAL

#: Per app: how many pods, its owner, its budgets, and the verdict on each Ready pod by itself.
RUNNING: dict[str, tuple[int, str, list[dict[str, Any]], PodVerdict]] = {
    "free": (1, "", [], GO),
    "two-budgets": (1, "", [{"minAvailable": 0}, {"minAvailable": 0}], SEVERAL),
    "enough": (2, "ReplicaSet", [{"maxUnavailable": 1}], GO),
    "zero": (2, "ReplicaSet", [{"maxUnavailable": 0}], NEVER),
    "zero-percent": (2, "ReplicaSet", [{"maxUnavailable": "0%"}], NEVER),
    "whole": (2, "ReplicaSet", [{"minAvailable": "100%"}], NEVER),
    "half-of-one": (1, "ReplicaSet", [{"minAvailable": "50%"}], NEVER),  # rounds up
    "half-may-go": (1, "ReplicaSet", [{"maxUnavailable": "50%"}], GO),  # rounds up too
    "half-of-two": (2, "ReplicaSet", [{"minAvailable": "50%"}], GO),
    "all-of-two": (2, "", [{"minAvailable": 2}], NEVER),
    "more-than-two": (2, "", [{"minAvailable": 5}], NEVER),
    "one-of-two": (2, "", [{"minAvailable": 1}], GO),
    "job": (2, "Job", [{"maxUnavailable": 1}], NEVER),
    "job-percent": (2, "Job", [{"minAvailable": "50%"}], NEVER),
    "job-number": (2, "Job", [{"minAvailable": 1}], GO),
}


def _workload(namespace: str, app: str, count: int, owner: str, node: str) -> list[Object]:
    if owner == "ReplicaSet":
        return [replicas(namespace, app, count, node)]
    return [volcano_job(namespace, app, count, node)] if owner == "Job" else pods(namespace, app, count, node)


@pytest.mark.parametrize("budgets_first", [False, True])
def test_ready_pods(control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str, budgets_first: bool) -> None:
    workloads = [o for app, (count, owner, _, _) in RUNNING.items() for o in _workload(namespace, app, count, owner, node)]
    kinds = [(app, f"{app}-{i}", spec) for app, (_, _, specs, _) in RUNNING.items() for i, spec in enumerate(specs)]
    budgets = [budget(namespace, name, app, **spec) for app, name, spec in kinds]
    budgets.append(budget(namespace, "selects-nothing", None, maxUnavailable=0))
    for objects in (budgets, workloads) if budgets_first else (workloads, budgets):
        control_plane.apply(*objects)
    watcher, count = Watcher(cluster, namespace), sum(count for count, *_ in RUNNING.values())
    watcher.settle(count, count)
    wait_for("the failure of VCJobs", lambda: sum(bool(b.sync_failure) for b in watcher.budgets()) == 2)
    snapshot = watcher.snapshot()
    for pod in snapshot.pods:
        verdict = alone(snapshot, pod)
        assert verdict is RUNNING[pod.labels["app"]][-1], pod.name
        assert isinstance(watcher.evict(pod, dry_run=True), ANSWERS[verdict]), pod.name


#: Verdicts on pods of which some do not run, or are not Ready; rows 7, 8, 11 and 17.
UNREADY = {
    "crash-0": GO,
    "crash-1": WAIT,
    "crash-2": WAIT,
    "always-0": GO,
    "always-1": NEVER,
    "low-0": NEVER,
    "low-1": NEVER,
    "low-2": NEVER,
    "ended-0": GO,
    "leaving-0": GO,
    "stuck-0": GO,
    "waiting-0": GO,
    "waiting-1": GO,
}


def test_pods_that_are_not_ready(control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str) -> None:
    """Who goes free of charge, and that none left for now is not never: both replicas of "stuck" wait for its third pod."""
    control_plane.apply(
        *pods(namespace, "crash", 3, node),
        *pods(namespace, "always", 2, node),
        *pods(namespace, "low", 3, node),
        *pods(namespace, "ended", 1, node),
        *pods(namespace, "leaving", 1, "nowhere", finalizers=["test/hold"]),
        *pods(namespace, "stuck", 1, None),
        *pods(namespace, "waiting", 2, None),
        replicas(namespace, "stuck", 2, node),
        budget(namespace, "crash", "crash", minAvailable=2),
        budget(namespace, "always", "always", minAvailable=2, unhealthyPodEvictionPolicy="AlwaysAllow"),
        budget(namespace, "low", "low", minAvailable=3),
        budget(namespace, "ended", "ended", minAvailable=1),
        budget(namespace, "leaving", "leaving", minAvailable=1),
        budget(namespace, "stuck", "stuck", minAvailable=2),
        budget(namespace, "waiting", "waiting", minAvailable=2),
    )
    watcher = Watcher(cluster, namespace)
    patch_status(control_plane, namespace, "leaving-0", phase="Running", ready=True)
    watcher.settle(15, 12)
    for app in ("crash", "always", "low"):
        patch_status(control_plane, namespace, f"{app}-0", phase="Running", ready=False)
    patch_status(control_plane, namespace, "ended-0", phase="Succeeded", ready=False)
    control_plane.kubectl("delete", "pod", "leaving-0", "-n", namespace, "--wait=false")
    healthy = {"crash": 2, "always": 1, "low": 2, "ended": 0, "stuck": 2, "leaving": 0, "waiting": 0}
    wait_for("budgets", lambda: {b.name: b.current_healthy for b in watcher.budgets()} == healthy)
    snapshot = watcher.snapshot()
    ended = cluster.get_pod(namespace, "ended-0")  # which a live snapshot leaves out
    assert ended is not None
    snapshot = replace(snapshot, pods=(*(p for p in snapshot.pods if p.key != ended.key), ended))
    assert {p.name: alone(snapshot, p) for p in snapshot.pods if p.owner is None} == UNREADY
    assert {alone(snapshot, p) for p in snapshot.pods if p.owner is not None} == {WAIT}
    for pod in snapshot.pods:
        assert isinstance(watcher.evict(pod, dry_run=True), ANSWERS[alone(snapshot, pod)]), pod.name
    release = '{"metadata":{"finalizers":null}}'
    control_plane.kubectl("patch", "pod", "leaving-0", "-n", namespace, "--type=merge", "-p", release)


def test_evictions_in_the_order_of_a_plan(control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str) -> None:
    """Row 19: each dry run is granted, the sum is not; the forecast tells at which pod it ends."""
    control_plane.apply(*pods(namespace, "web", 4, node), *pods(namespace, "db", 3, node), *pods(namespace, "free", 1, node))
    control_plane.apply(budget(namespace, "web", "web", minAvailable=2), budget(namespace, "db", "db", minAvailable=2))
    watcher = Watcher(cluster, namespace)
    watcher.settle(8, 8)
    snapshot = watcher.snapshot()
    by_name = {p.name: p for p in snapshot.pods}
    first, second = ["web-0", "db-0", "web-1"], ["web-2", "free-0", "db-1", "web-3"]
    found = foretold(snapshot, [by_name[n] for n in first], [by_name[n] for n in second])
    assert [p.verdict for p in found.pods] == [GO, GO, GO, WAIT, GO, WAIT, WAIT]
    assert [(b.name, b.allowed, b.needed, b.verdict, b.runs_dry_at) for b in found.budgets] == [
        ("db", 1, 2, BudgetVerdict.WAITS, "n1"),
        ("web", 2, 4, BudgetVerdict.WAITS, "n1"),
    ]
    for name in (*first, *second):
        assert isinstance(watcher.evict(by_name[name], dry_run=True), ANSWERS[GO]), name
    for name, pod in zip((*first, *second), found.pods, strict=True):
        assert isinstance(watcher.evict(by_name[name], dry_run=False), ANSWERS[pod.verdict]), name


def test_an_empty_selector_selects_every_pod_of_its_namespace(
    control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str
) -> None:
    control_plane.apply(*pods(namespace, "a", 1, node), *pods(namespace, "b", 1, node))
    control_plane.apply(budget(namespace, "every", {}, minAvailable=1), budget(namespace, "b", "b", minAvailable=0))
    watcher = Watcher(cluster, namespace)
    watcher.settle(2, 2)
    snapshot = watcher.snapshot()
    assert {p.name: alone(snapshot, p) for p in snapshot.pods} == {"a-0": GO, "b-0": SEVERAL}
    reason = DisruptionBudgets(snapshot).why_not(snapshot.pods[1])
    assert reason is not None
    assert reason.code is Code.SEVERAL_DISRUPTION_BUDGETS
    for pod in snapshot.pods:
        assert isinstance(watcher.evict(pod, dry_run=True), ANSWERS[alone(snapshot, pod)])


def test_a_status_that_is_old(own_control_plane: Callable[..., ControlPlane]) -> None:
    """It ends when the controller comes by, so that is held meanwhile. A negative one the API server does not even take."""
    bed = own_control_plane(volcano=False)
    bed.apply(fake_node("n", {"nvidia.com/gpu": 8}))
    bed.create_namespace("team")
    bed.apply(*pods("team", "web", 3, "n"), budget("team", "web", "web", minAvailable=1))
    controllers = bed.pids()["kube-controller-manager"]
    with connect(bed.kubeconfig) as cluster:
        watcher = Watcher(cluster, "team")
        watcher.settle(3, 3)
        os.kill(controllers, signal.SIGSTOP)
        try:
            bed.kubectl("patch", "pdb", "web", "-n", "team", "--type=merge", "-p", '{"spec":{"minAvailable":2}}')
            stale = watcher.snapshot()
            found = foretold(stale, [stale.pods[0]])
            assert (found.budgets[0].verdict, found.budgets[0].allowed) == (BudgetVerdict.STALE, 0)
            answer = watcher.evict(stale.pods[0], dry_run=True)
            assert isinstance(answer, BudgetRefused)
            assert answer.retry_after == 10
            negative = '{"status":{"disruptionsAllowed":-1}}'
            with pytest.raises(RuntimeError, match="must be greater than or equal to 0"):
                bed.kubectl("patch", "pdb", "web", "-n", "team", "--subresource=status", "--type=merge", "-p", negative)
        finally:
            os.kill(controllers, signal.SIGCONT)
