"""How good a plan is, in plain words."""

from __future__ import annotations

from repack_gitops.model.plan import Found, Optimality
from repack_gitops.model.status import counted

#: What is proven of a plan, and what is open about it, level by level of the objective after nodes freed.
_LEVELS = (
    ("moves the fewest PodGroups", "fewer PodGroups would do"),
    ("breaches the fewest", "fewer of them could be breached"),
    ("damages the fewest cards", "fewer cards could be damaged"),
    ("moves the fewest cards", "fewer cards could move"),
    ("moves the fewest pods", "fewer pods could move"),
)

STOPPED = "The search was stopped: another run may find a better plan."


def optimality_sentence(optimality: Optimality) -> str:
    """Return what is proven about the plan, and what is open."""
    stopped = "" if optimality.reproducible else f" {STOPPED}"
    return _proven(optimality) + stopped


def _proven(optimality: Optimality) -> str:
    if optimality.gap:
        return f"At most {counted(optimality.upper_bound, 'node')} could be freed: {optimality.gap:,} more than found."
    if not optimality.freed:
        return "Proven: within the run's limits no plan frees a node."
    if optimality.proven:
        return "Proven: within the run's limits no plan frees more, and none that frees as many disturbs less."
    return _up_to(len(optimality.settled) - 1)


def _up_to(level: int) -> str:
    """Each level counts only among plans that are as good in all levels before it, hence "then"."""
    if not 0 < level < len(_LEVELS):
        return "Proven: within the run's limits no plan frees more. Whether as many can be freed for less is open."
    best = ", then ".join(known for known, _ in _LEVELS[:level])
    more = f"Whether {_LEVELS[level][1]} is open."
    return f"Proven: within the run's limits no plan frees more, and of those that free as many this one {best}. {more}"


def found_sentence(optimality: Optimality) -> str:
    """Return what each strategy found; empty where only one ran."""
    if len(optimality.found) < 2:
        return ""
    when = "Found" if optimality.reproducible else "Found before the stop"
    return f"{when}: " + "; ".join(map(_found, optimality.found)) + f". Kept: {optimality.strategy}."


def _found(found: Found) -> str:
    groups, cards = counted(found.disruption.pod_groups, "PodGroup"), counted(found.disruption.moved_cards, "card")
    return f"{found.strategy} {counted(found.freed, 'node')} for {groups} and {cards}"
