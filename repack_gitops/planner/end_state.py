"""A cluster before the plan's first move, or after its last, with exact numbers: may this pod go to that node?"""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.model.cluster import ClusterSnapshot, Node, Pod
from repack_gitops.model.plan import Code, Reason, Step
from repack_gitops.planner.candidacy import receives_at_all
from repack_gitops.planner.feasibility.state import ClusterState
from repack_gitops.planner.lifting import what_refuses

#: (filter, the resource or taint)
Cause = tuple[Code, str]


class EndState:
    """The state after ``steps`` (none: before them); nodes that they empty are ``freed``."""

    def __init__(self, snapshot: ClusterSnapshot, resource: str, steps: Iterable[Step]) -> None:
        self._snapshot, self._resource = snapshot, resource
        self._state = ClusterState(snapshot)
        steps = tuple(steps)
        self.freed = frozenset(s.node for s in steps)
        pods = {p.key: p for p in snapshot.pods} if self.freed else {}
        for step in steps:
            for move in step.moves:
                self._state.remove(pods[move.namespace, move.pod])
            for move in step.moves:
                self._state.place(pods[move.namespace, move.pod], move.to_node)

    def why_not(self, pod: Pod, node: Node) -> Cause | None:
        """Return what keeps ``pod`` from ``node``, or None; ``node`` is not the pod's own and not freed."""
        if not receives_at_all(node, self._snapshot.pods_by_node[node.name], self._resource):
            return Code.NOT_OCCUPIED, ""
        with self._state.without(pod):
            reason = self._state.why_not(pod, node)
            return None if reason is None else (reason.code, self._what(reason, pod, node))

    def _what(self, reason: Reason, pod: Pod, node: Node) -> str:
        if reason.code is not Code.NODE_RESOURCES:
            return what_refuses(reason, pod.constraints, node)
        idle = self._state.idle(node.name)
        order = (self._resource, *sorted(pod.template))
        short = (name for name in order if pod.template.get(name, 0) > idle.get(name, 0))
        return next(short, next((name for name in sorted(idle) if idle[name] < 0), ""))
