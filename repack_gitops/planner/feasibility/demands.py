"""What pods demand of nodes by themselves, put together from everything a snapshot says about them."""

from __future__ import annotations

from collections.abc import Container

from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod
from repack_gitops.model.plan import Reason
from repack_gitops.planner.feasibility import inter_pod_affinity, volume_binding, volume_restrictions
from repack_gitops.planner.feasibility.node_group import NodeGroups
from repack_gitops.planner.feasibility.static import NodeDemands


class PodDemands:
    """What pods demand of nodes by themselves, in one snapshot.

    Parameters
    ----------
    leaving
        Pods that let go of what they use before anybody else comes.
    """

    def __init__(self, snapshot: ClusterSnapshot, leaving: Container[Key] = ()) -> None:
        self._snapshot = snapshot
        self._groups = NodeGroups(snapshot.queues)
        self._known: dict[object, NodeDemands] = {}
        staying = (p for p in snapshot.pods if p.claims and p.key not in leaving)
        self._once = volume_restrictions.users(staying, snapshot.storage)

    def of(self, pod: Pod) -> NodeDemands | Reason:
        """Return the demands of ``pod``'s replacement, or why they are not known or cannot be met anywhere.

        Equal demands of pods whose constraints are one object are one object.
        """
        volumes = volume_binding.demands(pod, self._snapshot.storage)
        if isinstance(volumes, Reason):
            return volumes
        never = volume_restrictions.why_not(pod, self._once) or inter_pod_affinity.undecided(pod, self._snapshot.namespaces)
        if never is not None:
            return never
        rule = self._groups.rule(self._queue(pod))
        key = (id(pod.constraints), volumes, rule)  # equal constraints share one object: see model.decode_pod
        if key not in self._known:
            self._known[key] = NodeDemands(pod.constraints, volumes, rule)
        return self._known[key]

    def _queue(self, pod: Pod) -> str:
        group = self._snapshot.pod_groups.get((pod.namespace, pod.pod_group or ""))
        return group.queue if group is not None else ""
