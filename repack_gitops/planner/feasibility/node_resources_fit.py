"""NodeResourcesFit as Volcano compares: every resource the pod asks for must be idle; a missing one counts as zero.

Cpu and memory are compared even where the pod asks for none: a node that is charged more of them than it has takes nobody
under Volcano. Kubernetes' own scheduler looks at what is asked for only.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Amounts
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.quantity import format_quantity

#: Compared whether asked for or not.
ALWAYS = frozenset({"cpu", "memory"})


def why_not(request: Amounts, idle: Amounts) -> Reason | None:
    """Return the first resource that falls short, or None."""
    for name in sorted(ALWAYS.union(request)):
        asked, have = request.get(name, 0), idle.get(name, 0)
        if asked > have:
            room = f"idle {format_quantity(have)}" if have >= 0 else f"overcommitted by {format_quantity(-have)}"
            return Reason(Code.NODE_RESOURCES, f"{name}: needs {format_quantity(asked)}, {room}")
    return None
