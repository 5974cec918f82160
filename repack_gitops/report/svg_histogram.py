"""The picture of a large plan: how many nodes use how many cards, now and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from repack_gitops.report.layout import NodeLayout
from repack_gitops.report.svg_paper import number, shade, write

WIDTH = 880
HEIGHT = 320
_LEFT, _RIGHT, _TOP, _BASE = 40, 840, 40, 260
_MOST_BINS = 17


@dataclass(frozen=True, slots=True)
class Bin:
    """Nodes with a use between two numbers of cards."""

    label: str
    now: int
    then: int


def bins(nodes: Sequence[NodeLayout]) -> tuple[Bin, ...]:
    """Return the bins: idle nodes first, then equal ranges of used cards."""
    most = max((max(n.capacity, n.used_before, n.used_after) for n in nodes), default=1)
    step = -(-most // (_MOST_BINS - 1))
    now = Counter(-(-n.used_before // step) for n in nodes)
    then = Counter(-(-n.used_after // step) for n in nodes)
    return tuple(Bin(_range(i, step, most), now[i], then[i]) for i in range(-(-most // step) + 1))


def _range(index: int, step: int, most: int) -> str:
    if index == 0:
        return "idle"
    if step == 1:
        return str(index)
    return f"{(index - 1) * step + 1}–{min(index * step, most)}"


def draw_histogram(nodes: Sequence[NodeLayout], top: int, *, after: bool) -> list[str]:
    """Return paired bars per bin from ``top`` down, `HEIGHT` pixels in all; only the first of each pair without a plan."""
    found = bins(nodes)
    tallest = max([*(b.now for b in found), *(b.then for b in found if after), 1])
    room = (_RIGHT - _LEFT) / len(found)
    drawn = [f'<path {shade("rule")} d="M{_LEFT} {top + _BASE}H{_RIGHT}"/>']
    for i, entry in enumerate(found):
        drawn += _pair(entry, _LEFT + i * room, room, top, tallest, after=after)
    axis = "cards in use on a node"
    return [
        *drawn,
        write((_LEFT + _RIGHT) / 2, top + _BASE + 42, axis, shade_name="dim", anchor="middle"),
        *_key(top, after=after),
    ]


def _pair(entry: Bin, x: float, room: float, top: int, tallest: int, *, after: bool) -> list[str]:
    width = min(room * 0.38, 34)
    middle = x + room / 2
    label = write(middle, top + _BASE + 20, entry.label, size=12, anchor="middle")
    if not after:
        return [*_bar("now", entry.now, x=middle - width / 2, width=width, top=top, tallest=tallest), label]
    left = _bar("now", entry.now, x=middle - width - 1, width=width, top=top, tallest=tallest)
    return [*left, *_bar("then", entry.then, x=middle + 1, width=width, top=top, tallest=tallest), label]


def _bar(shade_name: str, count: int, *, x: float, width: float, top: int, tallest: int) -> list[str]:
    tall = (_BASE - _TOP) * count / tallest
    y = top + _BASE - tall
    where = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(tall)}"'
    ink = "ink" if shade_name == "then" else "dim"
    text = write(x + width / 2, y - 5, f"{count:,}", shade_name=ink, size=10, anchor="middle") if count else ""
    return [f"<rect {shade(shade_name)} {where}/>", text]


def _key(top: int, *, after: bool) -> list[str]:
    chip = '<rect {} x="{}" y="{}" width="12" height="12" rx="2"/>'
    drawn = [chip.format(shade("now"), _LEFT, top), write(_LEFT + 18, top + 10.5, "nodes now")]
    if after:
        drawn += [chip.format(shade("then"), _LEFT + 110, top), write(_LEFT + 128, top + 10.5, "nodes after the plan")]
    return drawn
