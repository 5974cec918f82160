"""All filters whose answer does not depend on the plan, in the scheduler's order."""

from __future__ import annotations

from repack_gitops.model.cluster import Constraints, Node
from repack_gitops.model.plan import Reason
from repack_gitops.planner.feasibility import (
    inter_pod_affinity,
    node_affinity,
    node_ready,
    node_unschedulable,
    taint_toleration,
)


def static_reason(constraints: Constraints, closed: frozenset[inter_pod_affinity.Domain], node: Node) -> Reason | None:
    """Return the first filter that closes ``node`` whatever the plan does, or None; the scheduler's order."""
    return (
        node_ready.why_not(node)
        or node_unschedulable.why_not(constraints, node)
        or node_affinity.why_not(constraints, node)
        or taint_toleration.why_not(constraints, node)
        or inter_pod_affinity.why_not(closed, node)
    )
