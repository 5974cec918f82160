"""The cluster's pods and nodes as the executor sees them now, kept up to date from the feed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repack_gitops.kube.interface import PodEvent, PodList
from repack_gitops.model.cluster import Key, Node, Pod
from repack_gitops.workflow.execution.feed import Change


class LiveView:
    """Pods by key and by node; nodes as last listed. O(1) per change."""

    def __init__(self, nodes: Sequence[Node], pods: Iterable[Pod] = ()) -> None:
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self._pods: dict[Key, Pod] = {}
        self._on: dict[str, dict[Key, Pod]] = {}
        #: How many pods have relations to others.
        self.related = 0
        for pod in pods:
            self._put(pod)

    def apply(self, change: Change) -> list[Pod]:
        """Take in ``change``; returns the pods to look at, in a fixed order."""
        match change:
            case PodList(pods=pods):
                self._pods, self._on, self.related = {}, {}, 0
                for pod in pods:
                    self._put(pod)
                return list(pods)
            case PodEvent(type="DELETED", pod=pod):
                current = self._pods.get(pod.key)
                if current is not None and current.uid == pod.uid:
                    self._drop(current)
                return [pod]
            case PodEvent(pod=pod):
                self._put(pod)
                return [pod]

    def pod(self, key: Key, uid: str) -> Pod | None:
        """Return the pod of that name if it is still the one with ``uid``."""
        pod = self._pods.get(key)
        return pod if pod is not None and pod.uid == uid else None

    def holds(self, key: Key, uid: str) -> bool:
        """Tell whether that pod still holds resources: it is there, terminating or not, and has not finished."""
        pod = self.pod(key, uid)
        return pod is not None and pod.active

    def pods(self) -> Iterable[Pod]:
        """Return all pods."""
        return self._pods.values()

    def residents(self, node: str) -> Sequence[Pod]:
        """Return the pods bound or nominated to ``node``."""
        return tuple(self._on.get(node, {}).values())

    def _put(self, pod: Pod) -> None:
        current = self._pods.get(pod.key)
        if current is not None:
            self._drop(current)
        self._pods[pod.key] = pod
        self.related += bool(pod.relations)
        place = pod.node or pod.nominated_node
        if place:
            self._on.setdefault(place, {})[pod.key] = pod

    def _drop(self, pod: Pod) -> None:
        self.related -= bool(self._pods.pop(pod.key, pod).relations)
        self._on.get(pod.node or pod.nominated_node or "", {}).pop(pod.key, None)
