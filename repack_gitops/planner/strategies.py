"""Which search the options ask for."""

from __future__ import annotations

from repack_gitops.errors import InvalidInput
from repack_gitops.model.options import STRATEGIES
from repack_gitops.planner.answer import Answer
from repack_gitops.planner.drain import drain
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.watch import Watch


def search(problem: Problem, watch: Watch) -> Answer:
    """Return the plan that the options' strategy finds."""
    strategy = problem.options.strategy
    if strategy not in STRATEGIES:
        raise InvalidInput(f"there is no strategy {strategy[:40]!r}", hint=f"There are {', '.join(STRATEGIES)}.")
    if strategy == "Drain":
        return Answer(drain(problem, watch=watch))
    # Only now the solver, which takes time to load.
    from repack_gitops.planner.optimal.search import optimal

    return optimal(problem, watch)
