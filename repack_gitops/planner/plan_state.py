"""A plan as it grows, node by node, and the cluster as it leaves it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repack_gitops.model.plan import PodMove, Step
from repack_gitops.planner.disruption import Ledger
from repack_gitops.planner.neighbourhood import Neighbourhood
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem
from repack_gitops.planner.quotas import Quotas


class PlanState:
    """The steps so far, what they disturb and draw, and where pods are after them."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.ledger = Ledger(problem.groups, problem.shares)
        self.occupancy = Occupancy(problem)
        self.around = Neighbourhood(problem.snapshot, problem.nodes)
        self.quotas = Quotas(problem.quota_rules, [[v.pod for v in victims] for victims in problem.victims])
        self.steps: list[Step] = []
        #: Nodes that the steps empty or send pods to.
        self.settled: set[int] = set()

    def over_budget(self) -> Flags:
        """Return which nodes maxPerRun no longer covers on top of the plan."""
        budget, costs, over = self._problem.budget, self.ledger.costs, np.zeros(len(self._problem.nodes), dtype=bool)
        if budget.pod_groups is not None:
            over |= costs[0] + self.ledger.groups_touched > budget.pod_groups
        if budget.cards is not None:
            over |= costs[3] + self.ledger.cards_moved > budget.cards
        return over

    def empty(self, node: int, receivers: Sequence[int]) -> list[object]:
        """Add the step that sends ``node``'s victims to ``receivers``; returns tokens of what changed between pods."""
        tokens: list[object] = []
        for victim, receiver in zip(self._problem.victims[node], receivers, strict=True):
            self.occupancy.place(victim.pod_class, receiver)
            tokens += self.around.move(victim.pod, receiver)
        self.occupancy.close(node)
        self.occupancy.certain[list(receivers)] = True
        self.ledger.commit(node)
        self.quotas.commit(node)
        self.settled |= {node, *receivers}
        self.steps.append(self._step(node, receivers))
        return tokens

    def _step(self, node: int, receivers: Sequence[int]) -> Step:
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
