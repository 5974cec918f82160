"""What we say about a pod and a node; the only module of this test that calls the planner."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Key
from repack_gitops.model.plan import Reason
from repack_gitops.planner.candidacy import host_ports, idle_amounts, room_holders
from repack_gitops.planner.feasibility import inter_pod_affinity, node_ports, node_resources_fit
from repack_gitops.planner.feasibility.static import static_reason


class Oracle:
    """Answers for one snapshot."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._idle = idle_amounts(snapshot)
        self._holders = room_holders(snapshot)
        self._repelling = inter_pod_affinity.repelling(snapshot)

    def undecided(self, key: Key) -> tuple[str, ...]:
        """Return what keeps us from deciding anything about a pod, by field; empty for most."""
        return self._pods[key].unsupported

    def why_not(self, key: Key, node_name: str) -> Reason | None:
        """Return why the pod cannot go to the node, or None if it can."""
        pod, node = self._pods[key], self._snapshot.node_by_name[node_name]
        closed = inter_pod_affinity.closed_domains(pod, self._repelling)
        return (
            static_reason(pod.constraints, closed, node)
            or node_ports.why_not(pod.constraints, host_ports(self._holders[node_name]))
            or node_resources_fit.why_not(pod.requests, self._idle[node_name])
        )
