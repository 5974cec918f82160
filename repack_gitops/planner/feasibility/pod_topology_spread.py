"""PodTopologySpread: DoNotSchedule constraints over the domains of a topology key.

For each constraint: pods there + the pod itself if it counts - the fewest in any domain must not exceed maxSkew. Domains
are those of eligible nodes: with all topology keys of the pod's constraints, and admitted by its node affinity and (if the
constraint says so) its tolerations. With fewer domains than minDomains the fewest counts as zero.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from repack_gitops.model.affinity import SpreadConstraint
from repack_gitops.model.cluster import Constraints, Node, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.feasibility import node_affinity, taint_toleration


class SpreadCounts:
    """Pods that one constraint counts, by eligible domain; domains can also be found by how many they hold.

    ``domains`` are the eligible ones; those that hold nothing cost nothing.
    """

    def __init__(self, domains: Collection[str]) -> None:
        self._domains = len(domains)
        self._held: dict[str, int] = {}
        #: How many pods, at least one -> the domains that hold so many; an entry is never empty.
        self._by_number: dict[int, dict[str, None]] = {}

    def add(self, domain: str, change: int) -> None:
        """Count ``change`` more pods in an eligible domain."""
        before = self._held.pop(domain, 0)
        if before:
            del self._by_number[before][domain]
            if not self._by_number[before]:
                del self._by_number[before]
        if before + change:
            self._held[domain] = before + change
            self._by_number.setdefault(before + change, {})[domain] = None

    def held(self, domain: str) -> int:
        """Return how many pods are counted in ``domain``; none in one that is not eligible."""
        return self._held.get(domain, 0)

    def fewest(self, min_domains: int) -> int:
        """Return the global minimum that skew is measured against."""
        if self._domains < min_domains or len(self._held) < self._domains:
            return 0
        return min(self._by_number, default=0)

    def above(self, number: int) -> Iterator[str]:
        """Yield the domains that hold more than ``number``, which is not negative; O(distinct numbers + found)."""
        return (domain for held, domains in self._by_number.items() if held > number for domain in domains)


class Spreading(Protocol):
    """How pods are spread now."""

    def spread_counts(self, pod: Pod) -> Sequence[SpreadCounts]:
        """Return, for each of the pod's constraints, how many other pods it counts in every eligible domain."""


def why_not(pod: Pod, node: Node, others: Spreading) -> Reason | None:
    """Return the constraint that ``pod`` on ``node`` would break, or None; ``others`` are all pods but ``pod`` itself."""
    constraints = pod.relations.spread
    if not constraints:
        return None
    for constraint, counts in zip(constraints, others.spread_counts(pod), strict=True):
        reason = _skewed(constraint, counts, pod, node)
        if reason is not None:
            return reason
    return None


def has_keys(constraints: Sequence[SpreadConstraint], node: Node) -> bool:
    """Tell whether ``node`` has the topology keys of all ``constraints``."""
    return all(c.topology_key in node.labels for c in constraints)


def admitted(constraint: SpreadConstraint, demands: Constraints, node: Node) -> bool:
    """Tell whether the constraint's nodeAffinityPolicy and nodeTaintsPolicy let ``node`` count."""
    if constraint.honor_node_affinity and node_affinity.why_not(demands, node) is not None:
        return False
    return not constraint.honor_node_taints or taint_toleration.why_not(demands, node) is None


def most(constraint: SpreadConstraint, counts: SpreadCounts, pod: Pod) -> int:
    """Return how many pods a domain may hold so that ``pod`` may still join it."""
    own = constraint.selector is not None and constraint.selector.matches(pod.labels)
    return constraint.max_skew + counts.fewest(constraint.min_domains) - own


def _skewed(constraint: SpreadConstraint, counts: SpreadCounts, pod: Pod, node: Node) -> Reason | None:
    key = constraint.topology_key
    value = node.labels.get(key)
    if value is None:
        return Reason(Code.POD_TOPOLOGY_SPREAD, f"topology spread needs nodes with the label {key}")
    held, may = counts.held(value), most(constraint, counts, pod)
    if held <= may:
        return None
    detail = f"{key}={value} holds {held} such pods, maxSkew {constraint.max_skew} allows another only where {may} or fewer are"
    return Reason(Code.POD_TOPOLOGY_SPREAD, detail)
