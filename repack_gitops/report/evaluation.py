"""An evaluation as Markdown, for `repack plan -o markdown`: the plan's sections without a proposal around them."""

from __future__ import annotations

from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.model.status import verdict_message
from repack_gitops.report import proposal_budgets as budgets
from repack_gitops.report import proposal_plan as plan
from repack_gitops.report.frontier import TITLE, axes
from repack_gitops.report.markup import code, prose
from repack_gitops.report.proposal_frontier import frontier
from repack_gitops.report.words import staying_groups


def evaluation_markdown(evaluation: Evaluation, spec: RunTemplateSpec) -> str:
    """Return the evaluation as a Markdown document; same evaluation, same bytes."""
    threshold = spec.goals[0].min_frag_improvement_percent
    sections = [f"# Repack evaluation: {code(evaluation.resource)}", prose(verdict_message(evaluation, threshold=threshold))]
    sections += [plan.optimality(evaluation)] if evaluation.optimality else []
    if evaluation.steps:
        sections += ["## What is freed", plan.freed(evaluation), "## Who is disturbed", plan.disturbed(evaluation)]
        if evaluation.disruption_budgets:
            sections += [f"## {budgets.TITLE}", budgets.disruption_budgets(evaluation)]
        sections += ["## Every move", plan.moves(evaluation)]
    if axes(evaluation):
        sections += [f"## {TITLE}", frontier(evaluation)]
    if evaluation.stays:
        sections += ["## Why other nodes stay", plan.stays(staying_groups(evaluation))]
    if evaluation.warnings:
        sections += ["## Warnings", plan.warnings(evaluation.warnings)]
    return "\n\n".join(sections) + "\n"
