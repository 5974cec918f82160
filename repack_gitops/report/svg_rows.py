"""The picture node by node: cards now on the left, after the plan on the right, and every move between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repack_gitops.model.cluster import Key
from repack_gitops.model.plan import PodMove
from repack_gitops.report.layout import NodeLayout
from repack_gitops.report.svg_paper import colour, fit_mono, number, shade, swatch, swatch_number, write

WIDTH = 880
#: Without a plan only the left half is drawn.
WIDTH_NOW = 560
_NAME_X, _NOW_X, _THEN_X, _LABEL_X = 24, 212, 556, 732
_CARDS_WIDTH = 160
_PILL = 116
_RIBBON_FROM, _RIBBON_TO = _NOW_X + _CARDS_WIDTH + 6, _THEN_X - 14
#: Narrower cells are drawn as one bar: lines between them would be all one sees.
_NARROWEST = 5.0
_ROUND = 1.5


@dataclass(frozen=True, slots=True)
class Scale:
    """How large things are drawn: fewer nodes get more room.

    Attributes
    ----------
    pitch
        Width of one card, the gap to the next included.
    """

    row: int
    box: int
    pitch: float

    @staticmethod
    def of(nodes: Sequence[NodeLayout]) -> Scale:
        """Return the scale for ``nodes``, the same for all of them, so that equal widths are equal numbers of cards."""
        most = max((max(n.capacity, n.used_before, n.used_after) for n in nodes), default=1)
        row, box = (28, 18) if len(nodes) <= 24 else (21, 14)
        return Scale(row, box, min(20.0, _CARDS_WIDTH / max(most, 1)))


def draw_rows(nodes: Sequence[NodeLayout], numbers: dict[Key, int], top: int, *, after: bool) -> list[str]:
    """Return the rows.

    Parameters
    ----------
    nodes
        In reading order.
    numbers
        Index of each PodGroup that moves, from 0: its colour, and its number in the picture.
    top
        Where the first row starts.
    after
        Whether to draw the right half; without a plan both halves would be equal.
    """
    scale = Scale.of(nodes)
    tops = {n.name: top + i * scale.row for i, n in enumerate(nodes)}
    halves = [_half(nodes, tops, scale, then=False), *([_half(nodes, tops, scale, then=True)] if after else [])]
    return [
        *(_caption(n, tops[n.name], scale, after=after) for n in nodes),
        *_quiet("free", 1, "".join(half.free for half in halves)),
        *_quiet("stays", 2 * _ROUND, "".join(half.stays for half in halves)),
        *(_ribbons(nodes, numbers, tops, scale) if after else []),
        *(_block(*block, numbers) for half in halves for block in half.moving),
    ]


def draw_headings(y: int, *, after: bool) -> list[str]:
    """Return the columns' titles on baseline ``y``."""
    titles = [(_NAME_X, "Node"), (_NOW_X, "Now"), *([(_THEN_X, "After"), (_LABEL_X, "Cards in use")] if after else [])]
    return [write(x, y, title, shade_name="dim", size=12, bold=True) for x, title in titles]


def height(nodes: Sequence[NodeLayout]) -> int:
    """Return the height that ``draw_rows`` takes."""
    return len(nodes) * Scale.of(nodes).row


def _caption(node: NodeLayout, top: int, scale: Scale, *, after: bool) -> str:
    middle = top + scale.row / 2
    size = 12 if scale.row > 24 else 11
    band = f'<rect {shade("band")} x="12" y="{top + 1}" width="{WIDTH - 24}" height="{scale.row - 2}" rx="5"/>'
    name = fit_mono(node.name, _NOW_X - _NAME_X - 14, size)
    text = write(_NAME_X, middle + 4, name, size=size, mono=True, bold=node.changes)
    return (band if node.step is not None else "") + text + _label(node, middle, after=after)


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float
    height: float

    def inset(self, by: float) -> _Box:
        """The box without a rim that a stroke of twice that width fills again, with round corners."""
        return _Box(self.x + by, self.y + by, max(self.width - 2 * by, 0.1), max(self.height - 2 * by, 0.1))

    @property
    def outline(self) -> str:
        """The box as a piece of a path: cards by the thousand share one element."""
        return f"M{number(self.x)} {number(self.y)}h{number(self.width)}v{number(self.height)}h-{number(self.width)}z"


@dataclass(frozen=True, slots=True)
class _Half:
    """One side of the picture: outlines of free cards and of pods that stay, and the pods that move."""

    free: str
    stays: str
    moving: tuple[tuple[_Box, Key], ...]


