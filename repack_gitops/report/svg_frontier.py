"""frontier.svg: nodes freed against disruption, a panel per measure; narrow, so that it can be read on a telephone."""

from __future__ import annotations

from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.report.frontier import TITLE, Axis, Row, frontier_sentence, pictured, shown_rows
from repack_gitops.report.svg_panel import TEXT, WIDTH, Panel, circle, dashes, draw_panel, has_ceiling
from repack_gitops.report.svg_paper import document, write

_HEAD, _FOOT = 66, 42
#: Heights of the first panel and of those below it, titles and ticks not counted.
_FIRST, _OTHERS = 170, 110
_ABOVE, _BELOW = 42, 46


def frontier_svg(evaluation: Evaluation) -> str:
    """Return the picture, the same for the same input; empty where no measure has points enough."""
    found = pictured(evaluation)
    if not found:
        return ""
    body, top = _head(found), _HEAD
    for i, axis in enumerate(found):
        panel = Panel.of(axis, top + _ABOVE, _OTHERS if i else _FIRST)
        body += draw_panel(panel)
        top = panel.base + _BELOW
    body += _key(found, top + 18)
    description = " ".join(filter(None, (frontier_sentence(evaluation), *map(_told, found))))
    return document(WIDTH, top + _FOOT, title=_title(found), description=description, body=body, chart=True)


def _title(found: tuple[Axis, ...]) -> str:
    return "Nodes freed by how many " + " and ".join(f"{axis.noun}s" for axis in found) + " may move"


def _head(found: tuple[Axis, ...]) -> list[str]:
    plan = next((axis.present for axis in found if axis.present), None)
    said = _subtitle(plan) if plan else "no plan is recommended"
    return [write(20, 32, TITLE, size=18, bold=True), write(20, 54, said, shade_name="dim", size=TEXT)]


def _subtitle(plan: Row) -> str:
    groups, cards = counted(plan.disruption.pod_groups, "PodGroup"), counted(plan.disruption.moved_cards, "card")
    return f"this plan: {counted(plan.freed, 'node')} for {groups} and {cards}"


# ---- the key, and the picture in words ----
def _key(found: tuple[Axis, ...], y: int) -> list[str]:
    """What the marks mean; nothing is drawn that no panel shows."""
    rows = [r for axis in found for r in axis.rows if not r.present]
    entries = [
        ("dot", "proven best", any(r.proven for r in rows)),
        ("open", "best found", not all(r.proven for r in rows)),
        ("most", "no plan lies above", any(map(has_ceiling, found))),
    ]
    drawn: list[str] = []
    for i, (mark, text) in enumerate((mark, text) for mark, text, shown in entries if shown):
        x = 28 + 112 * i
        drawn += [_mark(mark, x, y), write(x + 14, y + 4.5, text, shade_name="dim")]
    return drawn


def _mark(name: str, x: int, y: int) -> str:
    return dashes(f"M{x - 8} {y}h16") if name == "most" else circle(name, x, y, 4)


def _told(axis: Axis) -> str:
    rows = [f"{row.limit:,} free {counted(row.freed, 'node')}{_remark(row)}" for row in shown_rows(axis)]
    return f"{axis.title}, at most: " + "; ".join(rows) + "."


def _remark(row: Row) -> str:
    said = [*([] if row.proven else [row.bound]), *(["this plan"] if row.present else [])]
    return f" ({', '.join(said)})" if said else ""
