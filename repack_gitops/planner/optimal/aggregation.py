"""Victims by type and receivers by cell: the small world in which plans are counted and not enumerated.

A *type* are pods that no receiver tells apart as far as a solver counts: the same cards, the same nodes, the same host
ports, and the same amounts of whatever else may run out before the cards do. A *cell* is a set of receivers that pass the
same static filters. Only cards bind on *ample* nodes: pods of the allowed types that fill their free cards never exhaust
anything else. Ample nodes share a cell, in which sums decide if the sizes nest; a node *at risk* gets a cell of its own
while there are few, so that whole amounts decide there, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np

from repack_gitops.model.cluster import HostPort
from repack_gitops.planner.feasibility import node_resources_fit
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.optimal.amounts import Column, sound_columns
from repack_gitops.planner.optimal.knapsack import nested
from repack_gitops.planner.problem import Flags, Problem, Whole

#: Most flows (pairs of a type and a node) that nodes at risk may cost.
MOST_SINGLE_FLOWS = 10_000


@dataclass(frozen=True, slots=True)
class Type:
    """Pods that a solver does not tell apart; ``amounts`` are units of ``Aggregation.binding``."""

    size: int
    amounts: tuple[int, ...]
    classes: tuple[int, ...]
    with_ports: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """Receivers that admit the same ``types``, by node index; ``ample``: only cards can bind there."""

    nodes: tuple[int, ...]
    types: tuple[int, ...]
    ample: bool


class Aggregation:
    """Types, cells, and which types every candidate's victims are of."""

    def __init__(self, problem: Problem, occupancy: Occupancy) -> None:
        self._problem, self._occupancy = problem, occupancy
        columns = sound_columns(problem)
        self.cards, self._others = columns[0], columns[1:]
        self._open = self._opened()
        self._static, self._static_of = _kinds(self._open)
        self._risks = self._at_risk()
        #: What may run out before the cards do, somewhere.
        self.binding: tuple[Column, ...] = tuple(c for c, risk in zip(self._others, self._risks, strict=True) if risk.any())
        self.types: list[Type] = []
        self.type_of: list[int] = self._read_types()
        self.candidates: tuple[int, ...] = tuple(n for n, victims in enumerate(problem.victims) if victims)
        self.counts: list[Counter[int]] = [
            Counter(self.type_of[v.pod_class] for v in problem.victims[n]) for n in self.candidates
        ]
        self.cells: list[Cell] = [cell for kind in range(self._static.shape[1]) for cell in self._cells_of(kind)]

    def _opened(self) -> Flags:
        """Return, shape (classes, nodes), who may ever go where as far as static filters and ports of others decide."""
        problem, occupancy = self._problem, self._occupancy
        found = np.zeros((len(problem.classes), len(problem.nodes)), dtype=bool)
        for k in range(len(problem.classes)):
            found[k] = problem.may_host(k) & occupancy.receives & ~occupancy.ports_taken(k)
        for column in self._others:
            if column.name in node_resources_fit.ALWAYS:
                found &= column.room >= 0  # an overcommitted node takes nobody
        return found

    def _ports(self, pod_class: int) -> tuple[HostPort, ...]:
        return self._problem.classes[pod_class].demands.constraints.host_ports

    def _at_risk(self) -> list[Flags]:
        """Return, by column, on which nodes it may run out before the cards do."""
        return [self._risk(column) for column in self._others]

    def _risk(self, column: Column) -> Flags:
        risk = np.zeros(len(self._problem.nodes), dtype=bool)
        for kind, allowed in enumerate(self._static.T):
            nodes = np.flatnonzero(self._static_of == kind)
            classes = np.flatnonzero(allowed & (column.requests > 0))
            if classes.size:
                risk[nodes] = self._most(column, classes, nodes) > column.room[nodes]
        return risk

    def _most(self, column: Column, classes: Whole, nodes: Whole) -> Whole:
        """Return the most of ``column`` that pods of ``classes`` use on ``nodes`` with the cards that are free; at least."""
        sizes, free = self.cards.requests[classes], np.maximum(self.cards.room[nodes], 0)
        if (sizes == 0).any():
            return np.full(len(nodes), np.iinfo(np.int64).max)
        rate = float((column.requests[classes] / sizes).max())
        most = np.ceil(free * rate * (1 + 1e-9)).astype(np.int64)
        return np.where(free >= sizes.min(), most, 0)

    # ---- types ----
    def _read_types(self) -> list[int]:
        rows: dict[bytes, int] = {}
        keys: dict[tuple[int, tuple[int, ...], int, tuple[HostPort, ...]], list[int]] = {}
        for k in range(len(self._problem.classes)):
            row = rows.setdefault(self._open[k].tobytes(), len(rows))
            amounts = tuple(int(c.requests[k]) for c in self.binding)
            keys.setdefault((int(self.cards.requests[k]), amounts, row, self._ports(k)), []).append(k)
        type_of = [0] * len(self._problem.classes)
        for number, ((size, amounts, _, ports), classes) in enumerate(keys.items()):
            self.types.append(Type(size, amounts, tuple(classes), bool(ports)))
            for k in classes:
                type_of[k] = number
        return type_of

    # ---- cells ----
    def one_by_one(self) -> Aggregation | None:
        """Return the same with a cell for every node at risk; None where there are none, or too many."""
        flows = sum(len(cell.nodes) * len(cell.types) for cell in self.cells if not cell.ample)
        if not 0 < flows <= MOST_SINGLE_FLOWS:
            return None
        found = copy(self)
        found.cells = [single for cell in self.cells for single in _singles(cell)]
        return found

    def _cells_of(self, kind: int) -> Iterator[Cell]:
        """Yield the ample nodes, and those at risk, of those that pass the same static filters."""
        types = tuple(dict.fromkeys(self.type_of[int(k)] for k in np.flatnonzero(self._static[:, kind])))
        if types:
            nodes = self._roomy(np.flatnonzero(self._static_of == kind), types)
            risky = self._risky(nodes, types)
            for ample, members in ((True, nodes[~risky]), (False, nodes[risky])):
                if members.size:
                    yield Cell(tuple(map(int, members)), types, ample)

    def _roomy(self, nodes: Whole, types: tuple[int, ...]) -> Whole:
        """Return those of ``nodes`` with free cards for the smallest pod; all of them for a pod that asks for none."""
        smallest = min(self.types[t].size for t in types)
        return nodes[self.cards.room[nodes] >= smallest] if smallest else nodes

    def _risky(self, nodes: Whole, types: tuple[int, ...]) -> Flags:
        found = [self.types[t] for t in types]
        if any(t.with_ports for t in found) or not nested(t.size for t in found):
            return np.ones(len(nodes), dtype=bool)
        risk = np.zeros(len(nodes), dtype=bool)
        for one in self._risks:
            risk |= one[nodes]
        return risk


def _singles(cell: Cell) -> list[Cell]:
    return [cell] if cell.ample else [Cell((node,), cell.types, ample=False) for node in cell.nodes]


def _kinds(flags: Flags) -> tuple[Flags, Whole]:
    """Return the distinct columns of ``flags``, and which of them every column is."""
    if not flags.size:
        return flags[:, :0], np.zeros(flags.shape[1], dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(flags, axis=0).T)
    view = packed.view([("", packed.dtype)] * packed.shape[1]).ravel()
    _, first, kind = np.unique(view, return_index=True, return_inverse=True)
    return flags[:, first], kind.astype(np.int64)
