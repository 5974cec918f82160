"""Strategy Optimal from end to end: model, packing, order, completion; beside Drain, and the better plan wins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import BoundKind, Found, Optimality, Step
from repack_gitops.planner.drain import DrainResult, drain
from repack_gitops.planner.optimal.aggregation import Aggregation
from repack_gitops.planner.optimal.joint_room import JointRoom
from repack_gitops.planner.optimal.model import Model
from repack_gitops.planner.optimal.objective import Score, score
from repack_gitops.planner.optimal.packing import Packing
from repack_gitops.planner.optimal.relaxation import Relaxed, relax
from repack_gitops.planner.optimal.sequence import carry_out
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem


def optimal(problem: Problem) -> tuple[DrainResult, Optimality]:
    """Return the best plan found under the objective, and how good it is."""
    state = PlanState(problem)
    aggregation = Aggregation(problem, state.occupancy)
    relaxed = relax(problem, Model(problem, aggregation))
    packing = Packing(problem, aggregation, JointRoom(problem, state.occupancy), relaxed.chosen)
    packing.run(relaxed.flows)
    carry_out(problem, packing, state)
    results = {"Optimal": drain(problem, state)}
    if _score(problem, results["Optimal"].steps) != relaxed.best:  # else nothing can be better
        results["Drain"] = drain(problem)
    return _better(problem, relaxed, results)


def _better(problem: Problem, relaxed: Relaxed, results: dict[str, DrainResult]) -> tuple[DrainResult, Optimality]:
    """Return the result that scores best, the first of equals."""
    scores = {strategy: _score(problem, result.steps) for strategy, result in results.items()}
    strategy = min(scores, key=scores.__getitem__)
    if _contradicts(scores[strategy], relaxed):
        relaxed = replace(relaxed, most=sum(1 for v in problem.victims if v), solved=False, best=None)
    optimality = Optimality(
        strategy=strategy,
        freed=-scores[strategy][0],
        upper_bound=relaxed.most,
        proven=scores[strategy] == relaxed.best,
        bound_kind=BoundKind.MODEL if relaxed.solved else BoundKind.WORK_LIMIT,
        found=tuple(Found(name, -found[0], Disruption(*found[1:])) for name, found in scores.items()),
    )
    return results[strategy], optimality


def _contradicts(found: Score, relaxed: Relaxed) -> bool:
    """Tell whether a plan is better than the model allows: then the solver erred, and nothing it said counts."""
    return -found[0] > relaxed.most or (relaxed.best is not None and found < relaxed.best)


def _score(problem: Problem, steps: Iterable[Step]) -> Score:
    return score(problem.groups, problem.shares, (problem.index[s.node] for s in steps))
