"""One panel of frontier.svg: axes, what is found, what is possible at most, and the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from repack_gitops.report.frontier import Axis, Row, shown_rows
from repack_gitops.report.svg_paper import number, shade, write

WIDTH = 400
TEXT = 13
LEFT, RIGHT = 48, 378
_TICKS = 5
#: With more points than this, dots would hide the line.
_MOST_DOTS = 40


@dataclass(frozen=True, slots=True)
class Panel:
    """Where an axis is drawn, and its scale: ``across`` and ``up`` are the largest numbers on it."""

    axis: Axis
    top: int
    base: int
    across: int
    up: int

    @staticmethod
    def of(axis: Axis, top: int, height: int) -> Panel:
        """Return the panel whose plot starts at ``top``."""
        across = max(*(r.limit for r in axis.rows), 1)
        return Panel(axis, top, top + height, across, max(*(r.most for r in axis.rows), 1))

    def x(self, limit: float) -> float:
        """Return where a limit is."""
        return LEFT + (RIGHT - LEFT) * limit / self.across

    def y(self, nodes: float) -> float:
        """Return where a number of nodes is."""
        return self.base - (self.base - self.top) * nodes / self.up


def draw_panel(panel: Panel) -> list[str]:
    """Return the panel, from the back to the front."""
    return [_area(panel), *_frame(panel), *_guides(panel), *_curve(panel), *_dots(panel), *_plan(panel)]


# ---- the frame ----
def _frame(panel: Panel) -> list[str]:
    plan = panel.axis.present
    ups = _apart(ticks(panel.up), plan.freed if plan else None, (panel.base - panel.top) / panel.up, 15)
    across = _apart(ticks(panel.across), plan.limit if plan else None, (RIGHT - LEFT) / panel.across, 32)
    lines = "".join(f"M{LEFT} {number(panel.y(n))}H{RIGHT}" for n in ticks(panel.up))
    marks = "".join(f"M{number(panel.x(n))} {panel.base}v4" for n in across)
    return [
        write(20, panel.top - 17, "Nodes freed", size=TEXT, bold=True),
        f'<path {shade("rule")} d="{lines}{marks}"/>',
        *(_tick(LEFT - 8, panel.y(n) + 4.5, n, "end") for n in ups),
        *(_tick(_inside(panel.x(n), n), panel.base + 19, n, "middle") for n in across),
        write(RIGHT, panel.base + 38, f"{panel.axis.title}, at most", size=TEXT, bold=True, anchor="end"),
    ]


def _inside(x: float, value: int) -> float:
    """Keep a number of that middle on the paper."""
    return min(x, WIDTH - 8 - 3.9 * len(f"{value:,}"))


def _tick(x: float, y: float, value: int, anchor: str) -> str:
    return write(x, y, f"{value:,}", shade_name="dim", size=TEXT, anchor=anchor)


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
def _curve(panel: Panel) -> list[str]:
    line = f'<path {shade("line")} fill="none" stroke-width="2.5" stroke-linejoin="round" d="{_stairs(panel)}"/>'
    return [*([dashes(_ceiling(panel))] if has_ceiling(panel.axis) else []), line]


def _area(panel: Panel) -> str:
    return f'<path {shade("area")} d="{_stairs(panel)}V{panel.base}H{LEFT}z"/>'


def has_ceiling(axis: Axis) -> bool:
    """Tell whether a line shows what is possible at most."""
    return not all(r.proven for r in axis.rows)


def _stairs(panel: Panel) -> str:
    """What a limit allows, a higher one allows as well: the line rises at each limit, and only there."""
    freed, path = 0, f"M{LEFT} {panel.base}"
    for row in panel.axis.rows:
        freed = max(freed, row.freed)
        path += f"H{number(panel.x(row.limit))}V{number(panel.y(freed))}"
    return f"{path}H{RIGHT}"


def _ceiling(panel: Panel) -> str:
    """A bound holds up to its own limit; between neighbours there is no other plan, so it may rise as late as the line."""
    path, before, most = f"M{LEFT} {panel.base}", 0, 0
    for row in panel.axis.rows:
        x, y = number(panel.x(row.limit)), number(panel.y(max(row.most, most)))
        path += f"H{x}V{y}" if row.limit - before <= 1 else f"V{y}H{x}"
        before, most = row.limit, max(row.most, most)
    return f"{path}H{RIGHT}"


def _dots(panel: Panel) -> Iterator[str]:
    rows = panel.axis.rows if len(panel.axis.rows) <= _MOST_DOTS else shown_rows(panel.axis)
    for row in rows:
        if not row.present:
            yield _dot(panel, row)


def _dot(panel: Panel, row: Row) -> str:
    return circle("dot" if row.proven else "open", panel.x(row.limit), panel.y(row.freed), 4)


def _guides(panel: Panel) -> list[str]:
    row = panel.axis.present
    if row is None:
        return []
    path = f"M{number(panel.x(row.limit))} {panel.base + 4}V{number(panel.y(row.freed))}H{LEFT}"
    return [f'<path {shade("guide")} fill="none" stroke-opacity=".8" stroke-dasharray="2 3" d="{path}"/>']


def _plan(panel: Panel) -> list[str]:
    row = panel.axis.present
    if row is None:
        return []
    x, y = panel.x(row.limit), panel.y(row.freed)
    return [
        circle("plan", x, y, 7),
        _label(LEFT - 8, y + 4.5, f"{row.freed:,}", "end"),
        _label(_inside(x, row.limit), panel.base + 19, f"{row.limit:,}", "middle"),
        _label(max(x + 6, LEFT + 70), y - 17, "this plan", "end"),
    ]


def _label(x: float, y: float, text: str, anchor: str) -> str:
    """Words in the plan's colour, with a rim that keeps lines away from them."""
    return (
        f'<text {shade("plan-ink")} stroke-width="4" stroke-linejoin="round" paint-order="stroke" x="{number(x)}" '
        f'y="{number(y)}" font-size="{TEXT}" font-weight="600" text-anchor="{anchor}">{escape(text)}</text>'
    )


# ---- marks that the key repeats ----
def circle(name: str, x: float, y: float, radius: float) -> str:
    """Return the dot ``name``."""
    return f'<circle {shade(name)} stroke-width="1.5" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>'


def dashes(path: str) -> str:
    """Return a faint dashed line."""
    return f'<path {shade("most")} fill="none" stroke-width="1.5" stroke-dasharray="4 3" d="{path}"/>'
