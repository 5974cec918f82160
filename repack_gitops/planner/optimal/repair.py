"""Pods that are left, and the pods on some nodes with idle cards, placed anew together by the solver.

The windows are small, so whole amounts decide; what the solver says is put to the real filters, and undone if they refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np

from repack_gitops.planner.optimal.amounts import Column, safe_columns
from repack_gitops.planner.optimal.joint_room import JointRoom
from repack_gitops.planner.optimal.program import Program
from repack_gitops.planner.optimal.solver import Solver, Work
from repack_gitops.planner.optimal.tenants import Tenants
from repack_gitops.planner.problem import Problem, Whole
from repack_gitops.planner.watch import Watch

#: Nodes, and pairs of a class and a node, in one window.
_NODES, _FLOWS = 96, 6_000
#: Windows for all of a packing, and how many may fail one after another: limits on work.
_WINDOWS, _FAILURES = 60, 4
#: In all, as `solver.TOTAL_WORK`.
_WORK = 500_000_000
_EFFORT = 0.05


class Repair:
    """Places more of the pods that are left, window by window."""

    def __init__(self, problem: Problem, room: JointRoom, tenants: Tenants, watch: Watch) -> None:
        self._work = Work(watch, _WORK)
        self._problem, self._room, self._tenants = problem, room, tenants
        self._columns = safe_columns(problem)
        self._windows = _WINDOWS

    def run(self, left: Sequence[int]) -> list[int]:
        """Return the classes that are still left."""
        waiting, failures = Counter(left), 0
        while waiting and self._windows and failures < _FAILURES and self._work.allows(0, fine=False):
            self._windows -= 1
            placed = self._place(self._window(waiting), waiting)
            failures = 0 if placed else failures + 1
            waiting -= placed
        return list(waiting.elements())

    def _window(self, waiting: Counter[int]) -> list[int]:
        """Return nodes with idle cards, and as many where more of something else is idle; others in every window."""
        number, open_to = _WINDOWS - self._windows, np.zeros(len(self._problem.nodes), dtype=bool)
        for pod_class in waiting:
            open_to |= self._room.may_host(pod_class)
        nodes = np.flatnonzero(self._room.open_nodes)
        cards = np.where(open_to[nodes], self._room.idle[0, nodes], 0)
        idle = nodes[np.argsort(-cards, kind="stable")][: int((cards > 0).sum())]
        others = nodes[np.argsort(-self._room.spare(nodes), kind="stable")]
        found = list(dict.fromkeys([*_turn(idle, number, _NODES // 2), *_turn(others, number, _NODES // 2)]))
        while len(found) > 2 and len(found) * self._classes(found, waiting) > _FLOWS:
            found = found[::2]
        return found

    def _classes(self, nodes: Sequence[int], waiting: Counter[int]) -> int:
        return len({k for n in nodes for k in self._tenants.on(n)} | waiting.keys())

    def _place(self, nodes: Sequence[int], waiting: Counter[int]) -> Counter[int]:
        """Place the tenants of ``nodes`` anew, and as many more as fit; returns who those are."""
        staying = Counter(k for n in nodes for k in self._tenants.on(n))
        program, flows = Program(), dict[tuple[int, int], int]()
        for pod_class, most in (staying + waiting).items():
            hosts = [n for n in nodes if self._room.may_host(pod_class)[n]]
            columns = {program.column(min(most, self._alone(pod_class, n))): n for n in hosts}
            flows |= {(pod_class, n): column for column, n in columns.items()}
            row = dict.fromkeys(columns, 1)
            program.at_most(row, most)
            program.at_least(row, staying[pod_class])
        for row, high in (*self._room_rows(nodes, flows), *self._port_rows(nodes, flows)):
            program.at_most(row, high)
        gain = {column: -int(self._columns[0].requests[k]) for (k, _), column in flows.items()}
        values = Solver(program, self._work).minimise(gain, effort=_EFFORT).values
        if values is None:
            return Counter()
        return self._settle(nodes, staying, {key: round(values[column]) for key, column in flows.items()})

    def _alone(self, pod_class: int, node: int) -> int:
        """Return how many pods of the class an empty window would take on ``node``, at most."""
        return int(self._free(self._columns[0], node) // max(int(self._columns[0].requests[pod_class]), 1))

    def _free(self, column: Column, node: int) -> int:
        held = sum(int(column.requests[k]) for k in self._tenants.on(node))
        return int(self._idle(column, node)) + held

    def _room_rows(self, nodes: Sequence[int], flows: dict[tuple[int, int], int]) -> Iterator[tuple[dict[int, int], int]]:
        on: dict[int, list[tuple[int, int]]] = {node: [] for node in nodes}
        for (pod_class, node), number in flows.items():
            on[node].append((pod_class, number))
        for column in self._columns:
            for node, found in on.items():
                row = {number: int(column.requests[k]) for k, number in found if column.requests[k]}
                if row:
                    yield row, max(self._free(column, node), 0)

    def _port_rows(self, nodes: Sequence[int], flows: dict[tuple[int, int], int]) -> Iterator[tuple[dict[int, int], int]]:
        wanting = [k for k in dict.fromkeys(k for k, _ in flows) if k in self._room.with_ports]
        for one, other in combinations_with_replacement(wanting, 2):
            if self._room.ports_conflict(one, other):
                for node in nodes:
                    row = dict.fromkeys((flows[k, node] for k in (one, other) if (k, node) in flows), 1)
                    yield row, 1

    def _idle(self, column: Column, node: int) -> int:
        return int(self._room.idle[self._problem.columns.index(column.name), node]) // column.unit

    def _settle(self, nodes: Sequence[int], staying: Counter[int], flows: dict[tuple[int, int], int]) -> Counter[int]:
        """Move everybody as ``flows`` say; undone, and nobody more is placed, if that does not work out."""
        before = [(k, n) for n in nodes for k in self._tenants.on(n)]
        for pod_class, node in before:
            self._tenants.take_back(pod_class, node)
        after: list[tuple[int, int]] = []
        for (pod_class, node), pods in flows.items():
            for _ in range(pods):
                if not self._room.fits_on(pod_class, node):
                    return self._undo(before, after)
                self._tenants.put(pod_class, node)
                after.append((pod_class, node))
        placed = Counter(k for k, _ in after)
        return placed - staying if placed >= staying else self._undo(before, after)

    def _undo(self, before: list[tuple[int, int]], after: list[tuple[int, int]]) -> Counter[int]:
        for pod_class, node in after:
            self._tenants.take_back(pod_class, node)
        for pod_class, node in before:
            self._tenants.put(pod_class, node)
        return Counter()


def _turn(nodes: Whole, number: int, size: int) -> list[int]:
    """Return ``size`` of ``nodes``, round and round; none twice."""
    turned = np.roll(nodes, -number * size)
    return [int(n) for n in turned[:size]]
