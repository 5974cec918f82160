"""Inter-pod affinity and topology spread by looking at every pod every time: what the counted versions must agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repack_gitops.model.affinity import AffinityTerm, SpreadConstraint
from repack_gitops.model.cluster import Node, Pod
from repack_gitops.planner.feasibility import node_affinity, taint_toleration

#: Pods and the nodes they are on (or are nominated to: ``bound`` is False).
Placed = Sequence[tuple[Pod, Node, bool]]
Namespaces = Mapping[str, Mapping[str, str]]


def admits(pod: Pod, node: Node, placed: Placed, nodes: Sequence[Node], namespaces: Namespaces) -> bool:
    """Tell whether ``pod`` may join ``node`` beside the pods ``placed``, of which it is none."""
    bound = [(p, n) for p, n, is_bound in placed if is_bound]
    return (
        _affinity(pod, node, bound, namespaces)
        and not any(_close(t, p, n, node, namespaces) for t in pod.relations.anti_affinity for p, n in bound)
        and not any(_close(t, pod, n, node, namespaces) for p, n, _ in placed for t in p.relations.anti_affinity)
        and all(_spreads(c, pod, node, bound, nodes) for c in pod.relations.spread)
    )


def _close(term: AffinityTerm, subject: Pod, at: Node, node: Node, namespaces: Namespaces) -> bool:
    """Tell whether ``subject`` matches and ``at`` is in ``node``'s domain."""
    key = term.topology_key
    return key in at.labels and at.labels.get(key) == node.labels.get(key) and term.matches(subject, namespaces)


def _affinity(pod: Pod, node: Node, bound: Sequence[tuple[Pod, Node]], namespaces: Namespaces) -> bool:
    terms = pod.relations.affinity
    if not all(t.topology_key in node.labels for t in terms):
        return False
    wanted = [(p, n) for p, n in bound if all(t.matches(p, namespaces) for t in terms)]
    if all(any(n.labels.get(t.topology_key) == node.labels[t.topology_key] for _, n in wanted) for t in terms):
        return True
    nobody = not any(t.topology_key in n.labels for t in terms for _, n in wanted)
    return nobody and all(t.matches(pod, namespaces) for t in terms)


def _spreads(
    constraint: SpreadConstraint, pod: Pod, node: Node, bound: Sequence[tuple[Pod, Node]], nodes: Sequence[Node]
) -> bool:
    key = constraint.topology_key
    if key not in node.labels:
        return False
    eligible = [n for n in nodes if _eligible(constraint, pod, n)]
    counts = dict.fromkeys((n.labels[key] for n in eligible), 0)
    names = {n.name for n in eligible}
    for other, at in bound:
        if at.name in names and other.namespace == pod.namespace and not other.terminating and constraint.counts(other.labels):
            counts[at.labels[key]] += 1
    least = min(counts.values()) if counts and len(counts) >= constraint.min_domains else 0
    own = constraint.selector is not None and constraint.selector.matches(pod.labels)
    return counts.get(node.labels[key], 0) + own - least <= constraint.max_skew


def _eligible(constraint: SpreadConstraint, pod: Pod, node: Node) -> bool:
    if any(c.topology_key not in node.labels for c in pod.relations.spread):
        return False
    if constraint.honor_node_affinity and node_affinity.why_not(pod.constraints, node) is not None:
        return False
    return not constraint.honor_node_taints or taint_toleration.why_not(pod.constraints, node) is None
