"""The aggregated integer model of spec 2.5: which candidates to empty, and how many pods of each type go to which cell.

Whatever a plan may do is a solution of it, so its optimum is a bound. What it leaves out: relations between pods (inter-pod
affinity, topology spread), volumes' attach limits, and, in cells of several nodes at risk or of sizes that do not nest,
that pods are whole on each node.
"""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.planner.disruption import Share
from repack_gitops.planner.optimal.aggregation import Aggregation
from repack_gitops.planner.optimal.disruption_rows import Costs, DisruptionRows
from repack_gitops.planner.optimal.limit_rows import add_quotas
from repack_gitops.planner.optimal.program import Program
from repack_gitops.planner.optimal.room_rows import RoomRow, room_rows
from repack_gitops.planner.problem import Problem

#: Most candidates with which pods flow whole into cells of several nodes; beyond, the solver takes minutes over wide ranges.
WHOLE_FLOWS = 1_500


class Model:
    """The program, and what its columns mean."""

    def __init__(self, problem: Problem, aggregation: Aggregation) -> None:
        self._problem, self._aggregation = problem, aggregation
        self.program = Program()
        #: Column by candidate: 1 if it is emptied.
        self.emptied: dict[int, int] = {node: self.program.column(1) for node in aggregation.candidates}
        #: Column by (type, cell): pods of the type that go there.
        self.flows: dict[tuple[int, int], int] = {}
        self._sums: dict[int, int] = {}
        self._add_flows()
        self._add_room()
        add_quotas(self.program, problem, self.emptied)
        self.levels: tuple[Costs, ...] = self._add_disruption()

    def _add_flows(self) -> None:
        aggregation = self._aggregation
        total = [0] * len(aggregation.types)
        for counts in aggregation.counts:
            for type_, count in counts.items():
                total[type_] += count
        whole = len(aggregation.candidates) <= WHOLE_FLOWS
        rows: list[dict[int, int]] = [{} for _ in aggregation.types]
        for number, cell in enumerate(aggregation.cells):
            for type_ in cell.types:
                column = self.program.column(total[type_], whole=whole or len(cell.nodes) == 1)
                self.flows[type_, number] = column
                rows[type_][column] = 1
        for (_, column), counts in zip(self.emptied.items(), aggregation.counts, strict=True):
            for type_, count in counts.items():
                rows[type_][column] = -count
        for row in rows:
            self.program.equal(row, 0)

    def _add_room(self) -> None:
        for number, cell in enumerate(self._aggregation.cells):
            for row in room_rows(self._problem, self._aggregation, cell):
                self._add_row(number, row)

    def _add_row(self, number: int, row: RoomRow) -> None:
        cell = self._aggregation.cells[number]
        found = {self.flows[t, number]: w for t, w in zip(cell.types, row.weights, strict=True) if w}
        if len(cell.nodes) > 1 and len(set(row.room)) == 1:
            found[self._emptied_in(number)] = row.room[0]
        else:
            pairs = zip(cell.nodes, row.room, strict=True)
            found |= {self.emptied[node]: room for node, room in pairs if room and node in self.emptied}
        self.program.at_most(found, sum(row.room))

    def _emptied_in(self, number: int) -> int:
        """Return a column for how many nodes of a cell are emptied: it spares many rows their long sums."""
        if number not in self._sums:
            columns = [self.emptied[n] for n in self._aggregation.cells[number].nodes if n in self.emptied]
            self._sums[number] = self.program.column(len(columns), whole=False)
            self.program.equal({**dict.fromkeys(columns, 1), self._sums[number]: -1}, 0)
        return self._sums[number]

    def _add_disruption(self) -> tuple[Costs, ...]:
        problem, rows = self._problem, DisruptionRows(self.program)
        for facts, hosts in zip(problem.groups, self._hosts(problem.shares), strict=True):
            rows.add(facts, hosts)
        if problem.budget.pod_groups is not None:
            self.program.at_most(rows.levels[0], problem.budget.pod_groups)
        if problem.budget.cards is not None:
            self.program.at_most(rows.levels[3], problem.budget.cards)
        return rows.levels

    def _hosts(self, shares: Iterable[tuple[Share, ...]]) -> list[list[tuple[int, Share]]]:
        found: list[list[tuple[int, Share]]] = [[] for _ in self._problem.groups]
        for node, parts in enumerate(shares):
            for share in parts:
                found[share.group].append((self.emptied[node], share))
        return found
