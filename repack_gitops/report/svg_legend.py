"""The picture's legend: which number is which PodGroup, and what the greys mean."""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.model.cluster import Key
from repack_gitops.model.impact import GroupImpact
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.report.svg_paper import fit_mono, shade, swatch, swatch_number, write
from repack_gitops.report.words import workload

_LINE = 22
_COLUMN = 424
_LEFT = 24
_MOST = 24


def legend_height(evaluation: Evaluation, hidden: int) -> int:
    """Return the height that `draw_legend` takes; ``hidden`` as there."""
    shown = min(len(evaluation.impacts), _MOST)
    return (-(-shown // 2) + 1 + len(_notes(evaluation, hidden))) * _LINE + 12


def draw_legend(evaluation: Evaluation, numbers: Mapping[Key, int], hidden: int, top: int) -> list[str]:
    """Return the legend from ``top`` down; ``hidden`` is the number of nodes that are not drawn."""
    shown = sorted(evaluation.impacts, key=lambda i: numbers.get(i.key, 0))[:_MOST]
    lines = -(-len(shown) // 2)
    drawn = [
        part
        for i, impact in enumerate(shown)
        for part in _entry(impact, numbers[impact.key], _LEFT + (i // lines) * _COLUMN, top + (i % lines) * _LINE)
    ]
    below = top + lines * _LINE
    notes = [
        write(_LEFT, below + (i + 1) * _LINE + 12, text, shade_name="dim", size=12)
        for i, text in enumerate(_notes(evaluation, hidden))
    ]
    return [*drawn, *_greys(below), *notes]


def _entry(impact: GroupImpact, index: int, x: int, y: int) -> list[str]:
    facts = f"{counted(impact.moved_pods, 'pod')}, {counted(impact.moved_cards, 'card')}"
    name = fit_mono(workload(impact.owner, impact.key), 232 if impact.breached else 250, 12)
    warned, mark = ("warn", " ⚠") if impact.breached else ("dim", "")
    return [
        swatch(index, f'x="{x}" y="{y}" width="26" height="16" rx="3"'),
        swatch_number(index, x + 13, y + 12, 11),
        write(x + 34, y + 12, name, mono=True),
        write(x + 400, y + 12, facts + mark, shade_name=warned, anchor="end"),
    ]


def _greys(top: int) -> list[str]:
    chip = '<rect {} x="{}" y="{}" width="26" height="16" rx="3"/>'
    return [
        chip.format(shade("stays"), _LEFT, top),
        write(_LEFT + 34, top + 12, "pods that stay", shade_name="dim"),
        chip.format(shade("free"), _LEFT + 150, top),
        write(_LEFT + 184, top + 12, "free cards", shade_name="dim"),
    ]


def _notes(evaluation: Evaluation, hidden: int) -> list[str]:
    breached = sum(1 for i in evaluation.impacts if i.breached)
    more = len(evaluation.impacts) - _MOST
    return [
        *(
            [f"⚠ {counted(breached, 'PodGroup')} {'falls' if breached == 1 else 'fall'} below minAvailable while pods move"]
            if breached
            else []
        ),
        *([f"and {counted(more, 'PodGroup')} more, listed in plan.md"] if more > 0 else []),
        *([f"{counted(hidden, 'node')} that the plan does not touch are not drawn"] if hidden else []),
    ]
