"""A static filter's refusal lifted: the same question, asked as if that one thing were different.

If the filters then say yes, nothing else stood in the way: that is how "everything else fits" is known and not guessed.
"""

from __future__ import annotations

from dataclasses import replace

from repack_gitops.model.cluster import Constraints, Node, Taint, Toleration
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.feasibility.node_unschedulable import CORDON
from repack_gitops.planner.feasibility.static import NodeDemands, static_reason
from repack_gitops.planner.feasibility.taint_toleration import HARD_EFFECTS

#: What the static filters are asked about.
Question = tuple[NodeDemands, Node]
#: Taints that the node controller sets on a node that is not Ready, and takes away with the condition.
_NOT_READY = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})


def what_refuses(reason: Reason, constraints: Constraints, node: Node) -> str:
    """Return the part of ``reason`` that tells refusals of one filter apart: the taint, nothing for the others."""
    taint = first_taint(constraints, node) if reason.code is Code.TAINT_TOLERATION else None
    return text_of(taint) if taint else ""


def first_taint(constraints: Constraints, node: Node) -> Taint | None:
    """Return the taint that refuses."""
    hard = (t for t in node.taints if t.effect in HARD_EFFECTS)
    return next((t for t in hard if not any(found.tolerates(t) for found in constraints.tolerations)), None)


def text_of(taint: Taint) -> str:
    """Return a taint as kubectl writes it."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def refused_by_that_alone(reason: Reason, question: Question) -> bool:
    """Tell whether every static filter would pass if the one that gave ``reason`` did."""
    changed = lifted(reason.code, *question)
    return changed is not None and static_reason(*changed) is None


def lifted(code: Code, demands: NodeDemands, node: Node) -> Question | None:
    """Return the question without what made filter ``code`` refuse; None for filters that no single change satisfies."""
    constraints = demands.constraints
    match code:
        case Code.NODE_NOT_READY:
            return demands, ready(node)
        case Code.NODE_UNSCHEDULABLE:
            return demands, uncordoned(node)
        case Code.TAINT_TOLERATION:
            return replace(demands, constraints=tolerating(constraints, first_taint(constraints, node))), node
        case Code.NODE_AFFINITY:
            return replace(demands, constraints=replace(constraints, node_selector=(), node_terms=None)), node
        case _:
            return None


def ready(node: Node) -> Node:
    """Return ``node`` as it will be once it is Ready."""
    return replace(node, ready=True, taints=tuple(t for t in node.taints if t.key not in _NOT_READY))


def uncordoned(node: Node) -> Node:
    """Return ``node`` as ``kubectl uncordon`` leaves it."""
    return replace(node, unschedulable=False, taints=tuple(t for t in node.taints if t.key != CORDON.key))


def tolerating(constraints: Constraints, taint: Taint | None) -> Constraints:
    """Return ``constraints`` with a toleration of just ``taint``."""
    if taint is None:
        return constraints
    added = Toleration(taint.key, "Equal", taint.value, taint.effect)
    return replace(constraints, tolerations=(*constraints.tolerations, added))
