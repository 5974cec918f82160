"""HiGHS, asked so that the same program always gets the same answer, and so that a bound is never too small.

One thread, a fixed seed, and limits on work instead of time. All objectives are whole numbers; HiGHS computes in floating
point, so a bound is loosened by more than its tolerances before it is rounded to a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite

import highspy
import numpy as np

from repack_gitops.planner.optimal.program import Numbers, Program
from repack_gitops.planner.watch import Watch

#: Work per solve: nodes of the search tree times coefficients of the program, and the most of the former.
WORK, TREE_NODES = 10_000_000, 2_000
#: Work in all, in simplex iterations times coefficients: beyond it no further level is solved.
TOTAL_WORK = 3_000_000_000
#: For the fine levels: the same, and the coefficients beyond which the solver's heuristics take minutes and iterate little.
FINE_WORK, FINE_COEFFICIENTS = 200_000_000, 45_000
#: Far above HiGHS's tolerances (1e-6, absolute and relative), far below one.
_SLACK = 1e-3
_RELATIVE = 1e-6


@dataclass(frozen=True, slots=True)
class Solution:
    """The best solution found, None if none was; no solution is below ``bound`` (None: not known)."""

    values: Numbers | None
    bound: int | None


class Work:
    """How much all solvers of one plan may do together: counts and no clock, so that the same input gives the same plan."""

    def __init__(self, watch: Watch | None = None, limit: int = TOTAL_WORK) -> None:
        self.watch = watch or Watch()
        self._spent, self._limit = 0, limit

    def spend(self, iterations: int, coefficients: int) -> None:
        """Note what was done."""
        self._spent += iterations * coefficients

    def allows(self, coefficients: int, *, fine: bool) -> bool:
        """Tell whether one more program of that size may be solved; ``fine``: for what matters less."""
        if self.watch.stop():
            return False
        if fine:
            return self._spent <= FINE_WORK and coefficients <= FINE_COEFFICIENTS
        return self._spent <= self._limit


class _Quiet(highspy.Highs):
    """HiGHS without callbacks, which it would greet on standard output before anybody can tell it not to."""

    def enableCallbacks(self) -> None:  # noqa: N802
        """Enable none."""


class Solver:
    """One program that is solved again and again, for other objectives and with more rows; always minimising."""

    def __init__(self, program: Program, work: Work | None = None) -> None:
        self._columns, self._work = len(program.upper), work or Work()
        self._highs = _Quiet()  # type: ignore[no-untyped-call]
        for option, value in _OPTIONS.items():
            self._highs.setOptionValue(option, value)
        highspy.Highs.enableCallbacks(self._highs)  # type: ignore[no-untyped-call]
        self._highs.cbMipInterrupt += self._ask
        self._highs.cbSimplexInterrupt += self._ask
        self._highs.passModel(_as_lp(program))
        self._tree_nodes = min(WORK // max(self.coefficients, 1), TREE_NODES)

    def minimise(self, costs: Mapping[int, int], *, effort: float = 1.0) -> Solution:
        """Minimise the sum of ``costs`` (coefficients by column) with a share of the work that is allowed."""
        self._highs.setOptionValue("mip_max_nodes", max(int(self._tree_nodes * effort), 1))
        cost = np.zeros(self._columns)
        cost[list(costs)] = list(costs.values())
        self._highs.changeColsCost(self._columns, np.arange(self._columns, dtype=np.int32), cost)
        self._highs.clearSolver()
        self._highs.run()
        return self._answer(cost)

    @property
    def coefficients(self) -> int:
        """How many the program has now."""
        return int(self._highs.getNumNz())

    def at_most(self, row: Mapping[int, int], high: int) -> int:
        """Add a row for good, and return its index."""
        index = np.fromiter(row, dtype=np.int32, count=len(row))
        values = np.fromiter(row.values(), dtype=np.float64, count=len(row))
        self._highs.addRow(-highspy.kHighsInf, high, len(row), index, values)
        return int(self._highs.getNumRow()) - 1

    def change(self, row: int, high: int) -> None:
        """Let the sum of row ``row`` be at most ``high``."""
        self._highs.changeRowBounds(row, -highspy.kHighsInf, high)

    def forget(self, row: int) -> None:
        """Take the last row away again."""
        self._highs.deleteRows(1, np.array([row], dtype=np.int32))

    def _ask(self, event: highspy.HighsCallbackEvent) -> None:
        """Stop where whoever waits says so; HiGHS asks every few thousand iterations."""
        if self._work.watch.stop():
            event.interrupt()

    def _answer(self, cost: Numbers) -> Solution:
        status, info = self._highs.getModelStatus(), self._highs.getInfo()
        self._work.spend(info.simplex_iteration_count, self.coefficients)
        bound = info.mip_dual_bound if status in _BOUNDED else -np.inf
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return Solution(None, _at_least(bound))
        values = np.array(self._highs.getSolution().col_value)
        # HiGHS 1.16 may lose presolve's constant when it is given a solution to start from. We give none, and check.
        told = info.objective_function_value
        if abs(told - float(cost @ values)) > _SLACK + _RELATIVE * abs(told):
            bound = -np.inf
        return Solution(values, _at_least(bound))


#: Ends of a search with a bound to rely on.
_BOUNDED = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kSolutionLimit,
    highspy.HighsModelStatus.kInterrupt,
)
_OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.5,
}


def _at_least(bound: float) -> int | None:
    return ceil(bound - _SLACK - _RELATIVE * abs(bound)) if isfinite(bound) else None


def _as_lp(program: Program) -> highspy.HighsLp:
    lp, (start, index, value) = highspy.HighsLp(), program.matrix()
    lp.num_col_, lp.num_row_ = len(program.upper), len(program.low)
    lp.col_cost_ = np.zeros(lp.num_col_)
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.array(program.upper)
    lp.row_lower_, lp.row_upper_ = np.array(program.low), np.array(program.high)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = start, index, value
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[w] for w in program.whole]
    return lp
