"""The model solved level by level: a choice of nodes, the flows that guide their pods, and what no plan can beat."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from repack_gitops.planner.optimal.bounds import Bounds
from repack_gitops.planner.optimal.disruption_rows import Costs
from repack_gitops.planner.optimal.model import Model
from repack_gitops.planner.optimal.objective import LEVELS, score
from repack_gitops.planner.optimal.program import Numbers
from repack_gitops.planner.optimal.solver import Solver, Work
from repack_gitops.planner.problem import Problem

#: Shares of the solver's work, by level: what matters less gets less.
_EFFORTS = (1.0, 0.2, 0.02, 0.02, 0.02, 0.02)
#: The levels of the objective in words for those who wait.
_PHASES = (
    "Most nodes freed",
    "Fewest PodGroups",
    "Fewest breaches",
    "Fewest damaged cards",
    "Fewest moved cards",
    "Fewest moved pods",
)
#: Levels after the first: PodGroups and breaches; damaged cards, moved cards and moved pods.
COARSE, FINE = range(1, 3), range(3, 6)


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A solution of the model.

    Attributes
    ----------
    chosen
        Candidates to empty.
    flows
        Pods by (type, cell).
    """

    chosen: tuple[int, ...]
    flows: Mapping[tuple[int, int], int]


class Levels:
    """``model`` and the levels of the objective that are solved so far, each with those before it fixed."""

    def __init__(self, problem: Problem, model: Model, work: Work) -> None:
        self._problem, self._model, self._work = problem, model, work
        self._solver = Solver(model.program, work)
        self._freeing: Costs = dict.fromkeys(model.emptied.values(), -1)
        self._values: Numbers | None = None
        self._settled: list[Costs] = []
        self._best: list[int] = []
        self._most = len(self._freeing)
        self._cut = False
        #: Whether nodes were kept, or a number of them was required: then bounds say nothing of other plans.
        self.restricted = False

    # ---- the first level ----
    def free_most(self) -> None:
        """Solve it: free the most nodes."""
        bound = self._solve(0, self._freeing)
        if bound is not None:
            self._most = min(self._most, -bound)

    def free(self, nodes: int) -> None:
        """Require that many instead."""
        self.restricted = True
        self._solver.at_most(self._freeing, -nodes)
        self._settled.append(self._freeing)

    def keep(self, nodes: Collection[int]) -> None:
        """Let ``nodes`` stay."""
        if nodes:
            self.restricted = True
            self._solver.at_most({self._model.emptied[node]: 1 for node in sorted(nodes)}, 0)

    # ---- the others ----
    def disturb_least(self, levels: Iterable[int]) -> None:
        """Solve ``levels``, one after another, while work is left and every one is solved to its end."""
        for level in levels:
            costs = self._model.levels[level - 1]
            if self._cut:
                return
            if self._values is not None and (not self._chosen() or self._decided(costs)):
                self._best.append(self._reached(level))
            elif self._work.allows(self._solver.coefficients, fine=level in FINE):
                self._solve(level, costs)
            else:
                self._cut = True

    def _decided(self, costs: Costs) -> bool:
        """Tell whether ``costs`` are but a multiple of a level that is settled."""
        return not costs or any(_parallel(costs, other) for other in self._settled)

    def _solve(self, level: int, costs: Costs) -> int | None:
        self._work.watch.entered(_PHASES[level])
        found = self._solver.minimise(costs, effort=_EFFORTS[level])
        if found.values is not None:
            self._values = found.values
        if self._values is None:
            self._cut = True
            return found.bound
        reached = self._reached(level)
        self._cut = found.bound is None or found.bound < reached
        if not self._cut:
            self._best.append(reached)
        self._solver.at_most(costs, reached)
        self._settled.append(costs)
        return found.bound

    def _reached(self, level: int) -> int:
        return score(self._problem.groups, self._problem.shares, self._chosen())[level]

    @property
    def bounds(self) -> Bounds:
        """What no plan can beat, unless ``restricted``."""
        best = tuple(self._best) if self._most else (0,) * len(LEVELS)
        return Bounds(self._most, self._most == len(self._chosen()), best)

    @property
    def relaxed(self) -> Relaxed:
        """The best solution so far."""
        return Relaxed(self._chosen(), self._flows())

    def _chosen(self) -> tuple[int, ...]:
        return () if self._values is None else chosen_in(self._model, self._values)

    def _flows(self) -> dict[tuple[int, int], int]:
        return {} if self._values is None else flows_in(self._model, self._values)


def chosen_in(model: Model, values: Numbers) -> tuple[int, ...]:
    """Return the candidates that a solution empties."""
    return tuple(node for node, column in model.emptied.items() if values[column] > 0.5)


def flows_in(model: Model, values: Numbers) -> dict[tuple[int, int], int]:
    """Return a solution's pods by (type, cell), rounded where the model lets pods be divided."""
    found = {key: int(np.rint(values[column])) for key, column in model.flows.items()}
    return {key: pods for key, pods in found.items() if pods}


def _parallel(costs: Costs, other: Costs) -> bool:
    """Tell whether ``costs`` is ``other`` times a constant."""
    if costs.keys() != other.keys():
        return False
    pairs = iter((value, other[column]) for column, value in costs.items())
    first, second = next(pairs)
    return all(value * second == first * base for value, base in pairs)
