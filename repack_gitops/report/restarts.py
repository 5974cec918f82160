"""What restarts beyond the moves, and what retries the plan spends: the same words in every view."""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.model.impact import WorkloadRestart
from repack_gitops.model.status import counted
from repack_gitops.report.words import workload


def restarts_first(found: Sequence[WorkloadRestart]) -> tuple[WorkloadRestart, ...]:
    """Return workloads as a reviewer reads them: those left without a retry, then most pods restarting, then by name."""
    return tuple(sorted(found, key=lambda r: (not r.last_retry, -r.outside_moves, -r.restarting_pods, restarting(r))))


def restarts_sentence(found: Sequence[WorkloadRestart]) -> str:
    """Return one or two sentences on pods that restart though they do not move, and on retries that run out."""
    outside, last = sum(r.outside_moves for r in found), sum(1 for r in found if r.last_retry)
    beyond = "Only pods that move restart."
    if outside:
        verb = "restarts though no move names it" if outside == 1 else "restart though no move names them"
        beyond = f"{counted(outside, 'pod')} {verb}."
    if not last:
        return beyond
    if last == 1:
        return f"{beyond} 1 workload is left without a retry: its next failure ends it."
    return f"{beyond} {last:,} workloads are left without a retry: their next failure ends them."


def restarting(restart: WorkloadRestart) -> str:
    """Return what people call the workload."""
    return workload(restart.owner, (restart.namespace, ""))


def retries(restart: WorkloadRestart) -> str:
    """Return what is left of the workload's retries after the plan."""
    if restart.retries_left is None:
        return "not counted"
    return "none" if restart.last_retry else f"{restart.retries_left:,}"
