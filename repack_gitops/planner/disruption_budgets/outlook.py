"""What a plan asks of one PodDisruptionBudget, and the verdict on it in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from repack_gitops.model.budget_forecast import BudgetForecast, BudgetVerdict
from repack_gitops.model.cluster import PodDisruptionBudget
from repack_gitops.planner.disruption_budgets.rules import allowed_now


@dataclass(slots=True)
class Demand:
    """What a plan has asked of one budget so far."""

    budget: PodDisruptionBudget
    moved: int = 0
    needed: int = 0
    #: The step, as node and number from 1, that first asks for more than is left.
    dry_at: tuple[str, int] | None = None
    blocked: str = ""
    #: Disruptions needed at once, by the node that is emptied.
    by_node: Counter[str] = field(default_factory=Counter)

    @property
    def dry(self) -> bool:
        """Whether more is asked than is left."""
        return self.needed > allowed_now(self.budget)

    def take(self, step: tuple[str, int]) -> None:
        """Count one disruption at ``step``."""
        self.needed += 1
        self.by_node[step[0]] += 1
        if self.dry and self.dry_at is None:
            self.dry_at = step

    def block(self, why: str) -> None:
        """Remember the first reason why some pod can never go."""
        self.blocked = self.blocked or why


def outlook(demand: Demand) -> BudgetForecast:
    """Return the verdict on a budget after the whole plan has asked."""
    budget, verdict = demand.budget, _verdict(demand)
    return BudgetForecast(
        namespace=budget.namespace,
        name=budget.name,
        moved=demand.moved,
        needed=demand.needed,
        allowed=allowed_now(budget),
        verdict=verdict,
        message=_message(demand, verdict),
        runs_dry_at=demand.dry_at[0] if demand.dry_at else "",
    )


def _verdict(demand: Demand) -> BudgetVerdict:
    if demand.blocked:
        return BudgetVerdict.NEVER
    if not demand.needed:
        return BudgetVerdict.EXEMPT
    if not demand.budget.observed and not demand.budget.sync_failure:
        return BudgetVerdict.STALE
    return BudgetVerdict.WAITS if demand.dry else BudgetVerdict.ENOUGH


def _message(demand: Demand, verdict: BudgetVerdict) -> str:
    match verdict:
        case BudgetVerdict.NEVER:
            return f"some of its pods can never be evicted: {demand.blocked}"
        case BudgetVerdict.EXEMPT:
            return "the pods of the plan that it selects do not run or are not Ready, and go free of charge"
        case BudgetVerdict.STALE:
            return "its status is about an older spec; evictions wait until its controller has caught up"
        case BudgetVerdict.ENOUGH:
            return "it allows all of them now"
    return "; ".join((_wait(demand), *_causes(demand.budget), *_at_once(demand)))


def _wait(demand: Demand) -> str:
    node, number = demand.dry_at or ("", 0)
    return f"runs dry at step {number} (node {node}); the rest wait until replacements are Ready"


def _causes(budget: PodDisruptionBudget) -> tuple[str, ...]:
    if budget.sync_failure:
        return (f"its controller fails now: {budget.sync_failure}",)
    if budget.disruptions_allowed < 0:
        return (f"its status allows {budget.disruptions_allowed}, which is answered with 403 until its controller corrects it",)
    if budget.current_healthy < budget.desired_healthy:
        return (f"only {budget.current_healthy} of the {budget.desired_healthy} pods that it demands are healthy now",)
    return ()


def _at_once(demand: Demand) -> tuple[str, ...]:
    """A node is emptied as a whole: one that needs more than the budget allows in full health would wait for ever."""
    most = demand.budget.expected_pods - demand.budget.desired_healthy
    if most <= 0 or demand.budget.sync_failure:
        return ()
    nodes = sorted(node for node, count in demand.by_node.items() if count > most)
    if not nodes:
        return ()
    return (f"node {nodes[0]} needs {demand.by_node[nodes[0]]} at once and it never allows more than {most}",)
