"""Rows that say what fits into the receivers of a cell: all of them hold for every real placement, none is more than that.

For weights w by type and a room by node with ``sum of w over any pods that fit a node <= room of the node``:

    sum of w[type] * pods of the type in the cell  <=  sum of room over the cell's nodes that are not emptied

1. *Sizes*: for every size s, w = cards of pods of at least s cards; room = the most cards that such pods can use of the
   free ones. Together exact on ample cells if the sizes nest.
2. *Counts*: for every size s that does not nest, w = floor(cards / s), room = floor(free / s).
3. *Amounts*: for everything else that may run out, w = the request, room = what is idle. Exact on a node of its own.
4. *Ports*: of two types that cannot share a node, one pod per node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from repack_gitops.planner.feasibility import node_ports
from repack_gitops.planner.optimal.aggregation import Aggregation, Cell, Type
from repack_gitops.planner.optimal.knapsack import fullest, nested
from repack_gitops.planner.problem import Problem


@dataclass(frozen=True, slots=True)
class RoomRow:
    """Weights by type, and room by node, in the order of the cell's types and nodes."""

    weights: tuple[int, ...]
    room: tuple[int, ...]


def room_rows(problem: Problem, aggregation: Aggregation, cell: Cell) -> Iterator[RoomRow]:
    """Yield the rows of ``cell``."""
    types = [aggregation.types[t] for t in cell.types]
    limits = [_usable(aggregation, types, node, ample=cell.ample) for node in cell.nodes]
    sizes = sorted({t.size for t in types})
    yield from (_sizes(types, limits, sizes, least) for least in sizes)
    if not nested(sizes):
        yield from (_counts(types, limits, size) for size in sizes if size > 1)
    if not cell.ample:
        yield from _amounts(aggregation, types, cell)
        yield from _ports(problem, types, cell)


def _usable(aggregation: Aggregation, types: Sequence[Type], node: int, *, ample: bool) -> int:
    """Return how many of a node's free cards pods of ``types`` can use, given what else is idle; at least that many."""
    free = max(int(aggregation.cards.room[node]), 0)
    if ample:
        return free
    for number, column in enumerate(aggregation.binding):
        if all(t.amounts[number] > 0 for t in types):
            room = max(int(column.room[node]), 0)
            free = min(free, max(room * t.size // t.amounts[number] for t in types))
    return free


def _sizes(types: Sequence[Type], limits: Sequence[int], sizes: Sequence[int], least: int) -> RoomRow:
    large = tuple(s for s in sizes if s >= least and s > 0)
    return RoomRow(tuple(t.size if t.size >= least else 0 for t in types), tuple(fullest(large, limit) for limit in limits))


def _counts(types: Sequence[Type], limits: Sequence[int], size: int) -> RoomRow:
    return RoomRow(tuple(t.size // size for t in types), tuple(limit // size for limit in limits))


def _amounts(aggregation: Aggregation, types: Sequence[Type], cell: Cell) -> Iterator[RoomRow]:
    for number, column in enumerate(aggregation.binding):
        weights = tuple(t.amounts[number] for t in types)
        if any(weights):
            yield RoomRow(weights, tuple(max(int(column.room[node]), 0) for node in cell.nodes))


def _ports(problem: Problem, types: Sequence[Type], cell: Cell) -> Iterator[RoomRow]:
    wanting = [k for k, t in enumerate(types) if t.with_ports]
    conflict = _conflicts(problem)
    for place, k in enumerate(wanting):
        for other in wanting[place:]:
            if conflict(types[k], types[other]):
                weights = tuple(int(i in (k, other)) for i in range(len(types)))
                yield RoomRow(weights, (1,) * len(cell.nodes))


def _conflicts(problem: Problem) -> Callable[[Type, Type], bool]:
    def conflict(one: Type, other: Type) -> bool:
        mine, theirs = (problem.classes[t.classes[0]].demands.constraints for t in (one, other))
        return node_ports.why_not(mine, theirs.host_ports) is not None

    return conflict
