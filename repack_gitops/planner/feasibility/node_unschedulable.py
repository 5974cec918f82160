"""NodeUnschedulable: a cordoned node takes no new pods, unless the pod tolerates the cordon's taint."""

from __future__ import annotations

from repack_gitops.model.cluster import Constraints, Node, Taint
from repack_gitops.model.plan import Code, Reason

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def why_not(constraints: Constraints, node: Node) -> Reason | None:
    """Return why ``node`` is closed to the pod, or None."""
    if not node.unschedulable or any(t.tolerates(CORDON) for t in constraints.tolerations):
        return None
    return Reason(Code.NODE_UNSCHEDULABLE, f"node {node.name} is cordoned")
