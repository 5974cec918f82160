"""Strategy Optimal from end to end: Drain's plan, then plans from ever closer models; the best one wins."""

from __future__ import annotations

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import BoundKind, Found, Frontier, Optimality
from repack_gitops.planner.answer import Answer
from repack_gitops.planner.drain import DrainResult, drain
from repack_gitops.planner.optimal.aggregation import Aggregation
from repack_gitops.planner.optimal.attempt import Attempt, attempt, nodes_of
from repack_gitops.planner.optimal.bounds import Bounds
from repack_gitops.planner.optimal.frontier import frontier
from repack_gitops.planner.optimal.model import Model
from repack_gitops.planner.optimal.objective import LEVELS, Score
from repack_gitops.planner.optimal.relaxation import COARSE, FINE, Levels, Relaxed
from repack_gitops.planner.optimal.solver import Work
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.watch import Watch


def optimal(problem: Problem, watch: Watch) -> Answer:
    """Return the best plan found under the objective, and how good it is; once ``watch`` said stop, it has to stay with it."""
    watch.entered("Strategy Drain")
    drained = Attempt(problem, drain(problem, watch=watch))
    search = _Search(problem, drained, watch)
    search.run()
    plans = {"Optimal": search.own, "Drain": drained} if search.own is not None else {"Drain": drained}
    scores = {strategy: plan.score for strategy, plan in plans.items()}
    kept = min(scores, key=scores.__getitem__)
    search.check(scores[kept])
    result = plans[kept].result
    return Answer(
        result, _optimality(search.known, scores, kept), search.frontier(result) if problem.options.frontier else None
    )


class _Search:
    """Plans from ever closer models; ``known`` is what no plan can beat."""

    def __init__(self, problem: Problem, drained: Attempt, watch: Watch) -> None:
        self._problem, self._watch, self._work = problem, watch, Work(watch)
        self._together = Aggregation(problem, PlanState(problem).occupancy)
        self.known = Bounds(len(self._together.candidates))
        self._drained = drained
        #: The best plan of this strategy itself.
        self.own: Attempt | None = None
        self._tried: Relaxed | None = None

    def run(self) -> None:
        """Look until the best plan is found, work runs out, or whoever waits says stop."""
        self._tell()
        self._plan(self._together)
        if len(self._settled) < len(LEVELS) and not self._watch.stop():
            one_by_one = self._together.one_by_one()
            if one_by_one is not None:
                self._plan(one_by_one)
        fewer = -self._best.score[0] < self.known.most  # else it would be the same question once more
        if (fewer or self._best.given_up) and not self._watch.stop():
            self._plan_for_less()

    def check(self, found: Score) -> None:
        """Believe nothing that a plan of score ``found`` refutes."""
        if self.known.contradict(found):
            self.known = Bounds(len(self._together.candidates))

    def frontier(self, plan: DrainResult) -> Frontier | None:
        """Return what less disruption than ``plan``'s would free; its work is its own, so that the plan is the same without."""
        self._watch.entered("What less disruption would free")
        nodes = nodes_of(self._problem, plan)
        return frontier(self._problem, self._together, self.known, nodes, self._watch)

    @property
    def _settled(self) -> tuple[str, ...]:
        return self.known.settled(self._best.score)

    @property
    def _best(self) -> Attempt:
        return self._drained if self.own is None or self._drained.score < self.own.score else self.own

    def _plan(self, aggregation: Aggregation) -> None:
        """Free the most nodes for the least disruption; the finer levels only for what turns out to be possible.

        A plan is made at once from the first level, so that whoever says stop has one.
        """
        levels = self._levels(aggregation)
        levels.free_most()
        self._try(aggregation, levels)
        # Breaches only where the most nodes turned out to be possible: else nobody keeps this choice.
        levels.disturb_least(COARSE if self._settled else COARSE[:1])
        self._try(aggregation, levels)
        if len(self._settled) > len(COARSE):
            levels.disturb_least(FINE)
            self._try(aggregation, levels)

    def _plan_for_less(self) -> None:
        """Free as many nodes as turned out to be possible for less, without those that were given up."""
        levels = self._levels(self._together)
        levels.keep(self._best.given_up)
        levels.free(-self._best.score[0])
        levels.disturb_least(COARSE[:1])
        self._try(self._together, levels)

    def _levels(self, aggregation: Aggregation) -> Levels:
        return Levels(self._problem, Model(self._problem, aggregation), self._work)

    def _try(self, aggregation: Aggregation, levels: Levels) -> None:
        """Make a plan of the best solution so far, unless that was done before."""
        if not levels.restricted:
            self.known = self.known.and_also(levels.bounds)
        relaxed = levels.relaxed
        if relaxed != self._tried and (relaxed.chosen or self.own is None):
            self._tried = relaxed
            self._tell()
            self._watch.entered("Places for all pods")
            found = attempt(self._problem, aggregation, relaxed, self._watch)
            if self.own is None or found.score < self.own.score:
                self.own = found
        self._tell()

    def _tell(self) -> None:
        self._watch.found(-self._best.score[0], self.known.most)


def _optimality(known: Bounds, scores: dict[str, Score], kept: str) -> Optimality:
    """Return how good the plan that is kept is."""
    settled = known.settled(scores[kept])
    return Optimality(
        strategy=kept,
        freed=-scores[kept][0],
        upper_bound=known.most,
        proven=settled == LEVELS,
        bound_kind=BoundKind.MODEL if known.solved else BoundKind.WORK_LIMIT,
        found=tuple(Found(name, -found[0], Disruption(*found[1:])) for name, found in scores.items()),
        settled=settled,
    )
