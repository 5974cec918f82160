"""The part of the terminal's view that tells what PodDisruptionBudgets will make of the plan."""

from __future__ import annotations

from rich.text import Text

from repack_gitops.model.budget_forecast import BudgetForecast
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.report.budget_words import TITLE, budgets_sentence, holds_up, worst_budgets_first
from repack_gitops.report.terminal import Look, columns

_BUDGETS = 10
_INDENT = 2


def budgets_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return the budgets that select moved pods, worst first, and why those that hold the plan up do."""
    found = worst_budgets_first(evaluation.disruption_budgets)
    if not found:
        return []
    shown = found if len(found) <= _BUDGETS + 3 else found[:_BUDGETS]
    held = any(holds_up(b) for b in found)
    sentence = look.text(budgets_sentence(found), "yellow" if held else "green")
    titles = ("Budget", "needed", "allowed", "")
    rows = [tuple(look.text(t, "dim") for t in titles), *(_row(b, look) for b in shown)]
    table = columns(rows, look, right=frozenset({1, 2}), flexible=0, indent=_INDENT)
    reasons = [line for b in shown if holds_up(b) for line in look.paragraph(look.text(_why(b), "dim"), 4, "  !")]
    rest = len(found) - len(shown)
    more = [look.text(f"and {counted(rest, 'more PodDisruptionBudget')}", indent=_INDENT)] if rest else []
    return [look.text(TITLE, "bold"), *look.paragraph(sentence, _INDENT), *table, *more, *reasons]


def _row(budget: BudgetForecast, look: Look) -> tuple[Text, ...]:
    style = "bold yellow" if holds_up(budget) else "green"
    cells = (f"{budget.namespace}/{budget.name}", f"{budget.needed:,}", f"{budget.allowed:,}")
    return (*(look.text(c) for c in cells), look.text(budget.verdict.value, style))


def _why(budget: BudgetForecast) -> str:
    return f"{budget.namespace}/{budget.name}: {budget.message}"
