"""A cluster before the plan's first move, or after its last, with exact numbers: may this pod go to that node?"""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.model.cluster import Amounts, ClusterSnapshot, HostPort, Node, Pod
from repack_gitops.model.plan import Code, Reason, Step
from repack_gitops.planner.candidacy import host_ports, idle_amounts, receives_at_all, room_holders
from repack_gitops.planner.feasibility import inter_pod_affinity, node_ports, node_resources_fit
from repack_gitops.planner.feasibility.static import static_reason
from repack_gitops.planner.lifting import what_refuses

#: (filter, the resource or taint)
Cause = tuple[Code, str]


class EndState:
    """The state after ``steps`` (none: before them); nodes that they empty are ``freed``."""

    def __init__(self, snapshot: ClusterSnapshot, resource: str, steps: Iterable[Step]) -> None:
        self._snapshot, self._resource = snapshot, resource
        self._idle = idle_amounts(snapshot)
        self._ports: dict[str, frozenset[HostPort]] = {n: host_ports(found) for n, found in room_holders(snapshot).items()}
        self._guards = inter_pod_affinity.Guards(inter_pod_affinity.repelling(snapshot))
        self._closed: dict[tuple[str, str], frozenset[inter_pod_affinity.Domain]] = {}
        self.freed = frozenset(s.node for s in steps)
        pods = {p.key: p for p in snapshot.pods} if self.freed else {}
        for step in steps:
            for move in step.moves:
                self._place(pods[move.namespace, move.pod], move.to_node)

    def _place(self, pod: Pod, node: str) -> None:
        for name, amount in pod.template.items():
            self._idle[node][name] = self._idle[node].get(name, 0) - amount
        self._ports[node] |= frozenset(pod.constraints.host_ports)

    def why_not(self, pod: Pod, node: Node) -> Cause | None:
        """Return what keeps ``pod`` from ``node``, or None; ``node`` is not the pod's own and not freed."""
        if not receives_at_all(node, self._snapshot.pods_by_node[node.name], self._resource):
            return Code.NOT_OCCUPIED, ""
        if pod.key not in self._closed:
            self._closed[pod.key] = self._guards.closed_to(pod)
        idle = self._idle[node.name]
        reason = (
            static_reason(pod.constraints, self._closed[pod.key], node)
            or node_ports.why_not(pod.constraints, self._ports[node.name])
            or node_resources_fit.why_not(pod.template, idle)
        )
        return None if reason is None else (reason.code, self._what(reason, pod, node, idle))

    def _what(self, reason: Reason, pod: Pod, node: Node, idle: Amounts) -> str:
        if reason.code is not Code.NODE_RESOURCES:
            return what_refuses(reason, pod.constraints, node)
        order = (self._resource, *sorted(pod.template))
        return next(name for name in order if pod.template.get(name, 0) > idle.get(name, 0))
