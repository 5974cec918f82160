"""Which search the options ask for."""

from __future__ import annotations

from repack_gitops.errors import InvalidInput
from repack_gitops.model.options import STRATEGIES
from repack_gitops.model.plan import Optimality
from repack_gitops.planner.drain import DrainResult, drain
from repack_gitops.planner.problem import Problem


def search(problem: Problem) -> tuple[DrainResult, Optimality | None]:
    """Return the plan that the options' strategy finds, and how good it is where the strategy knows."""
    strategy = problem.options.strategy
    if strategy not in STRATEGIES:
        raise InvalidInput(f"there is no strategy {strategy[:40]!r}", hint=f"There are {', '.join(STRATEGIES)}.")
    if strategy == "Drain":
        return drain(problem), None
    # Only now the solver, which takes time to load.
    from repack_gitops.planner.optimal.search import optimal

    return optimal(problem)
