"""What less disruption would free: the most nodes within some limits on the PodGroups, and on the cards, that move.

One program for all of it: a row with the limit, whose right side changes. What the solver chooses is placed for real, so
every point is a plan; a prefix of the plan itself, or the point before, counts instead where it is better.
"""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Frontier, FrontierPoint
from repack_gitops.planner.optimal.aggregation import Aggregation
from repack_gitops.planner.optimal.attempt import reserve
from repack_gitops.planner.optimal.bounds import Bounds
from repack_gitops.planner.optimal.disruption_rows import Costs
from repack_gitops.planner.optimal.model import Model
from repack_gitops.planner.optimal.objective import Score, prefix_scores, score
from repack_gitops.planner.optimal.program import Numbers
from repack_gitops.planner.optimal.relaxation import Relaxed, chosen_in, flows_in
from repack_gitops.planner.optimal.sequence import carry_out
from repack_gitops.planner.optimal.solver import FINE_COEFFICIENTS, Solver, Work
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.watch import Watch

#: Points by axis; the second where a program is so large that one takes seconds.
_POINTS, _FEW = 8, 4
_POD_GROUPS, _CARDS = 1, 4
#: Shares of the work that the search for the plan may do on one program: for nodes, and then for PodGroups.
_EFFORT, _LITTLE = 0.25, 0.02
#: Coefficients up to which a second solve by point takes a fraction of a second.
_QUICK = 20_000


def frontier(problem: Problem, aggregation: Aggregation, known: Bounds, nodes: Sequence[int], watch: Watch) -> Frontier | None:
    """Return the frontier up to a plan that empties ``nodes``, in this order; ``known`` are bounds on any plan.

    None where ``watch`` says stop: with points missing it would tell the wrong story.
    """
    axes = _Axes(problem, aggregation, known, nodes, watch)
    found = Frontier(pod_groups=tuple(axes.points(_POD_GROUPS)), cards=tuple(axes.points(_CARDS)))
    return None if watch.stop() else found


class _Axes:
    def __init__(self, problem: Problem, aggregation: Aggregation, known: Bounds, nodes: Sequence[int], watch: Watch) -> None:
        self._problem, self._aggregation, self._known = problem, aggregation, known
        self._watch, self._work = watch, Work(watch)
        self._model = Model(problem, aggregation)
        self._solver = Solver(self._model.program, self._work)
        self._freeing: Costs = dict.fromkeys(self._model.emptied.values(), -1)
        #: What every prefix of the plan is worth.
        self._prefixes = list(prefix_scores(problem.groups, problem.shares, nodes))

    def points(self, axis: int) -> list[FrontierPoint]:
        """Return the points of an axis, the plan last; ``axis`` is the level of the objective that is limited."""
        plan, best = self._prefixes[-1], self._prefixes[0]
        found: list[FrontierPoint] = []
        row = self._solver.at_most(self._model.levels[axis - 1], plan[axis])
        for limit in self._limits(plan[axis]):
            if not self._work.allows(self._solver.coefficients, fine=False):
                break
            self._solver.change(row, limit)
            reached, most = self._within(limit, axis)
            best = min(best, reached, *(p for p in self._prefixes if p[axis] <= limit))
            # What the best plan uses is a limit as good, and a tighter one.
            _add(found, _point(best[axis] or limit, best, most))
        self._solver.forget(row)
        if plan[0]:
            _add(found, _point(plan[axis], plan, self._known.most))
        return found

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
        reached = self._carried_out(self._gentlest(found.values))
        if reached[axis] > limit or -reached[0] > most:  # the solver erred: nothing it said counts
            return self._prefixes[0], self._known.most
        return reached, most

    def _gentlest(self, values: Numbers) -> Numbers:
        """Return a solution that empties as many nodes for the fewest PodGroups, where that is quick to find."""
        if self._solver.coefficients > _QUICK:
            return values
        row = self._solver.at_most(self._freeing, -len(chosen_in(self._model, values)))
        found = self._solver.minimise(self._model.levels[0], effort=_LITTLE)
        self._solver.forget(row)
        return values if found.values is None else found.values

    def _carried_out(self, values: Numbers) -> Score:
        state = PlanState(self._problem)
        relaxed = Relaxed(chosen_in(self._model, values), flows_in(self._model, values))
        packing = reserve(self._problem, self._aggregation, state, relaxed, self._watch)
        carry_out(self._problem, packing, state)
        return self._score([self._problem.index[step.node] for step in state.steps])

    def _score(self, nodes: Sequence[int]) -> Score:
        return score(self._problem.groups, self._problem.shares, nodes)


def _add(points: list[FrontierPoint], point: FrontierPoint) -> None:
    """Append ``point``; it takes the place of points that need as much for no more."""
    while points and points[-1].limit >= point.limit:
        points.pop()
    points.append(point)


def _point(limit: int, found: Score, most: int) -> FrontierPoint:
    return FrontierPoint(limit, -found[0], max(most, -found[0]), Disruption(*found[1:]))
