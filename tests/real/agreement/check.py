"""The whole test in one object: run cases, compare, run once more what differs, and make it minimal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.real.agreement.case import Case
from tests.real.agreement.compare import Compared, compare
from tests.real.agreement.runner import Runner
from tests.real.agreement.shrinker import shrink
from tests.real.agreement.table import Table
from tests.real.agreement.verdict import Verdict

#: Making a case minimal costs a few minutes on a busy machine: how many are, and in how many rounds at most.
SHRUNK, ROUNDS = 2, 12


@dataclass
class Check:
    """What came of it.

    Attributes
    ----------
    once
        Differences that a second look did not confirm: the first look came too early for some informer.
    """

    runner: Runner
    table: Table = field(default_factory=Table)
    differing: list[Compared] = field(default_factory=list)
    once: list[Verdict] = field(default_factory=list)

    def run(self, cases: Iterable[Case]) -> None:
        """Run ``cases`` and count them."""
        for compared in self._rounds(cases):
            doubtful = [one for one in compared if one.differences]
            again = iter(self._again([one.case for one in doubtful]))
            counted = [next(again) if one.differences else one for one in compared]
            for first, second in zip(compared, counted, strict=True):
                self.once += first.differences if not second.differences else ()
            self.table.add(counted)
            self.differing += [one for one in counted if one.differences]

    def report(self) -> str:
        """Return every difference, the first few with a minimal case and how to see it again."""
        parts = [self.table.markdown()]
        parts += [f"Not confirmed by a second look: {verdict}" for verdict in self.once]
        for number, one in enumerate(self.differing):
            parts += map(str, one.differences)
            parts.append(
                f"again: REPACK_AGREEMENT_SEED={one.case.seed} REPACK_AGREEMENT_CASES=1 pytest -n0 tests/real/agreement"
            )
            if number < SHRUNK:
                parts.append(f"minimal case:\n{self._minimal(one).as_yaml()}")
        return "\n".join(parts)

    def _minimal(self, one: Compared) -> Case:
        wanted = {(v.scheduler, v.ours) for v in one.differences}

        def persists(cases: Sequence[Case]) -> list[bool]:
            return [any((v.scheduler, v.ours) in wanted for v in found.differences) for found in self._again(cases)]

        try:
            return shrink(one.case, persists, ROUNDS)
        except Exception as error:  # the difference counts, not how small its case is
            print(f"seed {one.case.seed} could not be made minimal: {error!r}", file=sys.stderr)
            return one.case

    def _again(self, cases: Sequence[Case]) -> list[Compared]:
        return [one for found in self._rounds(cases) for one in found]

    def _rounds(self, cases: Iterable[Case]) -> Iterator[list[Compared]]:
        for found in self.runner.run(cases):
            yield list(compare(found))
