"""What emptying nodes does to PodGroups, as columns and rows (spec 2.5, rows 3 to 5).

For a PodGroup with victims on one candidate only, everything is known once that node is emptied: its cost is the node's.
For the others: g (touched), b (breached) and d (damaged cards), which the objective presses down on the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.planner.disruption import GroupFacts, Share
from repack_gitops.planner.optimal.program import Program

#: Coefficients of one level of the objective by column.
Costs = dict[int, int]
#: On which candidate (its column) how much of a PodGroup is.
Hosts = Sequence[tuple[int, Share]]


class DisruptionRows:
    """Adds PodGroups to a program; ``levels`` are the five dimensions as costs, in the order of the objective."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.levels: tuple[Costs, Costs, Costs, Costs, Costs] = ({}, {}, {}, {}, {})

    def add(self, facts: GroupFacts, hosts: Hosts) -> None:
        """Add one PodGroup."""
        for column, share in hosts:
            self._count(3, column, share.cards)
            self._count(4, column, share.pods)
        if len(hosts) == 1:
            self._alone(facts, *hosts[0])
        elif hosts:
            self._spread(facts, hosts)

    def _count(self, level: int, column: int, amount: int) -> None:
        if amount:
            costs = self.levels[level]
            costs[column] = costs.get(column, 0) + amount

    def _alone(self, facts: GroupFacts, column: int, share: Share) -> None:
        breached = share.pods > facts.slack
        self._count(0, column, 1)
        self._count(1, column, int(breached))
        self._count(2, column, facts.footprint if breached else share.cards)

    def _spread(self, facts: GroupFacts, hosts: Hosts) -> None:
        touched = self._touched(hosts)
        pods = sum(share.pods for _, share in hosts)
        breached = touched if not facts.slack else self._breached(facts, hosts, pods) if pods > facts.slack else None
        if breached is not None:
            self._count(1, breached, 1)
        self._damaged(facts, hosts, breached)

    def _touched(self, hosts: Hosts) -> int:
        touched = self._program.column(1, whole=False)
        for column, _ in hosts:
            self._program.at_most({column: 1, touched: -1}, 0)
        self._count(0, touched, 1)
        return touched

    def _breached(self, facts: GroupFacts, hosts: Hosts, pods: int) -> int:
        breached = self._program.column(1)
        row = {column: share.pods for column, share in hosts}
        self._program.at_most({**row, breached: facts.slack - pods}, facts.slack)
        for column, share in hosts:
            if share.pods > facts.slack:
                self._program.at_most({column: 1, breached: -1}, 0)
        return breached

    def _damaged(self, facts: GroupFacts, hosts: Hosts, breached: int | None) -> None:
        """Cards moved, and the whole footprint once breached (which rounding may make the smaller of the two)."""
        moved = {column: share.cards for column, share in hosts if share.cards}
        if breached is None:
            for column, cards in moved.items():
                self._count(2, column, cards)
            return
        more = facts.footprint - sum(moved.values())
        if not facts.slack and more >= 0:  # whoever is touched is breached
            self._count(2, breached, facts.footprint)
            return
        damaged = self._program.column(float("inf"), whole=False)
        self._count(2, damaged, 1)
        # Once breached, `more` on top of what moves is at most the footprint: a tighter row than the moved cards alone.
        self._program.at_most({**moved, damaged: -1, **({breached: more} if more else {})}, 0)
        self._program.at_most({breached: facts.footprint, damaged: -1}, 0)
