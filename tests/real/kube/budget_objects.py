"""Workloads and PodDisruptionBudgets of every kind, and the forecast for the pods of a namespace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import BudgetRefused, Evicted, EvictionAnswer, PermanentRefusal, TransientRefusal
from repack_gitops.model.budget_forecast import Forecast, PodVerdict
from repack_gitops.model.cluster import ClusterSnapshot, Pod, PodDisruptionBudget
from repack_gitops.model.plan import PodMove, Step
from repack_gitops.planner.disruption_budgets.forecast import forecast
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for

#: What the Eviction API may answer where a forecast says this.
ANSWERS: dict[PodVerdict, tuple[type[EvictionAnswer], ...]] = {
    PodVerdict.EVICTABLE: (Evicted,),
    PodVerdict.WAITS_FOR_BUDGET: (BudgetRefused, TransientRefusal),
    PodVerdict.BLOCKED_FOR_GOOD: (BudgetRefused,),
    PodVerdict.BLOCKED_BY_SEVERAL: (PermanentRefusal,),
}


def _pod_spec(on: str | None) -> Object:
    spec: Object = {"terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "x"}]}
    return spec | ({"nodeName": on} if on else {"schedulerName": "nobody"})


def pods(namespace: str, app: str, count: int, on: str | None, **meta: Any) -> list[Object]:
    """Return bare pods ``<app>-0``, ``<app>-1``, ...; without a node no scheduler will ever bind them."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{app}-{i}", "namespace": namespace, "labels": {"app": app}, **meta},
            "spec": _pod_spec(on),
        }
        for i in range(count)
    ]


def replicas(namespace: str, app: str, count: int, on: str) -> Object:
    """Return a ReplicaSet whose pods run on node ``on``."""
    labels = {"app": app, "replica": "yes"}  # so that it adopts no bare pod of the same app
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(on)}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"replicas": count, "selector": {"matchLabels": labels}, "template": template},
    }


def volcano_job(namespace: str, app: str, count: int, on: str) -> Object:
    """Return a VCJob whose pods Volcano binds to node ``on``."""
    spec = {k: v for k, v in _pod_spec(None).items() if k != "schedulerName"}
    spec |= {"nodeSelector": {"kubernetes.io/hostname": on}, "restartPolicy": "Never"}
    template = {"metadata": {"labels": {"app": app}}, "spec": spec}
    task = {"name": "worker", "replicas": count, "template": template}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"schedulerName": "volcano", "minAvailable": count, "tasks": [task]},
    }


def budget(namespace: str, name: str, selector: Object | str | None, **spec: Any) -> Object:
    """Return a budget for the pods of app ``selector``, or with that selector."""
    made = {"matchLabels": {"app": selector}} if isinstance(selector, str) else selector
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {**({} if made is None else {"selector": made}), **spec},
    }


def patch_status(control_plane: Cluster, namespace: str, name: str, *, phase: str, ready: bool) -> None:
    """Say of a pod what its kubelet would."""
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}]}
    patch = json.dumps({"status": status})
    control_plane.kubectl("patch", "pod", name, "-n", namespace, "--subresource=status", "-p", patch)


class Watcher:
    """Looks at one namespace."""

    def __init__(self, cluster: LiveCluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def pods(self) -> list[Pod]:
        """Return the pods that a live snapshot would hold, by name."""
        return sorted((p for p in self._cluster.list_pods().pods if p.namespace == self._namespace), key=lambda p: p.name)

    def budgets(self) -> list[PodDisruptionBudget]:
        """Return the budgets, by name."""
        return [b for b in self._cluster.list_budgets() if b.namespace == self._namespace]

    def snapshot(self) -> ClusterSnapshot:
        """Return the namespace as a snapshot."""
        return ClusterSnapshot((), tuple(self.pods()), budgets=tuple(self.budgets()))

    def settle(self, count: int, ready: int) -> None:
        """Wait until there are so many pods, so many of them Ready, and every status is about the pods as they are."""
        wait_for("pods and budgets", lambda: self._settled(count, ready))

    def _settled(self, count: int, ready: int) -> bool:
        found = self.pods()
        if (len(found), sum(p.ready for p in found)) != (count, ready):
            return False
        return all(b.sync_failure or self._counted(b, found) for b in self.budgets())

    def _counted(self, budget: PodDisruptionBudget, found: Sequence[Pod]) -> bool:
        """Of several budgets that select a pod, the controller looks after one; the status of the others may stay old."""
        if any(b.selector == budget.selector and b.name != budget.name for b in self.budgets()):
            return True
        healthy = sum(budget.selects(p) and p.ready and not p.terminating for p in found)
        return budget.observed and budget.current_healthy == healthy

    def evict(self, pod: Pod, *, dry_run: bool) -> EvictionAnswer:
        """Ask the Eviction API."""
        return self._cluster.evict(pod.namespace, pod.name, pod.uid, grace_period_seconds=None, dry_run=dry_run)


def steps(*nodes: Sequence[Pod]) -> list[Step]:
    """Return a plan that empties made-up nodes of these pods, in this order."""
    made = []
    for i, victims in enumerate(nodes):
        moves = tuple(PodMove(p.namespace, p.name, p.uid, "", None, f"n{i}", "elsewhere", 1) for p in victims)
        made.append(Step(f"n{i}", moves))
    return made


def foretold(snapshot: ClusterSnapshot, *nodes: Sequence[Pod]) -> Forecast:
    """Return the forecast for such a plan."""
    return forecast(snapshot, DisruptionBudgets(snapshot), steps(*nodes))


def alone(snapshot: ClusterSnapshot, pod: Pod) -> PodVerdict:
    """Return the verdict on one pod by itself, as a dry run answers."""
    return foretold(snapshot, [pod]).pods[0].verdict
