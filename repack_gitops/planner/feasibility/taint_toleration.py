"""TaintToleration: NoSchedule and NoExecute taints must be tolerated; PreferNoSchedule only lowers a score."""

from __future__ import annotations

from repack_gitops.model.cluster import Constraints, Node
from repack_gitops.model.plan import Code, Reason

HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


def why_not(constraints: Constraints, node: Node) -> Reason | None:
    """Return the first taint of ``node`` that the pod does not tolerate, or None."""
    for taint in node.taints:
        if taint.effect in HARD_EFFECTS and not any(t.tolerates(taint) for t in constraints.tolerations):
            value = f"={taint.value}" if taint.value else ""
            return Reason(Code.TAINT_TOLERATION, f"taint {taint.key}{value}:{taint.effect} is not tolerated")
    return None
