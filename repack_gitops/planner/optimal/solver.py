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

#: Work per solve: nodes of the search tree times coefficients of the program, and the bounds of the former.
WORK = 20_000_000
TREE_NODES = (10, 2_000)
#: Work in all, in simplex iterations times coefficients: beyond it no further level is solved.
TOTAL_WORK = 500_000_000
#: Far above HiGHS's tolerances (1e-6, absolute and relative), far below one.
_SLACK = 1e-3
_RELATIVE = 1e-6


@dataclass(frozen=True, slots=True)
class Solution:
    """The best solution found, None if none was; no solution is below ``bound`` (None: not known)."""

    values: Numbers | None
    bound: int | None


class _Quiet(highspy.Highs):
    """HiGHS without callbacks, which it would greet on standard output before anybody can tell it not to."""

    def enableCallbacks(self) -> None:  # noqa: N802
        """Enable none."""


class Solver:
    """One program that is solved again and again, for other objectives and with more rows; always minimising."""

    def __init__(self, program: Program) -> None:
        self._columns = len(program.upper)
        self._spent = 0
        self._highs = _Quiet()  # type: ignore[no-untyped-call]
        for option, value in _OPTIONS.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(_as_lp(program))
        self._tree_nodes = min(max(WORK // max(self._highs.getNumNz(), 1), TREE_NODES[0]), TREE_NODES[1])

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
    def exhausted(self) -> bool:
        """Whether all the work that is allowed is done."""
        return self._spent > TOTAL_WORK

    def at_most(self, row: Mapping[int, int], high: int) -> None:
        """Add a row for good."""
        index = np.fromiter(row, dtype=np.int32, count=len(row))
        values = np.fromiter(row.values(), dtype=np.float64, count=len(row))
        self._highs.addRow(-highspy.kHighsInf, high, len(row), index, values)

    def _answer(self, cost: Numbers) -> Solution:
        status, info = self._highs.getModelStatus(), self._highs.getInfo()
        self._spent += info.simplex_iteration_count * self._highs.getNumNz()
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
_BOUNDED = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kSolutionLimit)
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
