"""Which limits hold over a whole plan, by the options."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.options import PlannerOptions
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.quotas import QuotaRule
from repack_gitops.planner.safety_caps import cap_rules


def quota_rules(snapshot: ClusterSnapshot, movability: Movability, options: PlannerOptions) -> tuple[QuotaRule, ...]:
    """Return the rules in force; every one costs a call per victim."""
    enforced = (movability.budgets.quotas,) if options.enforce_budgets else ()
    return (movability.cascades.quotas, *enforced, *cap_rules(snapshot, options.safeguards))
