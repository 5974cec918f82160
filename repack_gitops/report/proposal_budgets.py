"""The part of a proposal that tells what PodDisruptionBudgets will make of the plan."""

from __future__ import annotations

from repack_gitops.model.budget_forecast import BudgetForecast
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.report.budget_words import TITLE, budgets_sentence, holds_up, worst_budgets_first
from repack_gitops.report.markup import code, prose, table

__all__ = ["TITLE", "disruption_budgets"]


def disruption_budgets(evaluation: Evaluation, most: int | None = None) -> str:
    """Return every budget that selects a moved pod, worst first; at most ``most`` of them."""
    found = worst_budgets_first(evaluation.disruption_budgets)
    if not found:
        return ""
    rows = table(["Budget", "Needed:", "Allowed now:", "Verdict", "Why"], [_row(b) for b in found[:most]])
    rest = len(found) - len(found[:most])
    more = [f"And {counted(rest, 'PodDisruptionBudget')} more in plan.md."] if rest else []
    return "\n\n".join((budgets_sentence(found), rows, *more))


def _row(budget: BudgetForecast) -> tuple[str, ...]:
    verdict = f"⚠️ **{budget.verdict.value}**" if holds_up(budget) else budget.verdict.value
    name = code(f"{budget.namespace}/{budget.name}")
    return (name, f"{budget.needed:,}", f"{budget.allowed:,}", verdict, prose(budget.message))
