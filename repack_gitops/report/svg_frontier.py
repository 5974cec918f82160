"""frontier.svg: nodes freed against disruption, a panel per measure; narrow, so that it can be read on a telephone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.report.frontier import Axis, Row, frontier_sentence, pictured, shown_rows
from repack_gitops.report.svg_paper import document, number, shade, write

WIDTH = 400
_LEFT, _RIGHT = 48, 378
_HEAD, _FOOT = 66, 42
#: Heights of the first panel and of those below it, titles and ticks not counted.
_FIRST, _OTHERS = 170, 110
_ABOVE, _BELOW = 42, 46
_TICKS = 5
#: With more points than this, dots would hide the line.
_MOST_DOTS = 40
_TEXT = 13


def frontier_svg(evaluation: Evaluation) -> str:
    """Return the picture, the same for the same input; empty where no measure has points enough."""
    found = pictured(evaluation)
    if not found:
        return ""
    body, top = _head(found), _HEAD
    for i, axis in enumerate(found):
        panel = _Panel.of(axis, top + _ABOVE, _OTHERS if i else _FIRST)
        body += [_area(panel), *_frame(panel), *_guides(panel), *_curve(panel), *_dots(panel), *_plan(panel)]
        top = panel.base + _BELOW
    body += _key(found, top + 18)
    description = " ".join(filter(None, (frontier_sentence(evaluation), *map(_told, found))))
    return document(WIDTH, top + _FOOT, title=_title(found), description=description, body=body, chart=True)


@dataclass(frozen=True, slots=True)
class _Panel:
    """Where an axis is drawn, and its scale: ``across`` and ``up`` are the largest numbers on it."""

    axis: Axis
    top: int
    base: int
    across: int
    up: int

    @staticmethod
    def of(axis: Axis, top: int, height: int) -> _Panel:
        across = max(*(r.limit for r in axis.rows), 1)
        return _Panel(axis, top, top + height, across, max(*(r.most for r in axis.rows), 1))

    def x(self, limit: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * limit / self.across

    def y(self, nodes: float) -> float:
        return self.base - (self.base - self.top) * nodes / self.up


def _title(found: tuple[Axis, ...]) -> str:
    return "Nodes freed by how many " + " and ".join(f"{axis.noun}s" for axis in found) + " may move"


def _head(found: tuple[Axis, ...]) -> list[str]:
    plan = next((axis.present for axis in found if axis.present), None)
    moved = (
        f"{counted(plan.disruption.pod_groups, 'PodGroup')} and {counted(plan.disruption.moved_cards, 'card')}" if plan else ""
    )
    said = f"this plan: {counted(plan.freed, 'node')} for {moved}" if plan else "no plan is recommended"
    return [write(20, 32, "What disruption buys", size=18, bold=True), write(20, 54, said, shade_name="dim", size=_TEXT)]


# ---- the frame ----
def _frame(panel: _Panel) -> list[str]:
    plan = panel.axis.present
    ups = _apart(ticks(panel.up), plan.freed if plan else None, (panel.base - panel.top) / panel.up, 15)
    across = _apart(ticks(panel.across), plan.limit if plan else None, (_RIGHT - _LEFT) / panel.across, 32)
    lines = "".join(f"M{_LEFT} {number(panel.y(n))}H{_RIGHT}" for n in ticks(panel.up))
    marks = "".join(f"M{number(panel.x(n))} {panel.base}v4" for n in across)
    return [
        write(20, panel.top - 17, "Nodes freed", size=_TEXT, bold=True),
        f'<path {shade("rule")} d="{lines}{marks}"/>',
        *(_tick(_LEFT - 8, panel.y(n) + 4.5, n, "end") for n in ups),
        *(_tick(_inside(panel.x(n), n), panel.base + 19, n, "middle") for n in across),
        write(_RIGHT, panel.base + 38, f"{panel.axis.title}, at most", size=_TEXT, bold=True, anchor="end"),
    ]


def _inside(x: float, value: int) -> float:
    """Keep a number of that middle on the paper."""
    return min(x, WIDTH - 8 - 3.9 * len(f"{value:,}"))


def _tick(x: float, y: float, value: int, anchor: str) -> str:
    return write(x, y, f"{value:,}", shade_name="dim", size=_TEXT, anchor=anchor)


def _apart(values: list[int], plan: int | None, scale: float, room: int) -> list[int]:
    """Leave out the numbers that the plan's own would cover."""
    return [n for n in values if plan is None or abs(n - plan) * scale >= room]