def _half(nodes: Sequence[NodeLayout], tops: Mapping[str, int], scale: Scale, *, then: bool) -> _Half:
    free, stays, moving = [], [], []
    for node in nodes:
        x, y = float(_THEN_X if then else _NOW_X), tops[node.name] + (scale.row - scale.box) / 2
        for block in node.after if then else node.before:
            box = _Box(x, y, max(block.cards * scale.pitch - 2, 1), scale.box)
            if block.move is None:
                stays.append(box.inset(_ROUND).outline)
            else:
                moving.append((box, block.move.group_key))
            x += block.cards * scale.pitch
        free.append(_free(node.capacity - (node.used_after if then else node.used_before), x, y, scale))
    return _Half("".join(free), "".join(stays), tuple(moving))


def _free(count: int, x: float, y: float, scale: Scale) -> str:
    if count <= 0:
        return ""
    if scale.pitch < _NARROWEST:
        return _Box(x, y, count * scale.pitch, scale.box).outline
    return "".join(_Box(x + i * scale.pitch, y, scale.pitch - 2, scale.box).outline for i in range(count))


def _quiet(name: str, stroke: float, outline: str) -> list[str]:
    width = f'stroke-width="{number(stroke)}" stroke-linejoin="round"'
    return [f'<path {shade(name)} {width} d="{outline}"/>'] if outline else []


def _label(node: NodeLayout, middle: float, *, after: bool) -> str:
    x = _LABEL_X if after else _NOW_X + _CARDS_WIDTH + 16
    if node.step is not None:
        pill = f'<rect {shade("pill")} x="{x}" y="{number(middle - 8.5)}" width="{_PILL}" height="17" rx="8.5"/>'
        return pill + write(
            x + _PILL / 2, middle + 4, f"freed in step {node.step}", shade_name="pill-ink", size=11, bold=True, anchor="middle"
        )
    if node.receives and after:
        return write(x, middle + 4, f"{node.used_before} → {node.used_after} of {node.capacity}", size=11)
    return write(x, middle + 4, f"{node.used_before} of {node.capacity}", shade_name="dim", size=11)


def _block(box: _Box, group: Key, numbers: Mapping[Key, int]) -> str:
    index = numbers[group]
    where = f'x="{number(box.x)}" y="{number(box.y)}" width="{number(box.width)}" height="{number(box.height)}" rx="3"'
    digits = len(str(index + 1))
    shape = swatch(index, where)
    if box.width < 6 * digits:
        return shape
    size = 11 if box.width >= 9 * digits else 9
    return shape + swatch_number(index, box.x + box.width / 2, box.y + box.height / 2 + 4, size)


def _ribbons(nodes: Sequence[NodeLayout], numbers: Mapping[Key, int], tops: Mapping[str, int], scale: Scale) -> list[str]:
    """One curve per move; where several leave or reach a node they are spread over its height."""
    leaving = {n.name: [b.move for b in n.before if b.move] for n in nodes}
    arriving = {n.name: [b.move for b in n.after if b.move] for n in nodes}
    curves = [
        (
            numbers[m.group_key],
            _spread(leaving[m.from_node], m, tops[m.from_node], scale),
            _spread(arriving[m.to_node], m, tops[m.to_node], scale),
        )
        for node in nodes
        for m in leaving[node.name]
    ]
    # Light colours need a dark edge on white paper; one path under all ribbons is enough.
    edge = "".join(_curve(y1, y2) for _, y1, y2 in curves)
    casing = f'<path {shade("casing")} fill="none" stroke-opacity=".45" stroke-width="3.2" d="{edge}"/>'
    return [casing, *(_ribbon(index, y1, y2) for index, y1, y2 in curves)]


def _spread(moves: Sequence[PodMove], move: PodMove, top: int, scale: Scale) -> float:
    place = next(i for i, m in enumerate(moves) if m is move)
    return top + (scale.row - scale.box) / 2 + scale.box * (place + 0.5) / len(moves)


def _curve(y1: float, y2: float) -> str:
    bend = (_RIBBON_TO - _RIBBON_FROM) // 2
    return f"M{_RIBBON_FROM} {number(y1)}c{bend} 0 {bend} {number(y2 - y1)} {_RIBBON_TO - _RIBBON_FROM} {number(y2 - y1)}"


def _ribbon(index: int, y1: float, y2: float) -> str:
    tip = f"M{_RIBBON_TO + 7} {number(y2)}l-8 -4v8z"
    line = f'<path d="{_curve(y1, y2)}" fill="none" stroke="{colour(index)}" stroke-width="2"/>'
    return f'{line}<path {shade("tip")} stroke-opacity=".45" fill="{colour(index)}" d="{tip}"/>'
