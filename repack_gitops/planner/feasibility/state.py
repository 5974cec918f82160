"""One cluster, one pod, one node: would the scheduler put it there? Exact, and up to date as pods move.

This is the judge's and the executor's answer, and what is compared with the real schedulers. The search asks the same
filters through arrays (``planner.occupancy``, ``planner.topology``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from repack_gitops.model.cluster import Amounts, ClusterSnapshot, HostPort, Key, Node, Pod
from repack_gitops.model.plan import Reason
from repack_gitops.planner.feasibility import (
    inter_pod_affinity,
    node_ports,
    node_resources_fit,
    node_volume_limits,
    pod_topology_spread,
)
from repack_gitops.planner.feasibility.demands import PodDemands
from repack_gitops.planner.feasibility.placements import Placements
from repack_gitops.planner.feasibility.static import static_reason


class Surroundings:
    """What decides besides one node and its residents: demands on nodes, storage, and where other pods are."""

    def __init__(self, snapshot: ClusterSnapshot, demands: PodDemands, placements: Placements) -> None:
        self._snapshot, self._demands, self._placements = snapshot, demands, placements
        self._lingering = node_volume_limits.left_attached(snapshot.storage)

    def why_not(self, pod: Pod, node: Node, residents: Sequence[Pod]) -> Reason | None:
        """Return why ``pod``, which is on no node, cannot join ``residents`` on ``node``, or None.

        ``residents`` are all pods that hold room there. The answer is the first filter that says no.
        """
        return self.why_no_room(pod, node, residents, _idle(node, residents))

    def why_no_room(self, pod: Pod, node: Node, residents: Iterable[Pod], idle: Amounts) -> Reason | None:
        """Return the same where what is idle on ``node`` is known already."""
        demands = self._demands.of(pod)
        if isinstance(demands, Reason):
            return demands
        return (
            static_reason(demands, node)
            or node_ports.why_not(pod.constraints, _ports(residents) if pod.constraints.host_ports else ())
            or node_resources_fit.why_not(pod.template, idle)
            or self._volumes(pod, node, residents)
            or pod_topology_spread.why_not(pod, node, self._placements)
            or inter_pod_affinity.why_not(pod, node, self._placements, self._snapshot.namespaces)
        )

    def _volumes(self, pod: Pod, node: Node, residents: Iterable[Pod]) -> Reason | None:
        storage = self._snapshot.storage
        wanted = node_volume_limits.wanted_by(pod, storage) if pod.claims else ()
        if not wanted:
            return None
        held = node_volume_limits.held_by(residents, storage)
        limits = storage.attach_limits.get(node.name, {})
        return node_volume_limits.why_not(wanted, held, self._lingering.get(node.name, frozenset()), limits)


class ClusterState:
    """All nodes with the pods that hold room on them: bound to the node, or nominated to it."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._placements = Placements(snapshot.nodes, snapshot.pods, snapshot.namespaces)
        self._around = Surroundings(snapshot, PodDemands(snapshot), self._placements)
        self._idle = {n.name: dict(n.allocatable) for n in snapshot.nodes}
        self._residents: dict[str, dict[Key, Pod]] = {n.name: {} for n in snapshot.nodes}
        #: Where every pod is, and what it is charged there.
        self._on: dict[Key, tuple[str, Amounts]] = {}
        for pod in snapshot.pods:
            node = pod.node or pod.nominated_node
            if pod.active and node in self._residents:
                self._put(pod, node, pod.requests)

    @classmethod
    def of(cls, snapshot: ClusterSnapshot) -> ClusterState:
        """Return the state of ``snapshot``; O(pods)."""
        return cls(snapshot)

    def remove(self, pod: Pod) -> None:
        """Take ``pod`` off the node where it is now; nothing if it is on none."""
        found = self._on.pop(pod.key, None)
        if found is not None:
            node, amounts = found
            del self._residents[node][pod.key]
            _charge(self._idle[node], amounts, -1)
            self._placements.remove(pod)

    def place(self, pod: Pod, node: str) -> None:
        """Put the replacement of ``pod``, which was removed, on ``node``."""
        self._put(pod, node, pod.template)
        self._placements.place(pod, node)

    @contextmanager
    def without(self, pod: Pod) -> Iterator[None]:
        """Take ``pod`` off its node meanwhile."""
        found = self._on.get(pod.key)
        self.remove(pod)
        try:
            yield
        finally:
            if found is not None:
                self._put(pod, *found)
                self._placements.place(pod, found[0])

    def idle(self, node: str) -> Amounts:
        """Return what is idle on ``node``, in thousandths; negative where it is overcommitted."""
        return self._idle[node]

    def _put(self, pod: Pod, node: str, amounts: Amounts) -> None:
        self._residents[node][pod.key] = pod
        self._on[pod.key] = (node, amounts)
        _charge(self._idle[node], amounts, 1)

    def why_not(self, pod: Pod, node: Node) -> Reason | None:
        """Return why ``pod``, which is on no node, cannot be put on ``node``, or None; the first filter that says no."""
        return self._around.why_no_room(pod, node, self._residents[node.name].values(), self._idle[node.name])


def _idle(node: Node, residents: Iterable[Pod]) -> Amounts:
    idle = dict(node.allocatable)
    for pod in residents:
        _charge(idle, pod.requests, 1)
    return idle


def _charge(idle: dict[str, int], amounts: Amounts, sign: int) -> None:
    for name, amount in amounts.items():
        idle[name] = idle.get(name, 0) - sign * amount


def _ports(pods: Iterable[Pod]) -> frozenset[HostPort]:
    return frozenset(port for pod in pods for port in pod.constraints.host_ports)
