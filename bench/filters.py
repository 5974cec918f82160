"""What each filter costs: ``python -m bench.filters [FILTER:NODES ...]``.

Each case is ``bench.clusters.mixed`` in which one kind of constraint is put on 30 % of the workloads (``plain``: on none),
so a row minus the plain one is what the filter costs, and what it forbids. Seconds are of the processor, over ``evaluate``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bench.clusters import GPU, mixed
from bench.measure import Row, arguments, measured, peak_mib, save, show, timed
from repack_gitops.model.affinity import AffinityTerm, SpreadConstraint
from repack_gitops.model.cluster import ClusterSnapshot, HostPort, NodeGroupAffinity, Pod, Queue, Relations
from repack_gitops.model.labels import LabelSelector
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm
from repack_gitops.model.run import Goal, RunTemplateSpec
from repack_gitops.model.storage import ClaimUse, PersistentVolume, PersistentVolumeClaim, Storage
from repack_gitops.planner import evaluate
from repack_gitops.planner.feasibility.node_group import LABEL
from repack_gitops.planner.verify import verify

HOST, ZONE = "kubernetes.io/hostname", "zone"
DRIVER = "disk.csi.example.com"
AVOID = AffinityTerm(ZONE, LabelSelector.of({"app": "w1"}), frozenset({"bench"}))
Changes = dict[str, object]


def _own(pod: Pod) -> LabelSelector:
    return LabelSelector.of({"app": pod.labels["app"]})


def _term(pod: Pod, key: str) -> AffinityTerm:
    return AffinityTerm(key, _own(pod), frozenset({"bench"}))


def _node_affinity(pod: Pod) -> Changes:
    terms = (NodeTerm((NodeRequirement("zone", "In", ("a", "b")),)), NodeTerm((NodeRequirement("zone", "Exists"),)))
    return {"constraints": replace(pod.constraints, node_terms=terms)}


def _ports(pod: Pod) -> Changes:
    return {"constraints": replace(pod.constraints, host_ports=(HostPort(9000, "TCP", "0.0.0.0"),))}  # noqa: S104


def _claim(pod: Pod) -> Changes:
    return {"claims": (ClaimUse("data", f"data-{pod.name}"),)}


#: What one kind of constraint changes in a pod.
FILTERS: Mapping[str, Callable[[Pod], Changes]] = {
    "plain": lambda _: {},
    "NodeAffinity": _node_affinity,
    "NodePorts": _ports,
    "PodAntiAffinity-hostname": lambda p: {"relations": Relations(anti_affinity=(_term(p, HOST),))},
    "PodAntiAffinity-zone": lambda _: {"relations": Relations(anti_affinity=(AVOID,))},
    "PodAffinity-zone": lambda p: {"relations": Relations(affinity=(_term(p, ZONE),))},
    "PodTopologySpread-zone": lambda p: {"relations": Relations(spread=(SpreadConstraint(ZONE, 3, 1, _own(p)),))},
    "PodTopologySpread-hostname": lambda p: {"relations": Relations(spread=(SpreadConstraint(HOST, 2, 1, _own(p)),))},
    "Volumes": _claim,
    "NodeGroup": lambda _: {},
}
CASES = [f"{name}:10000" for name in FILTERS]
COLUMNS = ("case", "pods", "constrained", "cpu_seconds", "freed", "verified", "verify_cpu", "peak_mib")


def constrained(name: str, nodes: int) -> ClusterSnapshot:
    """Return ``mixed`` with the constraints of ``name`` on 30 % of its workloads."""
    snapshot = mixed(nodes)
    shared: dict[object, Any] = {}  # as decoding shares equal parts
    pods = []
    for pod in snapshot.pods:
        made = replace(pod, **FILTERS[name](pod)) if _chosen(pod) else pod  # type: ignore[arg-type]
        parts = {part: shared.setdefault(getattr(made, part), getattr(made, part)) for part in ("constraints", "relations")}
        pods.append(replace(made, **parts))
    found = replace(snapshot, pods=tuple(pods))
    if name == "Volumes":
        found = replace(found, storage=_storage(found))
    return _grouped(found) if name == "NodeGroup" else found


def _chosen(pod: Pod) -> bool:
    app = pod.labels.get("app", "")
    return app.startswith("w") and int(app[1:]) % 10 < 3


def _storage(snapshot: ClusterSnapshot) -> Storage:
    """A zonal volume for every claim, and a driver that attaches 24 to a node."""
    claims, volumes = {}, {}
    for pod in snapshot.pods:
        for use in pod.claims:
            zone = snapshot.node_by_name[pod.node or ""].labels[ZONE]
            term = NodeTerm((NodeRequirement(ZONE, "In", (zone,)),))
            claims[pod.namespace, use.claim] = PersistentVolumeClaim(pod.namespace, use.claim, f"pv-{use.claim}")
            volumes[f"pv-{use.claim}"] = PersistentVolume(f"pv-{use.claim}", (term,), (), DRIVER, use.claim)
    return Storage(claims, volumes, {}, {n.name: {DRIVER: 24} for n in snapshot.nodes})


def _grouped(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Every node is of its zone's group, and every queue uses two of the three."""
    nodes = tuple(replace(n, labels={**n.labels, LABEL: n.labels[ZONE]}) for n in snapshot.nodes)
    queues = {name: Queue(name, state="Open", node_groups=NodeGroupAffinity(frozenset(name))) for name in ("ab", "bc", "ac")}
    groups = {key: replace(g, queue=("ab", "bc", "ac")[len(g.name) % 3]) for key, g in snapshot.pod_groups.items()}
    return replace(snapshot, nodes=nodes, queues=queues, pod_groups=groups)


def row(case: str, runs: int) -> Row:
    """Measure one case in this process."""
    name, _, nodes = case.partition(":")
    snapshot, spec = constrained(name, int(nodes)), RunTemplateSpec(goals=[Goal(resource=GPU)])
    planning = timed(lambda: evaluate(snapshot, spec), runs)
    evaluation = evaluate(snapshot, spec)
    judging = timed(lambda: verify(snapshot, spec, evaluation), 1)
    return {
        "case": case,
        "pods": len(snapshot.pods),
        "constrained": sum(1 for p in snapshot.pods if _chosen(p)),
        "cpu_seconds": planning.cpu_seconds,
        "freed": len(evaluation.steps),
        "verified": "yes" if verify(snapshot, spec, evaluation) == () else "NO",
        "verify_cpu": judging.cpu_seconds,
        "peak_mib": peak_mib(),
    }


def main() -> None:
    """Measure the cases asked for."""
    asked = arguments((__doc__ or "").split("\n", maxsplit=1)[0], CASES)
    if asked.child:
        sys.stdout.write(json.dumps(row(asked.child, asked.runs)))
        return
    rows = show((measured("bench.filters", case, asked.runs) for case in asked.cases), COLUMNS)
    save("filters", rows, asked.output)


if __name__ == "__main__":
    main()
