"""What other pods forbid, as arrays: inter-pod affinity and topology spread over the providing nodes of a search.

Most pods have no relations to others and none is against them; they never come here. For the others a flag per node is
worked out from the counts by domain, which move with every pod (``feasibility.placements``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from repack_gitops.model.affinity import SpreadConstraint
from repack_gitops.model.cluster import ClusterSnapshot, Node, Pod
from repack_gitops.planner.feasibility import inter_pod_affinity, pod_topology_spread
from repack_gitops.planner.feasibility.inter_pod_affinity import Domain, matches_all
from repack_gitops.planner.feasibility.placements import Placements
from repack_gitops.planner.feasibility.pod_topology_spread import SpreadCounts, most

Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]


class Neighbourhood:
    """All pods where they are now, and which of ``nodes`` the relations between pods leave open."""

    def __init__(self, snapshot: ClusterSnapshot, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._namespaces = snapshot.namespaces
        self._placements = Placements(snapshot.nodes, snapshot.pods, snapshot.namespaces)
        self._domains: dict[str, dict[str, Indices]] = {}
        self._with_key: dict[str, Flags] = {}
        self._any = any(pod.relations for pod in snapshot.pods)

    def concerns(self, pod: Pod) -> bool:
        """Tell whether other pods can forbid ``pod`` a node."""
        return self._any and (bool(pod.relations) or bool(self._placements.guards_against(pod)))

    def asked_by(self, pods: Iterable[Pod]) -> Iterator[object]:
        """Yield tokens for what decides about ``pods``."""
        return (token for pod in pods for token in self._placements.asked_by(pod))

    def move(self, pod: Pod, node: int) -> Iterator[object]:
        """Move ``pod`` to ``node`` for good; yields the tokens of what changed."""
        if not self._any:
            return iter(())
        self._placements.remove(pod)
        self.put(pod, node)
        return self._placements.touched_by(pod)

    @contextmanager
    def without(self, pods: Sequence[Pod]) -> Iterator[Company]:
        """Take ``pods`` off their nodes meanwhile; yields them as they look for places, one after another."""
        for pod in pods:
            self._placements.remove(pod)
        try:
            yield Company(self, pods)
        finally:
            for pod in pods:
                self._placements.remove(pod)
                self._placements.place(pod, pod.node or "")

    def put(self, pod: Pod, node: int) -> None:
        """Put ``pod``, which is on no node, on ``node``."""
        self._placements.place(pod, self._nodes[node].name)

    def take_back(self, pod: Pod) -> None:
        """Undo ``put``."""
        self._placements.remove(pod)

    def open_nodes(self, pod: Pod) -> Flags:
        """Return which nodes other pods leave open to ``pod``, which is on no node."""
        flags = np.ones(len(self._nodes), dtype=bool)
        self._join(flags, pod)
        for term in pod.relations.anti_affinity:
            self._close(flags, self._placements.matching(term))
        for _, holders in self._placements.repelling(pod):
            self._close(flags, holders)
        if pod.relations.spread:
            for constraint, counts in zip(pod.relations.spread, self._placements.spread_counts(pod), strict=True):
                self._spread(flags, constraint, counts, pod)
        return flags

    def admits(self, pod: Pod, node: int) -> bool:
        """Tell the same about one node."""
        found = self._nodes[node]
        return (
            pod_topology_spread.why_not(pod, found, self._placements) is None
            and inter_pod_affinity.why_not(pod, found, self._placements, self._namespaces) is None
        )

    def _join(self, flags: Flags, pod: Pod) -> None:
        terms = pod.relations.affinity
        if not terms:
            return
        found = self._placements.matching_all(terms)
        first = not found and matches_all(terms, pod, self._namespaces)
        for key in dict.fromkeys(t.topology_key for t in terms):
            here = [value for other, value in found if other == key]
            flags &= self._having(key) if first else self._within(key, here)

    def _close(self, flags: Flags, domains: Iterable[Domain]) -> None:
        for key, value in domains:
            nodes = self._by_value(key).get(value)
            if nodes is not None:
                flags[nodes] = False

    def _spread(self, flags: Flags, constraint: SpreadConstraint, counts: SpreadCounts, pod: Pod) -> None:
        key = constraint.topology_key
        flags &= self._having(key)
        self._close(flags, ((key, value) for value in counts.above(most(constraint, counts, pod))))

    def _having(self, key: str) -> Flags:
        if key not in self._with_key:
            self._with_key[key] = np.array([key in node.labels for node in self._nodes], dtype=bool)
        return self._with_key[key]

    def _within(self, key: str, values: Iterable[str]) -> Flags:
        flags = np.zeros(len(self._nodes), dtype=bool)
        by_value = self._by_value(key)
        for value in values:
            if value in by_value:
                flags[by_value[value]] = True
        return flags

    def _by_value(self, key: str) -> Mapping[str, Indices]:
        if key not in self._domains:
            found: dict[str, list[int]] = {}
            for i, node in enumerate(self._nodes):
                if key in node.labels:
                    found.setdefault(node.labels[key], []).append(i)
            self._domains[key] = {value: np.array(nodes, dtype=np.int64) for value, nodes in found.items()}
        return self._domains[key]


class Company:
    """Pods that left their node together, tried elsewhere one after another in a fixed order."""

    def __init__(self, around: Neighbourhood, pods: Sequence[Pod]) -> None:
        self._around, self._pods = around, pods
        self._tried = 0

    def open_nodes(self) -> Flags:
        """Return which nodes other pods leave open to the next pod, those already tried among them."""
        return self._around.open_nodes(self._pods[self._tried])

    def admits(self, node: int) -> bool:
        """Tell the same about one node."""
        return self._around.admits(self._pods[self._tried], node)

    def put(self, node: int) -> None:
        """Try the next pod on ``node``."""
        self._around.put(self._pods[self._tried], node)
        self._tried += 1

    def take_back(self) -> None:
        """Undo the last ``put``."""
        self._tried -= 1
        self._around.take_back(self._pods[self._tried])
