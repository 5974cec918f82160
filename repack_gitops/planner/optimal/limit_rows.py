"""The hard limits as rows: maxPerRun and every quota in force."""

from __future__ import annotations

from repack_gitops.planner.optimal.program import Program
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.quotas import Quota, draws


def add_quotas(program: Program, problem: Problem, emptied: dict[int, int]) -> None:
    """Add what the victims of every node draw; ``emptied`` are columns by candidate."""
    if not problem.quota_rules:
        return
    rows: dict[Quota, dict[int, int]] = {}
    for node, column in emptied.items():
        for quota, amount in draws(problem.quota_rules, (v.pod for v in problem.victims[node])).items():
            rows.setdefault(quota, {})[column] = amount
    for quota, row in rows.items():
        limit = max(quota.limit, 0)
        if sum(row.values()) > limit:
            program.at_most(row, limit)
