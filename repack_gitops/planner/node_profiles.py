"""Which nodes pass the static filters, asked once per kind of node and not once per node.

Nodes that agree in everything a class's filters read get the same answer. Labels are numbered once; for every class the
nodes are grouped by the numbers it reads, and one node of each group is shown to the real filters.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from repack_gitops.model.cluster import Node
from repack_gitops.model.storage import ZONE_LABELS
from repack_gitops.planner.feasibility import node_group
from repack_gitops.planner.feasibility.static import NodeDemands, static_reason

Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]


class NodeProfiles:
    """Answers for one tuple of nodes; keeps no answer."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._state = _numbered((n.ready, n.unschedulable, n.taints) for n in nodes)
        self._labels: dict[str, Codes] = {}

    def passing(self, demands: NodeDemands) -> Flags:
        """Return which nodes pass every filter that does not depend on where other pods are."""
        groups = self._state
        for codes in self._read(demands):
            groups = _merged(groups, codes)
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        verdicts = [static_reason(demands, self._nodes[int(i)]) is None for i in first]
        return np.array(verdicts, dtype=bool)[group]

    def _read(self, demands: NodeDemands) -> Iterable[Codes]:
        """Yield, as numbers per node, everything but its state that the filters read."""
        constraints, volumes = demands.constraints, demands.volumes
        terms = [t for found in (constraints.node_terms or (), *volumes.node_terms) for t in found]
        keys = {k for k, _ in constraints.node_selector} | {e.key for t in terms for e in t.expressions}
        keys |= {key for topologies in volumes.topologies for term in topologies for key, _ in term}
        if volumes.zones:
            keys |= set(ZONE_LABELS)
        if demands.node_groups is not None:
            keys.add(node_group.LABEL)
        for key in sorted(keys):
            yield self._label(key)
        if any(t.fields for t in terms):
            named = {value for t in terms for e in t.fields for value in e.values}
            yield _numbered(n.name if n.name in named else None for n in self._nodes)

    def _label(self, key: str) -> Codes:
        if key not in self._labels:
            self._labels[key] = _numbered(n.labels.get(key) for n in self._nodes)
        return self._labels[key]


def _numbered(values: Iterable[Hashable]) -> Codes:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(v, len(numbers)) for v in values], dtype=np.int64)


def _merged(left: Codes, right: Codes) -> Codes:
    """Return numbers that are equal where both are equal; renumbered, so that products stay small."""
    if not left.size:
        return left
    pairs = left * (int(right.max()) + 1) + right
    merged: Codes = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return merged