def ticks(most: int) -> list[int]:
    """Return round numbers from 0 to at most ``most``, about five of them."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if most // (size * factor) < _TICKS:
                return list(range(0, most + 1, size * factor))
        size *= 10


# ---- what is found, and what is possible at most ----
def _curve(panel: _Panel) -> list[str]:
    line = f'<path {shade("line")} fill="none" stroke-width="2.5" stroke-linejoin="round" d="{_stairs(panel)}"/>'
    return [*([_dashes(_ceiling(panel))] if _has_ceiling(panel.axis) else []), line]


def _area(panel: _Panel) -> str:
    return f'<path {shade("area")} d="{_stairs(panel)}V{panel.base}H{_LEFT}z"/>'


def _has_ceiling(axis: Axis) -> bool:
    return not all(r.proven for r in axis.rows)


def _stairs(panel: _Panel) -> str:
    """What a limit allows, a higher one allows as well: the line rises at each limit, and only there."""
    freed, path = 0, f"M{_LEFT} {panel.base}"
    for row in panel.axis.rows:
        freed = max(freed, row.freed)
        path += f"H{number(panel.x(row.limit))}V{number(panel.y(freed))}"
    return f"{path}H{_RIGHT}"


def _ceiling(panel: _Panel) -> str:
    """A bound holds up to its own limit; between neighbours there is no other plan, so it may rise as late as the line."""
    path, before, most = f"M{_LEFT} {panel.base}", 0, 0
    for row in panel.axis.rows:
        x, y = number(panel.x(row.limit)), number(panel.y(max(row.most, most)))
        path += f"H{x}V{y}" if row.limit - before <= 1 else f"V{y}H{x}"
        before, most = row.limit, max(row.most, most)
    return f"{path}H{_RIGHT}"


def _dots(panel: _Panel) -> Iterator[str]:
    rows = panel.axis.rows if len(panel.axis.rows) <= _MOST_DOTS else shown_rows(panel.axis)
    for row in rows:
        if not row.present:
            yield _dot(panel, row)


def _dot(panel: _Panel, row: Row) -> str:
    return _circle("dot" if row.proven else "open", panel.x(row.limit), panel.y(row.freed), 4)


def _circle(name: str, x: float, y: float, radius: float) -> str:
    return f'<circle {shade(name)} stroke-width="1.5" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>'


def _guides(panel: _Panel) -> list[str]:
    row = panel.axis.present
    if row is None:
        return []
    path = f"M{number(panel.x(row.limit))} {panel.base + 4}V{number(panel.y(row.freed))}H{_LEFT}"
    return [f'<path {shade("guide")} fill="none" stroke-opacity=".8" stroke-dasharray="2 3" d="{path}"/>']


def _plan(panel: _Panel) -> list[str]:
    row = panel.axis.present
    if row is None:
        return []
    x, y = panel.x(row.limit), panel.y(row.freed)
    return [
        _circle("plan", x, y, 7),
        _label(_LEFT - 8, y + 4.5, f"{row.freed:,}", "end"),
        _label(_inside(x, row.limit), panel.base + 19, f"{row.limit:,}", "middle"),
        _label(max(x + 6, _LEFT + 70), y - 17, "this plan", "end"),
    ]


def _label(x: float, y: float, text: str, anchor: str) -> str:
    """Words in the plan's colour, with a rim that keeps lines away from them."""
    return (
        f'<text {shade("plan-ink")} stroke-width="4" stroke-linejoin="round" paint-order="stroke" x="{number(x)}" '
        f'y="{number(y)}" font-size="{_TEXT}" font-weight="600" text-anchor="{anchor}">{escape(text)}</text>'
    )


# ---- the key, and the picture in words ----
def _key(found: tuple[Axis, ...], y: int) -> list[str]:
    """What the marks mean; nothing is drawn that no panel shows."""
    rows = [r for axis in found for r in axis.rows if not r.present]
    entries = [
        ("dot", "proven best", any(r.proven for r in rows)),
        ("open", "best found", not all(r.proven for r in rows)),
        ("most", "no plan lies above", any(map(_has_ceiling, found))),
    ]
    drawn: list[str] = []
    for i, (mark, text) in enumerate((mark, text) for mark, text, shown in entries if shown):
        x = 28 + 112 * i
        drawn += [_mark(mark, x, y), write(x + 14, y + 4.5, text, shade_name="dim")]
    return drawn


def _mark(name: str, x: int, y: int) -> str:
    return _dashes(f"M{x - 8} {y}h16") if name == "most" else _circle(name, x, y, 4)


def _dashes(path: str) -> str:
    return f'<path {shade("most")} fill="none" stroke-width="1.5" stroke-dasharray="4 3" d="{path}"/>'


def _told(axis: Axis) -> str:
    rows = [f"{row.limit:,} free {counted(row.freed, 'node')}{_remark(row)}" for row in shown_rows(axis)]
    return f"{axis.title}, at most: " + "; ".join(rows) + "."


def _remark(row: Row) -> str:
    said = [*([] if row.proven else [row.bound]), *(["this plan"] if row.present else [])]
    return f" ({', '.join(said)})" if said else ""
