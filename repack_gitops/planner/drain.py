"""Strategy Drain, the guide's algorithm (spec 2.4): round by round, empty the candidate that disturbs least.

Each round scores every feasible candidate on the plan so far plus itself: five dimensions, each min-max normalised over
this round's candidates, weighted and summed. What the plan so far adds is the same for all, so marginal costs give the
same order. Every round frees one node; ties end in the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from repack_gitops.model.plan import Reason
from repack_gitops.planner.candidates import Candidates
from repack_gitops.planner.disruption import WEIGHTS
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem, Whole
from repack_gitops.planner.trial import first_placement
from repack_gitops.planner.watch import Watch

#: Floating-point scores this close are compared again with exact fractions.
_NEAR = 1e-9


class DrainResult:
    """The steps found, and the state in which the search ended (for explanations)."""

    def __init__(self, search: _Search) -> None:
        state = search.state
        self.steps = tuple(state.steps)
        self.occupancy, self.around, self.ledger = state.occupancy, state.around, state.ledger
        self.over_budget: frozenset[int] = frozenset(search.over_budget)
        self.over_quota: Mapping[int, Reason] = search.over_quota
        #: Candidates that could still be emptied, or nobody knows; there are some only where the search was stopped.
        self.undecided = search.left


def drain(problem: Problem, state: PlanState | None = None, watch: Watch | None = None) -> DrainResult:
    """Return the greedy plan, or the greedy completion of the plan in ``state``; about O(rounds x nodes) vectorised.

    Where ``watch`` says stop, the plan ends with the node before.
    """
    search, watch = _Search(problem, state or PlanState(problem)), watch or Watch()
    while (node := search.best()) is not None and not watch.stop():
        search.commit(node)
    return DrainResult(search)


class _Search:
    def __init__(self, problem: Problem, state: PlanState) -> None:
        self._problem, self.state = problem, state
        self._candidates = Candidates(problem, state.occupancy, state.around, state.ledger.costs, state.settled)
        self.over_budget: set[int] = set()
        self.over_quota: dict[int, Reason] = {}

    def best(self) -> int | None:
        """Return the candidate to empty next, or None when none is left."""
        self._drop_over_budget()
        alive = np.flatnonzero(self._candidates.alive)
        costs = self.state.ledger.costs.take(alive, axis=1)  # unlike costs[:, alive] in memory order: ten times as quick
        return int(alive[lowest_score(costs)]) if alive.size else None

    @property
    def left(self) -> frozenset[int]:
        """The candidates that are left."""
        return frozenset(map(int, np.flatnonzero(self._candidates.alive)))

    def _drop_over_budget(self) -> None:
        """Budgets and quotas only fill up, so what exceeds one now always will."""
        state, over = self.state, self.state.over_budget()
        for node in map(int, np.flatnonzero((over | state.quotas.exceeded) & self._candidates.alive)):
            self._candidates.drop(node)
            state.occupancy.certain[node] = True
            if over[node]:
                self.over_budget.add(node)
            else:
                self.over_quota[node] = state.quotas.why_not(node)

    def commit(self, node: int) -> None:
        """Empty ``node``."""
        receivers = self._receivers(node)
        self._candidates.drop(node)
        for receiver in receivers:
            self._candidates.drop(receiver)
        tokens = self.state.empty(node, receivers)
        self._candidates.changed({node, *receivers}, tokens)

    def _receivers(self, node: int) -> tuple[int, ...]:
        """Return where the victims go; if the search gives up, there is still the witness."""
        classes = tuple(v.pod_class for v in self._problem.victims[node])
        with self._candidates.company(node) as company:
            found = first_placement(self.state.occupancy, classes, node, self.state.ledger.costs, company)
        return found or self._candidates.receivers(node)


def lowest_score(costs: Whole) -> int:
    """Return the column of ``costs``, shape (5, candidates), with the lowest normalised weighted sum; ties: the first.

    Scores are computed in floating point and settled exactly: the columns within rounding distance of the lowest are
    compared as fractions.
    """
    low, high = costs.min(axis=1), costs.max(axis=1)
    spread = [row for row in range(len(WEIGHTS)) if high[row] > low[row]]
    if not spread:
        return 0
    score = sum(WEIGHTS[row] * (costs[row] - low[row]) / (high[row] - low[row]) for row in spread)
    near = np.flatnonzero(score <= np.min(score) + _NEAR)
    if (costs[:, near] == costs[:, near[:1]]).all():
        return int(near[0])
    return int(min(near, key=lambda k: (_exact(costs[:, k], low, high), k)))


def _exact(column: Whole, low: Whole, high: Whole) -> Fraction:
    return sum(
        (
            Fraction(weight * int(column[row] - low[row]), int(high[row] - low[row]))
            for row, weight in enumerate(WEIGHTS)
            if high[row] > low[row]
        ),
        Fraction(0),
    )
