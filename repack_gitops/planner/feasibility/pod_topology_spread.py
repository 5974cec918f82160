"""PodTopologySpread: DoNotSchedule constraints over the domains of a topology key.

For each constraint: pods there + the pod itself if it counts - the fewest in any domain must not exceed maxSkew. Domains
are those of eligible nodes: with all topology keys of the pod's constraints, and admitted by its node affinity and (if the
constraint says so) its tolerations. With fewer domains than minDomains the fewest counts as zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from repack_gitops.model.affinity import SpreadConstraint
from repack_gitops.model.cluster import Constraints, Node, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.feasibility import node_affinity, taint_toleration


class Spreading(Protocol):
    """How pods are spread now."""

    def spread_counts(self, pod: Pod) -> Sequence[Mapping[str, int]]:
        """Return, for each of the pod's constraints, how many other pods it counts in every eligible domain, zeros included."""


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


def fewest(constraint: SpreadConstraint, counts: Mapping[str, int]) -> int:
    """Return the global minimum that skew is measured against."""
    return min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0


def _skewed(constraint: SpreadConstraint, counts: Mapping[str, int], pod: Pod, node: Node) -> Reason | None:
    key = constraint.topology_key
    value = node.labels.get(key)
    if value is None:
        return Reason(Code.POD_TOPOLOGY_SPREAD, f"topology spread needs nodes with the label {key}")
    own = constraint.selector is not None and constraint.selector.matches(pod.labels)
    held, least = counts.get(value, 0), fewest(constraint, counts)
    if held + own - least <= constraint.max_skew:
        return None
    return Reason(
        Code.POD_TOPOLOGY_SPREAD,
        f"{key}={value} would hold {held + own} pods, {least} are in the emptiest domain, maxSkew is {constraint.max_skew}",
    )
