"""What planning depends on besides the snapshot and the run's spec."""

from __future__ import annotations

from dataclasses import dataclass, field

from repack_gitops.model.cluster import Key
from repack_gitops.model.safeguards import Safeguards

#: How plans are searched; the first is the default.
STRATEGIES = ("Optimal", "Drain")
#: Those that can tell what less disruption would free.
FRONTIER_STRATEGIES = frozenset({"Optimal"})


@dataclass(frozen=True, slots=True)
class Envelope:
    """What an approval allows at most; None does not restrict.

    Attributes
    ----------
    pod_groups, nodes
        The only PodGroups that may move, and the only nodes that may be emptied.
    cards
        Most cards moved in total.
    """

    pod_groups: frozenset[Key] | None = None
    nodes: frozenset[str] | None = None
    cards: int | None = None


@dataclass(frozen=True, slots=True)
class PlannerOptions:
    """Options of a planning call.

    Attributes
    ----------
    strategy
        One of ``STRATEGIES``.
    scheduler_names
        Schedulers whose pods may be moved.
    forbidden_namespaces, forbidden_owner_kinds
        Guardrails: pods there, or owned by such a kind, never move.
    enforce_budgets
        Whether a whole plan must keep within the disruptions that PodDisruptionBudgets allow now.
    allow_cascades
        Whether pods may move whose eviction restarts more of their workload than themselves.
    safeguards
        What stays beyond that.
    frontier
        Whether to work out what less disruption would free, too (Optimal only).
    """

    strategy: str = STRATEGIES[0]
    scheduler_names: frozenset[str] = frozenset({"volcano"})
    envelope: Envelope = Envelope()
    forbidden_namespaces: frozenset[str] = frozenset()
    forbidden_owner_kinds: frozenset[str] = frozenset()
    enforce_budgets: bool = False
    allow_cascades: bool = False
    safeguards: Safeguards = field(default_factory=Safeguards)
    frontier: bool = False
