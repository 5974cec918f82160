"""The part of the terminal's view that tells what less disruption would free."""

from __future__ import annotations

from rich.text import Text

from repack_gitops.model.plan import Evaluation
from repack_gitops.report.frontier import TITLE, Axis, Row, axes, frontier_sentence, shown_rows
from repack_gitops.report.terminal import Look, columns

_INDENT = 2


def frontier_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return what stands out, and a table per measure of disruption."""
    found = axes(evaluation)
    if not found:
        return []
    sentence = frontier_sentence(evaluation)
    said = look.paragraph(look.text(sentence), _INDENT) if sentence else []
    tables = [line for i, axis in enumerate(found) for line in ([Text()] if i else []) + _table(axis, look)]
    return [look.text(TITLE, "bold"), *said, *tables]


def _table(axis: Axis, look: Look) -> list[Text]:
    titles = (f"{axis.noun}s <=", "freed", "bound", "PodGroups", "cards", "breaches", "")
    rows = [tuple(look.text(t, "dim") for t in titles), *(_row(row, look) for row in shown_rows(axis))]
    return columns(rows, look, right=frozenset({0, 1, 3, 4, 5}), flexible=2, indent=_INDENT, optional=True)


def _row(row: Row, look: Look) -> tuple[Text, ...]:
    d = row.disruption
    style = "bold" if row.present else ""
    bound = look.text(row.bound, "green" if row.proven else "yellow")
    numbers = (d.pod_groups, d.moved_cards, d.breaches)
    return (
        look.text(f"{row.limit:,}", style),
        look.text(f"{row.freed:,}", style),
        bound,
        *(look.text(f"{n:,}", style) for n in numbers),
        look.text("this plan" if row.present else "", "bold cyan"),
    )
