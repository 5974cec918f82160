"""NodeResourcesFit as Volcano compares: every resource the pod asks for must be idle; a missing one counts as zero.

Volcano always compares CPU and memory, with zero where the pod asks for none: a node that is charged more of them than it
has takes no pod at all. kube-scheduler would.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Amounts
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.quantity import format_quantity

ALWAYS_COMPARED = ("cpu", "memory")


def why_not(request: Amounts, idle: Amounts) -> Reason | None:
    """Return the first resource that falls short, or None."""
    for name in sorted({*request, *ALWAYS_COMPARED}):
        wanted, have = request.get(name, 0), idle.get(name, 0)
        if wanted > have:
            return Reason(Code.NODE_RESOURCES, f"{name}: needs {format_quantity(wanted)}, {_shown(have)}")
    return None


def overdrawn(idle: Amounts) -> bool:
    """Tell whether a node with ``idle`` left takes no pod whatsoever."""
    return any(idle.get(name, 0) < 0 for name in ALWAYS_COMPARED)


def _shown(have: int) -> str:
    return f"idle {format_quantity(have)}" if have >= 0 else f"idle 0, charged {format_quantity(-have)} more than the node has"
