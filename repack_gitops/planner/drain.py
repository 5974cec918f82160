"""Strategy Drain, the guide's algorithm (spec 2.4): round by round, empty the candidate that disturbs least.

Each round scores every feasible candidate on the plan so far plus itself: five dimensions, each min-max normalised over
this round's candidates, weighted and summed. What the plan so far adds is the same for all, so marginal costs give the
same order. Every round frees one node; ties end in the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from repack_gitops.model.plan import PodMove, Reason, Step
from repack_gitops.planner.candidates import Candidates
from repack_gitops.planner.disruption import WEIGHTS, Ledger
from repack_gitops.planner.neighbourhood import Neighbourhood
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Problem, Whole
from repack_gitops.planner.quotas import Quotas
from repack_gitops.planner.trial import first_placement

#: Floating-point scores this close are compared again with exact fractions.
_NEAR = 1e-9


class DrainResult:
    """The steps found, and the state in which the search ended (for explanations)."""

    def __init__(
        self, steps: tuple[Step, ...], occupancy: Occupancy, over_budget: frozenset[int], over_quota: Mapping[int, Reason]
    ) -> None:
        self.steps, self.occupancy, self.over_budget, self.over_quota = steps, occupancy, over_budget, over_quota


def drain(problem: Problem) -> DrainResult:
    """Return the greedy plan; about O(rounds x nodes) vectorised."""
    search = _Search(problem)
    steps = []
    while (node := search.best()) is not None:
        steps.append(search.commit(node))
    return DrainResult(tuple(steps), search.occupancy, frozenset(search.over_budget), search.over_quota)


class _Search:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._ledger = Ledger(problem.groups, problem.shares())
        self.occupancy = Occupancy(problem)
        self.around = Neighbourhood(problem.snapshot, problem.nodes)
        self._candidates = Candidates(problem, self.occupancy, self.around, self._ledger.costs)
        self._quotas = Quotas(problem.quota_rules, [[v.pod for v in victims] for victims in problem.victims])
        self.over_budget: set[int] = set()
        self.over_quota: dict[int, Reason] = {}

    def best(self) -> int | None:
        """Return the candidate to empty next, or None when none is left."""
        self._drop_over_budget()
        alive = np.flatnonzero(self._candidates.alive)
        costs = self._ledger.costs.take(alive, axis=1)  # unlike costs[:, alive] in memory order, which is ten times as quick
        return int(alive[lowest_score(costs)]) if alive.size else None

    def _drop_over_budget(self) -> None:
        """Budgets and quotas only fill up, so what exceeds one now always will."""
        budget, costs, over = self._problem.budget, self._ledger.costs, np.zeros(len(self._problem.nodes), dtype=bool)
        if budget.pod_groups is not None:
            over |= costs[0] + self._ledger.groups_touched > budget.pod_groups
        if budget.cards is not None:
            over |= costs[3] + self._ledger.cards_moved > budget.cards
        for node in map(int, np.flatnonzero((over | self._quotas.exceeded) & self._candidates.alive)):
            self._candidates.drop(node)
            self.occupancy.certain[node] = True
            if over[node]:
                self.over_budget.add(node)
            else:
                self.over_quota[node] = self._quotas.why_not(node)

    def commit(self, node: int) -> Step:
        """Empty ``node`` and return the step."""
        receivers = self._receivers(node)
        tokens: list[object] = []
        for victim, receiver in zip(self._problem.victims[node], receivers, strict=True):
            self.occupancy.place(victim.pod_class, receiver)
            tokens += self.around.move(victim.pod, receiver)
        self.occupancy.close(node)
        self._candidates.drop(node)
        for receiver in receivers:
            self.occupancy.certain[receiver] = True
            self._candidates.drop(receiver)
        self._ledger.commit(node)
        self._quotas.commit(node)
        self._candidates.changed({node, *receivers}, tokens)
        return self._step(node, receivers)

    def _receivers(self, node: int) -> tuple[int, ...]:
        """Return where the victims go; if the search gives up, there is still the witness."""
        classes = tuple(v.pod_class for v in self._problem.victims[node])
        with self._candidates.company(node) as company:
            found = first_placement(self.occupancy, classes, node, self._ledger.costs, company)
        return found or self._candidates.receivers(node)

    def _step(self, node: int, receivers: tuple[int, ...]) -> Step:
        problem, source = self._problem, self._problem.nodes[node].name
        moves = [
            PodMove(
                namespace=v.pod.namespace,
                pod=v.pod.name,
                uid=v.pod.uid,
                pod_group=v.pod.pod_group or "",
                owner=problem.groups[v.group].owner,
                from_node=source,
                to_node=problem.nodes[receiver].name,
                cards=v.cards,
            )
            for v, receiver in zip(problem.victims[node], receivers, strict=True)
        ]
        return Step(source, tuple(moves))


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
