"""NodeResourcesFit as Volcano compares: every resource the pod asks for must be idle; a missing one counts as zero."""

from __future__ import annotations

from repack_gitops.model.cluster import Amounts
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.quantity import format_quantity


def why_not(request: Amounts, idle: Amounts) -> Reason | None:
    """Return the first resource that falls short, or None."""
    for name in sorted(request):
        if request[name] > idle.get(name, 0):
            have = format_quantity(max(idle.get(name, 0), 0))
            return Reason(Code.NODE_RESOURCES, f"{name}: needs {format_quantity(request[name])}, idle {have}")
    return None
