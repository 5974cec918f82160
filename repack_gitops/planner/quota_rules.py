"""Which limits hold over a whole plan, by the options."""

from __future__ import annotations

from repack_gitops.model.options import PlannerOptions
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets
from repack_gitops.planner.quotas import QuotaRule


def quota_rules(budgets: DisruptionBudgets, options: PlannerOptions) -> tuple[QuotaRule, ...]:
    """Return the rules in force; every one costs a call per victim."""
    rules: list[QuotaRule] = []
    if options.enforce_budgets:
        rules.append(budgets.quotas)
    return tuple(rules)
