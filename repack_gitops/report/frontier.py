"""Nodes freed against disruption, as rows and in plain words; tables and the picture show the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Evaluation, FrontierPoint
from repack_gitops.model.status import counted

TITLE = "What disruption buys"
#: Rows that a table shows; status.plan.frontier has every point.
MOST_ROWS = 12
#: Points that make a picture worth drawing.
_PICTURED = 2
#: How much further nodes must be ahead of disruption, as shares of the plan's, before a point is worth a sentence.
_AHEAD = Fraction(15, 100)


@dataclass(frozen=True, slots=True)
class Row:
    """What one limit buys; ``most`` is what no plan within it exceeds, ``present`` marks the plan that is shown."""

    limit: int
    freed: int
    most: int
    disruption: Disruption
    present: bool = False

    @property
    def proven(self) -> bool:
        """Whether no plan within the limit frees more."""
        return self.freed == self.most

    @property
    def bound(self) -> str:
        """What is known about better plans within the limit, in words."""
        return "proven" if self.proven else f"at most {self.most:,}"


@dataclass(frozen=True, slots=True)
class Axis:
    """One measure of disruption with its rows, by ascending limit; ``noun`` is its unit."""

    noun: str
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The measure's name."""
        return f"{self.noun[0].upper()}{self.noun[1:]}s moved"

    @property
    def present(self) -> Row | None:
        """The plan that is shown; None where none is."""
        return next((row for row in self.rows if row.present), None)


def axes(evaluation: Evaluation) -> tuple[Axis, ...]:
    """Return the measures of which something is known."""
    found = evaluation.frontier
    if found is None:
        return ()
    made = (
        Axis("PodGroup", _rows(evaluation, found.pod_groups, lambda d: d.pod_groups)),
        Axis("card", _rows(evaluation, found.cards, lambda d: d.moved_cards)),
    )
    return tuple(axis for axis in made if axis.rows)


def pictured(evaluation: Evaluation) -> tuple[Axis, ...]:
    """Return the measures with enough points for a picture."""
    found = evaluation.frontier
    counts = {"PodGroup": len(found.pod_groups), "card": len(found.cards)} if found else {}
    return tuple(axis for axis in axes(evaluation) if counts[axis.noun] >= _PICTURED)


def _rows(evaluation: Evaluation, points: Sequence[FrontierPoint], measure: Callable[[Disruption], int]) -> tuple[Row, ...]:
    rows = [Row(p.limit, p.freed, p.upper_bound, p.disruption) for p in sorted(points, key=lambda p: p.limit)]
    if not rows or not evaluation.steps:
        return tuple(rows)
    used, freed = measure(evaluation.disruption), len(evaluation.steps)
    same = next((i for i, r in enumerate(rows) if r.freed == freed and used in (r.limit, measure(r.disruption))), None)
    if same is not None:
        rows[same] = Row(rows[same].limit, freed, rows[same].most, evaluation.disruption, present=True)
        return tuple(rows)
    # The plan disturbs least by all measures in turn, so by a single one it may well do with less.
    plan = Row(used, freed, _most(evaluation, rows, used), evaluation.disruption, present=True)
    return tuple(sorted([*rows, plan], key=lambda r: (r.limit, r.present)))


def _most(evaluation: Evaluation, rows: Sequence[Row], used: int) -> int:
    """A bound of a higher limit holds for a lower one, too; beyond the last, the one without any limit does."""
    known = [r.most for r in rows if r.limit >= used]
    overall = evaluation.optimality.upper_bound if evaluation.optimality else max(r.most for r in rows)
    return max(min([*known, overall]), len(evaluation.steps))


def telling_rows(axis: Axis) -> tuple[Row, ...]:
    """Return the rows where more nodes are freed than by any lower limit, and the plan's; the last one where none is freed."""
    kept, freed = [], 0
    for row in axis.rows:
        if row.freed > freed or row.present:
            kept.append(row)
        freed = max(freed, row.freed)
    return tuple(kept) or axis.rows[-1:]


def shown_rows(axis: Axis) -> tuple[Row, ...]:
    """Return at most `MOST_ROWS` of the telling rows, evenly chosen, the plan's among them."""
    rows = telling_rows(axis)
    if len(rows) <= MOST_ROWS:
        return rows
    last, steps = len(rows) - 1, MOST_ROWS - 2
    chosen = {i * last // steps for i in range(steps + 1)}
    return tuple(row for i, row in enumerate(rows) if i in chosen or row.present)


def frontier_sentence(evaluation: Evaluation) -> str:
    """Return what stands out: nodes that are cheap, and what the others cost; empty where nothing does."""
    said = (_stands_out(axis) for axis in axes(evaluation))
    return " ".join(text for text in said if text)


def _stands_out(axis: Axis) -> str:
    whole = _cheapest_of_all(axis)
    candidates = [r for r in axis.rows if 0 < r.freed < whole.freed and r.limit < whole.limit]
    best = max(candidates, key=lambda r: (_ahead(r, whole), -r.limit), default=None)
    if best is None or _ahead(best, whole) < _AHEAD:
        return ""
    rest = whole.freed - best.freed
    return (
        f"{best.freed:,} of the {counted(whole.freed, 'node')} would take only {best.limit:,} of the "
        f"{counted(whole.limit, axis.noun)}; the last {'one costs' if rest == 1 else f'{rest:,} cost'} "
        f"{whole.limit - best.limit:,} more."
    )


def _cheapest_of_all(axis: Axis) -> Row:
    """Return the tightest limit that frees what the plan frees: the plan may move more cards, for fewer PodGroups."""
    plan = axis.present or axis.rows[-1]
    return min((r for r in axis.rows if r.freed >= plan.freed), key=lambda r: r.limit, default=plan)


def _ahead(row: Row, whole: Row) -> Fraction:
    """How far nodes are ahead of disruption there, both as shares of the whole."""
    return Fraction(row.freed, whole.freed) - Fraction(row.limit, whole.limit)
