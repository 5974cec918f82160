"""Our verdict next to a scheduler's, for every node of a case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.real.agreement.case import Case, local_name
from tests.real.agreement.exceptions import EXCEPTIONS
from tests.real.agreement.oracle import Oracle
from tests.real.agreement.runner import Observed, Round
from tests.real.agreement.universe import VOLCANO
from tests.real.agreement.verdict import Verdict

#: What the generator must not draw, and the shrinker may run into.
NO_CASE = "no case"


@dataclass
class Compared:
    """A case with all its verdicts; ``skipped`` says why there are none."""

    case: Case
    verdicts: tuple[Verdict, ...] = ()
    skipped: str | None = None
    #: By scheduler: whether the node that it was to take for real was taken.
    placed: tuple[tuple[str, bool], ...] = ()

    @property
    def differences(self) -> tuple[Verdict, ...]:
        """The verdicts that differ and are not documented."""
        return tuple(v for v in self.verdicts if not v.agrees and v.documented is None)


def compare(found: Round) -> Iterator[Compared]:
    """Yield the cases of a round with all verdicts."""
    oracle = Oracle(found.snapshot)
    for observed in found.observed:
        yield _compare(observed, oracle)


def _compare(observed: Observed, oracle: Oracle) -> Compared:
    placed, case = observed.placed, observed.placed.case
    if placed.refused is not None:
        return Compared(case, skipped=f"{NO_CASE}: {placed.refused}")
    undecided = oracle.undecided(placed.probe_key(VOLCANO))
    if undecided:
        return Compared(case, skipped=f"not decided by us: {', '.join(sorted({u.partition('(')[0] for u in undecided}))}")
    bound = tuple((scheduler, there) for scheduler, (_, there) in observed.bound.items())
    return Compared(case, tuple(_verdicts(observed, oracle)), placed=bound)


def _verdicts(observed: Observed, oracle: Oracle) -> Iterator[Verdict]:
    placed = observed.placed
    for node in placed.node_names():
        reason = oracle.why_not(placed.probe_key(VOLCANO), node)
        for scheduler, lets in observed.lets.items():
            code, detail = (str(reason.code.value), reason.detail) if reason else ("", "")
            local = local_name(node, placed.where.ident)
            verdict = Verdict(placed.case, scheduler, local, reason is None, node in lets, code, detail)
            yield _explained(verdict)


def _explained(verdict: Verdict) -> Verdict:
    known = next((e for e in EXCEPTIONS if e.explains(verdict)), None)
    return replace(verdict, documented=known.name) if known else verdict
