"""The model solved level by level: a choice of nodes, the flows that guide their pods, and what no plan can beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repack_gitops.planner.optimal.disruption_rows import Costs
from repack_gitops.planner.optimal.model import Model
from repack_gitops.planner.optimal.objective import Score, score
from repack_gitops.planner.optimal.program import Numbers
from repack_gitops.planner.optimal.solver import Solver
from repack_gitops.planner.problem import Problem

#: Share of the solver's work for each level after the first.
_LATER = 0.1


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What the model says.

    Attributes
    ----------
    chosen
        Candidates to empty.
    flows
        Pods by (type, cell).
    most
        No plan frees more nodes.
    solved
        Whether ``most`` is the model's optimum; else a limit on work cut the search for it.
    best
        No plan scores better; None where a limit on work cut the search.
    """

    chosen: tuple[int, ...]
    flows: Mapping[tuple[int, int], int]
    most: int
    solved: bool
    best: Score | None


def relax(problem: Problem, model: Model) -> Relaxed:
    """Solve ``model``, one level of the objective after another, each with those before it fixed."""
    return _Levels(problem, model).run()


class _Levels:
    def __init__(self, problem: Problem, model: Model) -> None:
        self._problem, self._model, self._shares = problem, model, problem.shares
        self._solver = Solver(model.program)
        self._values: Numbers | None = None
        self._settled: list[Costs] = []
        #: Whether every level so far was solved to its end.
        self._proven = True

    def run(self) -> Relaxed:
        freeing = dict.fromkeys(self._model.emptied.values(), -1)
        most = len(freeing)
        for level, costs in enumerate((freeing, *self._model.levels)):
            if self._decided(costs):
                continue
            if self._solver.exhausted:
                self._proven = False
                break
            bound = self._solve(level, costs)
            if level == 0 and bound is not None:
                most = min(most, -bound)
            if not self._proven or not self._chosen():
                break  # further levels would cost as much and prove nothing
        chosen = self._chosen()
        best = score(self._problem.groups, self._shares, chosen)
        return Relaxed(chosen, self._flows(), most, most == len(chosen), best if self._proven else None)

    def _decided(self, costs: Costs) -> bool:
        """Tell whether ``costs`` are but a multiple of a level that is settled."""
        if not costs:
            return True
        return any(_parallel(costs, other) for other in self._settled)

    def _solve(self, level: int, costs: Costs) -> int | None:
        found = self._solver.minimise(costs, effort=_LATER if level else 1.0)
        if found.values is not None:
            self._values = found.values
        reached = score(self._problem.groups, self._shares, self._chosen())[level]
        self._proven &= found.bound is not None and found.bound >= reached
        self._solver.at_most(costs, reached)
        self._settled.append(costs)
        return found.bound

    def _chosen(self) -> tuple[int, ...]:
        values = self._values
        if values is None:
            return ()
        return tuple(node for node, column in self._model.emptied.items() if values[column] > 0.5)

    def _flows(self) -> dict[tuple[int, int], int]:
        if self._values is None:
            return {}
        found = {key: int(np.rint(self._values[column])) for key, column in self._model.flows.items()}
        return {key: pods for key, pods in found.items() if pods}


def _parallel(costs: Costs, other: Costs) -> bool:
    """Tell whether ``costs`` is ``other`` times a constant."""
    if costs.keys() != other.keys():
        return False
    pairs = iter((value, other[column]) for column, value in costs.items())
    first, second = next(pairs)
    return all(value * second == first * base for value, base in pairs)
