"""A fragmented fleet on a real control plane: VCJobs, a Deployment and a StatefulSet, each placed by Volcano itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object, fake_node
from tests.testbed.waiting import wait_for

GPU = "nvidia.com/gpu"
NAMESPACE = "team"


def build_fleet(cluster: Cluster, nodes: int = 8) -> None:
    """Make ``nodes`` 8-card nodes and spread workloads thinly over all but the last.

    Volcano places every pod; the layout is steered by cordoning all other nodes meanwhile, so that no workload carries
    a constraint that would keep it from moving later.
    """
    names = [f"gpu-{i}" for i in range(nodes)]
    cluster.apply(*(fake_node(name, {GPU: 8}) for name in names))
    cluster.kubectl("wait", "--for=condition=Ready", "--timeout=60s", *(f"node/{n}" for n in names))
    cluster.create_namespace(NAMESPACE)
    _open_only(cluster, names, [])
    _place(cluster, names, vcjob("train-a", replicas=2, cards=2, min_available=1), ["gpu-0", "gpu-1"])
    _place(cluster, names, deployment("infer", replicas=1, cards=1), ["gpu-2"])
    _grow(cluster, names, "deployment/infer", "gpu-3")
    _place(cluster, names, stateful_set("cache", cards=2), ["gpu-4"])
    _place(cluster, names, vcjob("train-b", replicas=1, cards=4), ["gpu-5"])
    _place(cluster, names, vcjob("train-c", replicas=1, cards=5), ["gpu-6"])
    _open_only(cluster, names, names)


def _place(cluster: Cluster, names: Sequence[str], workload: Object, places: Sequence[str]) -> None:
    """Create ``workload`` while only ``places`` are open, until it has a running pod on each."""
    name = workload["metadata"]["name"]
    _open_only(cluster, names, places)
    cluster.apply(workload)
    wait_for(f"pods of {name} on {', '.join(places)}", lambda: _nodes_of(cluster, name) >= set(places))


def _grow(cluster: Cluster, names: Sequence[str], workload: str, place: str) -> None:
    """Scale ``workload`` to two while only ``place`` is open."""
    name = workload.partition("/")[2]
    _open_only(cluster, names, [place])
    cluster.kubectl("scale", workload, "-n", NAMESPACE, "--replicas=2")
    wait_for(f"a pod of {name} on {place}", lambda: place in _nodes_of(cluster, name))


def _open_only(cluster: Cluster, names: Sequence[str], places: Sequence[str]) -> None:
    closed = [n for n in names if n not in places]
    if closed:
        cluster.kubectl("cordon", *closed)
    if places:
        cluster.kubectl("uncordon", *places)


def _nodes_of(cluster: Cluster, workload: str) -> set[str]:
    return {p["spec"]["nodeName"] for p in running(cluster, workload)}


def running(cluster: Cluster, workload: str) -> list[Object]:
    """Return the running pods whose name starts with the workload's."""
    pods = cluster.items("pods", "-n", NAMESPACE)
    return [p for p in pods if p["metadata"]["name"].startswith(workload + "-") and p["status"].get("phase") == "Running"]


def cards_per_node(cluster: Cluster) -> dict[str, int]:
    """Return the cards that pods hold on each node that holds some."""
    used: dict[str, int] = {}
    for pod in cluster.items("pods", "-A"):
        node = pod["spec"].get("nodeName")
        cards = sum(int(c["resources"].get("requests", {}).get(GPU, 0)) for c in pod["spec"]["containers"])
        if node and cards and pod["status"].get("phase") not in ("Succeeded", "Failed"):
            used[node] = used.get(node, 0) + cards
    return used


def vcjob(name: str, *, replicas: int, cards: int, min_available: int | None = None) -> Object:
    """Return a VCJob of one task without lifecycle policies."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "schedulerName": "volcano",
            "minAvailable": replicas if min_available is None else min_available,
            "tasks": [{"name": "worker", "replicas": replicas, "template": _template(name, cards, restart="Never")}],
        },
    }


def deployment(name: str, *, replicas: int, cards: int) -> Object:
    """Return a Deployment scheduled by Volcano."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", **_apps(name, replicas, cards)}


def stateful_set(name: str, *, cards: int, replicas: int = 1) -> Object:
    """Return a StatefulSet scheduled by Volcano."""
    made = {"apiVersion": "apps/v1", "kind": "StatefulSet", **_apps(name, replicas, cards)}
    made["spec"]["serviceName"] = name
    return made


def _apps(name: str, replicas: int, cards: int) -> dict[str, Any]:
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": _template(name, cards)}
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def _template(name: str, cards: int, restart: str = "Always") -> Object:
    amounts = {GPU: str(cards)}
    container = {"name": "main", "image": "example.test/none", "resources": {"requests": amounts, "limits": amounts}}
    return {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "schedulerName": "volcano",
            "restartPolicy": restart,
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
        },
    }
