"""How good a plan is, in plain words."""

from __future__ import annotations

from repack_gitops.model.plan import Found, Optimality
from repack_gitops.model.status import counted


def optimality_sentence(optimality: Optimality) -> str:
    """Return what is proven about the plan."""
    if optimality.proven and not optimality.freed:
        return "Proven: no plan frees a node."
    if optimality.proven:
        return "Proven: no plan frees more, and none that frees as many disturbs less."
    if not optimality.gap:
        return "Proven: no plan frees more. Whether as many can be freed for less is open."
    return f"At most {counted(optimality.upper_bound, 'node')} could be freed: {optimality.gap:,} more than found."


def found_sentence(optimality: Optimality) -> str:
    """Return what each strategy found; empty where only one ran."""
    if len(optimality.found) < 2:
        return ""
    return "Found: " + "; ".join(map(_found, optimality.found)) + f". Kept: {optimality.strategy}."


def _found(found: Found) -> str:
    groups, cards = counted(found.disruption.pod_groups, "PodGroup"), counted(found.disruption.moved_cards, "card")
    return f"{found.strategy} {counted(found.freed, 'node')} for {groups} and {cards}"
