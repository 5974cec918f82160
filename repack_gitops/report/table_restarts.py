"""The terminal's view of what restarts, a list of lines; an empty list is left out."""

from __future__ import annotations

from rich.text import Text

from repack_gitops.model.impact import WorkloadRestart
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.report.restarts import restarting, restarts_first, restarts_sentence, retries
from repack_gitops.report.terminal import Look, columns

_WORKLOADS = 15
_INDENT = 2


def restarts_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return what restarts beyond the moves, and which retries are spent."""
    found = restarts_first(evaluation.restarts)
    if not found:
        return []
    shown = found if len(found) <= _WORKLOADS + 3 else found[:_WORKLOADS]
    titles = ("Workload", "unit", "moved", "restart", "unmoved", "retries left")
    rows = [tuple(look.text(t, "dim") for t in titles), *(_row(r, look) for r in shown)]
    table = columns(rows, look, right=frozenset(range(2, 6)), flexible=0, indent=_INDENT)
    sentence = look.text(restarts_sentence(found), "red" if any(r.last_retry for r in found) else "yellow")
    rest = len(found) - len(shown)
    more = [look.text(f"and {counted(rest, 'workload')} more", indent=_INDENT)] if rest else []
    return [look.text("What restarts", "bold"), *look.paragraph(sentence, _INDENT), *table, *more]


def _row(restart: WorkloadRestart, look: Look) -> tuple[Text, ...]:
    numbers = (restart.moved_pods, restart.restarting_pods, restart.outside_moves)
    left = look.text(retries(restart), "bold red" if restart.last_retry else "")
    return (look.text(restarting(restart)), look.text(restart.unit), *(look.text(f"{n:,}") for n in numbers), left)
