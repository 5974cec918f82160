"""A NotReady node takes no pods from us, even where the taints that usually say so are missing."""

from __future__ import annotations

from repack_gitops.model.cluster import Node
from repack_gitops.model.plan import Code, Reason


def why_not(node: Node) -> Reason | None:
    """Return why ``node`` cannot run anything now, or None."""
    return None if node.ready else Reason(Code.NODE_NOT_READY, f"node {node.name} is not Ready")
