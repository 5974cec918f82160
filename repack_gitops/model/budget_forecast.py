"""What a plan asks of PodDisruptionBudgets, and what they will answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from repack_gitops.model.cluster import Key


class BudgetVerdict(StrEnum):
    """How far one PodDisruptionBudget lets a plan go."""

    #: It allows all that the plan needs of it, now.
    ENOUGH = "Enough"
    #: It allows less than that now; the rest waits until replacements are Ready.
    WAITS = "Waits"
    #: Its status is about an older spec; evictions wait for its controller.
    STALE = "Stale"
    #: It selects pods that move, but none of them counts against it: they do not run, or are not Ready.
    EXEMPT = "Exempt"
    #: Some pod that moves can never be evicted under it.
    NEVER = "Never"


class PodVerdict(StrEnum):
    """What the Eviction API will answer for one pod, once the pods before it in the plan are evicted and none has returned."""

    EVICTABLE = "Evictable"
    WAITS_FOR_BUDGET = "WaitsForBudget"
    BLOCKED_BY_SEVERAL = "BlockedBySeveral"
    BLOCKED_FOR_GOOD = "BlockedForGood"


@dataclass(frozen=True, slots=True)
class BudgetForecast:
    """One PodDisruptionBudget that selects a pod of the plan.

    Attributes
    ----------
    moved
        Pods of the plan that it selects.
    needed
        Those of them that count against it.
    allowed
        Disruptions it allows now; 0 while its status is stale.
    runs_dry_at
        The node at which the plan first asks for more than is left; empty if it never does.
    message
        The verdict in words.
    """

    namespace: str
    name: str
    moved: int
    needed: int
    allowed: int
    verdict: BudgetVerdict
    message: str
    runs_dry_at: str = ""


@dataclass(frozen=True, slots=True)
class PodForecast:
    """One pod of the plan; ``budgets`` are all that select it, sorted."""

    key: Key
    node: str
    verdict: PodVerdict
    budgets: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Every budget concerned, sorted by namespace and name, and every pod in the order of execution."""

    budgets: tuple[BudgetForecast, ...]
    pods: tuple[PodForecast, ...]
