"""What less disruption would free: the most nodes within some limits on the PodGroups, and on the cards, that move.

One program for all of it: a row with the limit, whose right side changes. What the solver chooses is placed for real, so
every point is a plan; a prefix of the plan itself, or the point before, counts instead where it is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Frontier, FrontierPoint
from repack_gitops.planner.optimal.aggregation import Aggregation
from repack_gitops.planner.optimal.attempt import reserve
from repack_gitops.planner.optimal.bounds import Bounds
from repack_gitops.planner.optimal.disruption_rows import Costs
from repack_gitops.planner.optimal.model import Model
from repack_gitops.planner.optimal.objective import Score, prefix_scores, score
from repack_gitops.planner.optimal.relaxation import Relaxed, chosen_in, flows_in
from repack_gitops.planner.optimal.sequence import carry_out
from repack_gitops.planner.optimal.solver import FINE_COEFFICIENTS, Solver, Work
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.watch import Watch

#: Points by axis; the second where a program is so large that one takes seconds.
_POINTS, _FEW = 8, 4
_POD_GROUPS, _CARDS = 1, 4


def frontier(problem: Problem, aggregation: Aggregation, known: Bounds, nodes: Sequence[int], watch: Watch) -> Frontier:
    """Return the frontier up to a plan that empties ``nodes``, in this order; ``known`` are bounds on any plan."""
    axes = _Axes(problem, aggregation, known, nodes, watch)
    return Frontier(pod_groups=tuple(axes.points(_POD_GROUPS)), cards=tuple(axes.points(_CARDS)))


class _Axes:
    def __init__(self, problem: Problem, aggregation: Aggregation, known: Bounds, nodes: Sequence[int], watch: Watch) -> None:
        self._problem, self._aggregation, self._known = problem, aggregation, known
        self._watch, self._work = watch, Work(watch)
        self._model = Model(problem, aggregation)
        self._solver = Solver(self._model.program, self._work)
        self._freeing: Costs = dict.fromkeys(self._model.emptied.values(), -1)
        #: What every prefix of the plan is worth.
        self._prefixes = list(prefix_scores(problem.groups, problem.shares, nodes))

    def points(self, axis: int) -> Iterator[FrontierPoint]:
        """Yield the points of an axis, the plan last; ``axis`` is the level of the objective that is limited."""
        plan = self._prefixes[-1]
        costs, best = self._model.levels[axis - 1], self._prefixes[0]
        row = self._solver.at_most(costs, plan[axis])
        for limit in self._limits(plan[axis]):
            if not self._work.allows(self._solver.coefficients, fine=False):
                break
            self._solver.change(row, limit)
            found, most = self._within(limit, axis)
            best = min(best, found, *(p for p in self._prefixes if p[axis] <= limit))
            yield _point(limit, best, most)
        self._solver.change(row, None)
        if plan[0]:
            yield _point(plan[axis], plan, self._known.most)

    def _limits(self, total: int) -> list[int]:
        """Return limits below ``total``, evenly spaced; none where the plan is of one node, which is all or nothing."""
        if len(self._prefixes) <= 2:
            return []
        points = _POINTS if self._solver.coefficients <= FINE_COEFFICIENTS else _FEW
        return sorted({total * k // points for k in range(1, points)} - {0, total})

    def _within(self, limit: int, axis: int) -> tuple[Score, int]:
        """Return what a plan within ``limit`` is worth, and how many nodes none can exceed."""
        found = self._solver.minimise(self._freeing, effort=_EFFORT)
        most = self._known.most if found.bound is None else min(-found.bound, self._known.most)
        if found.values is None:
            return self._prefixes[0], most
        state = PlanState(self._problem)
        relaxed = Relaxed(chosen_in(self._model, found.values), flows_in(self._model, found.values))
        packing = reserve(self._problem, self._aggregation, state, relaxed, self._watch)
        carry_out(self._problem, packing, state)
        reached = self._score([self._problem.index[step.node] for step in state.steps])
        if reached[axis] > limit or -reached[0] > most:  # the solver erred: nothing it said counts
            return self._prefixes[0], self._known.most
        return reached, most

    def _score(self, nodes: Sequence[int]) -> Score:
        return score(self._problem.groups, self._problem.shares, nodes)


#: Share of the work that the search for the plan may do on one program.
_EFFORT = 0.25


def _point(limit: int, found: Score, most: int) -> FrontierPoint:
    return FrontierPoint(limit, -found[0], max(most, -found[0]), Disruption(*found[1:]))
