"""NodePorts: no two pods on a node may hold the same host port, protocol and overlapping address."""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.model.cluster import Constraints, HostPort
from repack_gitops.model.plan import Code, Reason


def why_not(constraints: Constraints, taken: Iterable[HostPort]) -> Reason | None:
    """Return the first host port of the pod that conflicts with the ports ``taken`` on the node, or None."""
    if not constraints.host_ports:
        return None
    held = tuple(taken)
    for port in constraints.host_ports:
        if any(port.conflicts(other) for other in held):
            return Reason(Code.NODE_PORTS, f"host port {port.port}/{port.protocol} is taken")
    return None
