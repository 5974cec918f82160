"""Plans applied to snapshots: every moved pod runs where the plan sends it, as its template asks."""

from __future__ import annotations

from dataclasses import replace

from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.plan import Evaluation, PodMove
from repack_gitops.planner.feasibility.demands import PodDemands
from repack_gitops.planner.feasibility.static import NodeDemands, static_reason
from tests.unit.planner.naive_relations import admits


def apply(snapshot: ClusterSnapshot, evaluation: Evaluation) -> ClusterSnapshot:
    """Return the cluster after ``evaluation``: replacements keep their victims' names and have UIDs of their own."""
    moves = {(m.namespace, m.pod): m for m in evaluation.moves}
    return replace(snapshot, pods=tuple(_moved(p, moves.get(p.key)) for p in snapshot.pods))


def _moved(pod: Pod, move: PodMove | None) -> Pod:
    if move is None:
        return pod
    return replace(pod, node=move.to_node, uid=f"{pod.uid}+", requests=pod.template, phase="Running", nominated_node=None)


def replay_fits(snapshot: ClusterSnapshot, evaluation: Evaluation) -> bool:
    """Tell whether all moves of ``evaluation`` fit: every pod one by one, every receiver counted from scratch."""
    used, now = evaluation.resource, snapshot
    demands = PodDemands(snapshot)
    freed = set(evaluation.freed_nodes)
    pods = {p.key: p for p in snapshot.pods}
    for step, move in ((s, m) for s in evaluation.steps for m in s.moves):
        pod, node = pods[(move.namespace, move.pod)], snapshot.node_by_name[move.to_node]
        keeps = [p for p in snapshot.pods_by_node[node.name] if p.requests.get(used) and not p.terminating]
        if node.name in freed or not keeps or not node.allocatable.get(used):
            return False
        wanted = demands.of(pod)
        if not isinstance(wanted, NodeDemands) or static_reason(wanted, node) is not None:
            return False
        left = {(m.namespace, m.pod) for m in step.moves}
        others = [
            (p, snapshot.node_by_name[at], p.node is not None)
            for p in now.pods
            if p.active and (at := p.node or p.nominated_node) in snapshot.node_by_name
            if p.key != pod.key and not (p.key in left and at == step.node)
        ]
        if not admits(pod, node, others, snapshot.nodes, snapshot.namespaces):
            return False
        residents = [p for p in now.pods if p.active and (p.node or p.nominated_node) == node.name]
        if not _fits(pod, node.allocatable, residents):
            return False
        now = replace(now, pods=tuple(_moved(p, move) if p.key == pod.key else p for p in now.pods))
    return True


def _fits(pod: Pod, allocatable: object, residents: list[Pod]) -> bool:
    for name in {"cpu", "memory", *pod.template}:
        taken, amount = sum(p.requests.get(name, 0) for p in residents), pod.template.get(name, 0)
        if taken + amount > dict(allocatable).get(name, 0):  # type: ignore[call-overload]
            return False
    held = [port for p in residents for port in p.constraints.host_ports]
    return not any(w.conflicts(h) for w in pod.constraints.host_ports for h in held)
