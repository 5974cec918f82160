"""What every view says alike of PodDisruptionBudgets."""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.model.budget_forecast import BudgetForecast, BudgetVerdict
from repack_gitops.model.status import counted

TITLE = "PodDisruptionBudgets"
_ORDER = (BudgetVerdict.NEVER, BudgetVerdict.STALE, BudgetVerdict.WAITS, BudgetVerdict.ENOUGH, BudgetVerdict.EXEMPT)


def worst_budgets_first(budgets: Sequence[BudgetForecast]) -> list[BudgetForecast]:
    """Return budgets as a reviewer reads them: what holds the plan up most first, then by name."""
    return sorted(budgets, key=lambda b: (_ORDER.index(b.verdict), b.allowed - b.needed, b.namespace, b.name))


def holds_up(budget: BudgetForecast) -> bool:
    """Tell whether the plan cannot simply go ahead under ``budget``."""
    return budget.verdict in (BudgetVerdict.NEVER, BudgetVerdict.STALE, BudgetVerdict.WAITS)


def budgets_sentence(budgets: Sequence[BudgetForecast]) -> str:
    """Return one sentence on whether the plan can be executed without waiting for a budget."""
    held = sum(1 for b in budgets if holds_up(b))
    if not held:
        return "Every PodDisruptionBudget concerned allows what the plan needs now."
    verb = "allows" if held == 1 else "allow"
    return f"{held:,} of {counted(len(budgets), 'PodDisruptionBudget')} {verb} less than the plan needs now."
