"""Pods and budgets to try evictions and nominations on."""

from __future__ import annotations

from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import EvictionAnswer
from repack_gitops.model.cluster import Pod
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for


def pod(namespace: str, name: str, on: str | None = None) -> Object:
    """Return a pod that runs on a node, or that no scheduler will ever bind."""
    spec: Object = {"terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "x"}]}
    spec |= {"nodeName": on} if on else {"schedulerName": "nobody"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": spec,
    }


def budget(namespace: str, name: str, app: str, allowed: int) -> Object:
    spec = {"minAvailable": 1 - allowed, "selector": {"matchLabels": {"app": app}}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def running(cluster: LiveCluster, namespace: str, name: str) -> Pod:
    def look() -> Pod | None:
        found = cluster.get_pod(namespace, name)
        return found if found is not None and found.ready else None

    return wait_for(f"{name} to run", look)


def healthy(control_plane: Cluster, namespace: str, name: str) -> None:
    """Wait until the disruption controller counts the pod of a budget."""
    path = "jsonpath={.status.currentHealthy}"
    wait_for(f"budget {name}", lambda: control_plane.kubectl("get", "pdb", name, "-n", namespace, "-o", path) == "1")


def evict(cluster: LiveCluster, victim: Pod, *, uid: str = "", dry_run: bool = False) -> EvictionAnswer:
    return cluster.evict(victim.namespace, victim.name, uid or victim.uid, grace_period_seconds=None, dry_run=dry_run)
