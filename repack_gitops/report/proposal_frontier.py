"""The part of a proposal that tells what less disruption would free."""

from __future__ import annotations

from repack_gitops.model.plan import Evaluation
from repack_gitops.report.frontier import Axis, Row, axes, frontier_sentence, pictured, shown_rows, telling_rows
from repack_gitops.report.markup import details, image, table

PICTURE_FILE = "frontier.svg"
_PICTURE = "Nodes freed by how many PodGroups and cards may move, and where this plan stands"


def frontier(evaluation: Evaluation, picture: str = "") -> str:
    """Return what stands out, the picture at the address ``picture``, and a table per measure; empty where nothing is known."""
    found = axes(evaluation)
    if not found:
        return ""
    parts = [frontier_sentence(evaluation), _picture(evaluation, picture), *map(_table, found)]
    return "\n\n".join(part for part in parts if part)


def frontier_briefly(evaluation: Evaluation, picture: str = "") -> str:
    """Return the same with all but the sentence collapsed."""
    found = axes(evaluation)
    if not found:
        return ""
    below = "\n\n".join(part for part in (_picture(evaluation, picture), *map(_table, found)) if part)
    folded = details("Nodes freed by how much may move", below)
    return "\n\n".join(part for part in (frontier_sentence(evaluation), folded) if part)


def _picture(evaluation: Evaluation, address: str) -> str:
    return image(_PICTURE, address) if address and pictured(evaluation) else ""


def _table(axis: Axis) -> str:
    header = [
        f"{axis.title}, at most:",
        "Nodes freed:",
        "Best possible",
        "PodGroups:",
        "Cards:",
        "Pods:",
        "Below minAvailable:",
        "",
    ]
    rows, before, shown = [], 0, shown_rows(axis)
    for row in shown:
        rows.append(_cells(row, row.freed - before))
        before = row.freed
    cut = "Limits between these are in `status.plan.frontier`." if len(shown) < len(telling_rows(axis)) else ""
    return "\n\n".join(part for part in (table(header, rows), cut) if part)


def _cells(row: Row, gained: int) -> tuple[str, ...]:
    d = row.disruption
    more = f" (+{gained:,})" if 0 < gained < row.freed else ""
    numbers = (d.pod_groups, d.moved_cards, d.moved_pods, d.breaches)
    cells = (f"{row.limit:,}", f"{row.freed:,}{more}", row.bound, *(f"{n:,}" for n in numbers))
    return (*(f"**{c}**" for c in cells), "**this plan**") if row.present else (*cells, "")
