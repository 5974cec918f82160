"""The order of execution (spec 2.6), and the last word of relations between pods.

Whole nodes, always the one that needs the fewest new PodGroups and cards next, so that a gang's moves come together and an
aborted run keeps most of the gain. Receivers never send and emptied nodes never receive, so every prefix has room. Relations
between pods are asked on the state in which a step finds them; where they close the reserved places, other room is looked
for, and a node that finds none waits until others have moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from repack_gitops.planner.neighbourhood import Company
from repack_gitops.planner.optimal.packing import Packing
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem, Victim

#: Rows of the costs (planner.disruption): PodGroups, cards, breaches, damaged cards, pods.
_CHEAPEST = [0, 3, 1, 2, 4]


def carry_out(problem: Problem, packing: Packing, state: PlanState) -> tuple[int, ...]:
    """Add the steps of ``packing`` to ``state``; returns the nodes left out, for which no order is found."""
    return _Sequence(problem, packing, state).run()


class _Queue:
    """Nodes by what they would add to the plan now; a node's entry is renewed whenever that may have changed."""

    def __init__(self, problem: Problem, state: PlanState, nodes: Iterable[int]) -> None:
        self._costs, self._shares = state.ledger.costs, problem.shares
        self._waiting: set[int] = set()
        self._entries: list[tuple[list[int], int]] = []
        self._by_group: dict[int, list[int]] = {}
        for node in nodes:
            for share in self._shares[node]:
                self._by_group.setdefault(share.group, []).append(node)
            self.put(node)

    def put(self, node: int) -> None:
        """Let ``node`` wait for its turn."""
        self._waiting.add(node)
        self._enter(node)

    def _enter(self, node: int) -> None:
        heappush(self._entries, (self._cost(node), node))

    def _cost(self, node: int) -> list[int]:
        found: list[int] = self._costs[_CHEAPEST, node].tolist()
        return found

    def take(self) -> int | None:
        """Take the node that adds least; ties: the first."""
        while self._entries:
            cost, node = heappop(self._entries)
            if node in self._waiting and cost == self._cost(node):
                self._waiting.discard(node)
                return node
        return None

    def emptied(self, node: int) -> None:
        """Renew the entries of the nodes that share PodGroups with ``node``."""
        for share in self._shares[node]:
            for other in self._by_group[share.group]:
                if other in self._waiting:
                    self._enter(other)


class _Sequence:
    def __init__(self, problem: Problem, packing: Packing, state: PlanState) -> None:
        self._problem, self._packing, self._state = problem, packing, state
        self._everywhere = np.arange(len(problem.nodes))

    def run(self) -> tuple[int, ...]:
        queue, waiting = _Queue(self._problem, self._state, self._packing.chosen), list[int]()
        while (node := queue.take()) is not None:
            receivers = self._receivers(node)
            if receivers is None:
                waiting.append(node)
                continue
            if self._state.empty(node, receivers):  # pods with relations moved: others may find places now
                while waiting:
                    queue.put(waiting.pop())
            queue.emptied(node)
        self._give_up(waiting)
        return tuple(waiting)

    def _receivers(self, node: int) -> tuple[int, ...] | None:
        victims = self._problem.victims[node]
        if not any(self._state.around.concerns(v.pod) for v in victims):
            return tuple(self._packing.next_place(v.pod_class) for v in victims)
        with self._state.around.without([v.pod for v in victims]) as company:
            return self._admitted(victims, company)

    def _admitted(self, victims: tuple[Victim, ...], company: Company) -> tuple[int, ...] | None:
        """Return receivers that other pods admit one after another; None, and nothing is claimed, if there are none."""
        found: list[int] = []
        for victim in victims:
            node = self._admitting(victim, company, victims, found)
            if node is None:
                return None
            company.put(node)
            found.append(node)
        for victim, node in zip(victims, found, strict=True):
            self._packing.claim(victim.pod_class, node)
        return tuple(found)

    def _admitting(self, victim: Victim, company: Company, victims: tuple[Victim, ...], found: list[int]) -> int | None:
        """Return a reserved place of the victim's class that is still free and admits it, else any that has room."""
        reserved = list(self._packing.reserved(victim.pod_class))
        for other, node in zip(victims, found, strict=False):
            if other.pod_class == victim.pod_class and node in reserved:
                reserved.remove(node)
        for node in dict.fromkeys(reserved):
            if company.admits(node):
                return node
        return self._elsewhere(victim, company, found)

    def _elsewhere(self, victim: Victim, company: Company, found: list[int]) -> int | None:
        room = self._packing.room
        flags = room.fits(victim.pod_class, self._everywhere) & company.open_nodes()
        flags[found] = False  # room there may be spoken for by this very step
        fitting = np.flatnonzero(flags)
        return int(fitting[room.idle[0, fitting].argmin()]) if fitting.size else None

    def _give_up(self, waiting: list[int]) -> None:
        for node in waiting:
            for victim in self._problem.victims[node]:
                self._packing.give_back(victim.pod_class)
            self._packing.release(node)
