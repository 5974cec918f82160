"""The agreement by filter, as a table for people and as JSON for machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from tests.real.agreement.compare import Compared

#: What a case without any kind is counted under, and the sum of all.
ALL = "all cases"
HEAD = ("filter", "cases", "verdicts", "we say no for it", "agree", "documented", "differ")


@dataclass
class Row:
    """The numbers of one filter, or of all cases.

    Attributes
    ----------
    cases
        With the constraint in them.
    verdicts
        In those cases: one per scheduler and node.
    decided
        Verdicts of ours that give this filter as the reason.
    agree, documented, differ
        Verdicts; they add up to ``verdicts``.
    """

    cases: int = 0
    verdicts: int = 0
    decided: int = 0
    agree: int = 0
    documented: int = 0
    differ: int = 0


@dataclass
class Table:
    """Sums over cases.

    Attributes
    ----------
    placed
        By scheduler: how many probes were really placed on the node that the filters let through, and how many were not,
        since Volcano only waits there for room.
    exceptions
        How often each documented difference was seen.
    skipped
        How many cases were not compared, by reason.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    placed: Counter[str] = field(default_factory=Counter)
    waited: Counter[str] = field(default_factory=Counter)
    exceptions: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, compared: Iterable[Compared]) -> None:
        """Count cases."""
        for one in compared:
            if one.skipped is not None:
                self.skipped[one.skipped] += 1
                continue
            for name in (ALL, *one.case.kinds):
                self._count(self.rows.setdefault(name, Row()), name, one)
            for scheduler, there in one.placed:
                (self.placed if there else self.waited)[scheduler] += 1
            self.exceptions.update(f"{v.documented} ({v.scheduler})" for v in one.verdicts if v.documented)

    @staticmethod
    def _count(row: Row, name: str, one: Compared) -> None:
        row.cases += 1
        row.verdicts += len(one.verdicts)
        code = name.partition(" ")[0]  # what follows in brackets is the way in which a case asks it
        row.decided += sum(v.code == code or (name == ALL and not v.ours) for v in one.verdicts)
        row.agree += sum(v.agrees for v in one.verdicts)
        row.documented += sum(v.documented is not None for v in one.verdicts)
        row.differ += len(one.differences)

    def markdown(self) -> str:
        """Return the table, and what else was counted, as Markdown."""
        rows = [(name, *map(str, asdict(self.rows[name]).values())) for name in self._names()]
        lines = [_line(HEAD), _line(["---"] + ["--:"] * (len(HEAD) - 1)), *map(_line, rows), ""]
        lines += [f"Placed for real by {name}: {count}." for name, count in sorted(self.placed.items())]
        lines += [f"Only to wait for room, says {name}: {count}." for name, count in sorted(self.waited.items())]
        lines += [f"Documented difference: {name}: {count}." for name, count in sorted(self.exceptions.items())]
        lines += [f"Not compared, {reason}: {count}." for reason, count in sorted(self.skipped.items())]
        return "\n".join(lines) + "\n"

    def json(self) -> str:
        """Return the same numbers as JSON."""
        numbers = {"filters": {name: asdict(self.rows[name]) for name in self._names()}}
        rest = {name: dict(sorted(getattr(self, name).items())) for name in ("placed", "waited", "exceptions", "skipped")}
        return json.dumps(numbers | rest, indent=1) + "\n"

    def _names(self) -> list[str]:
        return [*sorted(name for name in self.rows if name != ALL), *(n for n in self.rows if n == ALL)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
