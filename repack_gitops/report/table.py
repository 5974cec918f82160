"""The terminal's view of ``repack plan``."""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.report import table_parts as parts
from repack_gitops.report.console import printed
from repack_gitops.report.table_budgets import budgets_part
from repack_gitops.report.table_frontier import frontier_part
from repack_gitops.report.table_restarts import restarts_part
from repack_gitops.report.terminal import Look


def plan_table(
    evaluation: Evaluation,
    spec: RunTemplateSpec,
    snapshot: ClusterSnapshot | None = None,
    *,
    width: int = 100,
    colour: bool = False,
    unicode: bool = True,
    next_steps: Sequence[str] = (),
) -> str:
    """Return the plan for a terminal; the same arguments give the same bytes, whatever the environment.

    Parameters
    ----------
    spec
        The run's spec: its threshold and budget.
    snapshot
        Where given, freed nodes and receivers show a bar of their cards.
    width
        Columns; below 60 the text is laid out for 60 and wraps.
    unicode
        Whether the terminal shows more than ASCII.
    next_steps
        Commands to offer after a recommended plan; the caller knows its own.
    """
    look = Look(width=max(width, 60), unicode=unicode)
    found = [
        parts.verdict_part(evaluation, spec, look),
        parts.numbers_part(evaluation, spec, look),
        parts.freed_part(evaluation, snapshot, look),
        parts.disruption_part(evaluation, look),
        restarts_part(evaluation, look),
        budgets_part(evaluation, look),
        frontier_part(evaluation, look),
        parts.stays_part(evaluation, look),
        parts.warnings_part(evaluation, look),
        parts.hints_part(evaluation, look),
        parts.next_part(evaluation, next_steps, look),
    ]
    return printed([part for part in found if part], look, colour=colour)
