"""Real places for the victims of the chosen nodes: joint best fit, largest first, where the flows send them.

Nodes with a cell of their own are filled first: their flows are a placement. In other cells pods go largest first: on ample
nodes each to the fullest node that takes it, which places all of them if the sizes nest; elsewhere to the node whose idle
amounts are most like the pod. Pods that are left try every other node, then others are moved for them (`repair`). If some
are still left, nodes are dropped from the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from repack_gitops.planner.optimal.aggregation import Aggregation, Cell
from repack_gitops.planner.optimal.joint_room import JointRoom
from repack_gitops.planner.optimal.repair import Repair
from repack_gitops.planner.optimal.shelves import Shelves
from repack_gitops.planner.optimal.tenants import Tenants
from repack_gitops.planner.problem import Problem, Whole
from repack_gitops.planner.watch import Watch


class Packing:
    """Reserved places by pod class; every victim of a node that is still ``chosen`` has one."""

    def __init__(
        self, problem: Problem, aggregation: Aggregation, room: JointRoom, chosen: Sequence[int], watch: Watch
    ) -> None:
        self._problem, self._aggregation, self.room = problem, aggregation, room
        self.chosen = list(chosen)
        self._tenants = Tenants(room)
        self._repair = Repair(problem, room, self._tenants, watch)
        self._everywhere: Whole = np.arange(len(problem.nodes))
        self._sizes: dict[int, tuple[int, ...]] = {}
        #: By class: the nodes first chosen that have victims of it.
        self._sources: dict[int, set[int]] = {}
        for node in chosen:
            room.close(node)

    def run(self, flows: Mapping[tuple[int, int], int]) -> None:
        """Place everybody, or drop nodes until everybody is placed."""
        left = [k for k in self._along(flows) if not self._place(k, self._everywhere)]
        left = self._repair.run(left)
        while left:
            left, changed = self._drop(left)
            left = self._repair.run([k for k in left if not self._place(k, changed)])

    # ---- along the flows ----
    def _along(self, flows: Mapping[tuple[int, int], int]) -> list[int]:
        """Send pods where the flows say, and return those that found no place there."""
        waiting = self._victims()
        by_cell: dict[int, list[int]] = {}
        for (type_, cell), pods in flows.items():
            by_cell.setdefault(cell, []).extend(waiting[type_][:pods])
            del waiting[type_][:pods]
        left = [k for found in waiting for k in found]
        for cell in sorted(by_cell, key=lambda c: (len(self._aggregation.cells[c].nodes) > 1, c)):
            left += self._fill(self._aggregation.cells[cell], sorted(by_cell[cell], key=self._size))
        return sorted(left, key=self._size)

    def _fill(self, cell: Cell, classes: Sequence[int]) -> list[int]:
        """Place pods on the nodes of ``cell``, and return those that found no place."""
        if not cell.ample:
            nodes = np.array(cell.nodes, dtype=np.int64)
            return [k for k in classes if not self._place(k, nodes)]
        shelves, left = Shelves(self.room, [n for n in cell.nodes if self.room.receives(n)]), []
        for pod_class in classes:
            node = shelves.take(pod_class, int(self._problem.requests[pod_class, 0]))
            if node is None:
                left.append(pod_class)
            else:
                self._tenants.put(pod_class, node)
                shelves.put_back(node)
        return left

    def _victims(self) -> list[list[int]]:
        """Return the classes of all victims, by type."""
        found: list[list[int]] = [[] for _ in self._aggregation.types]
        for node in self.chosen:
            for victim in self._problem.victims[node]:
                found[self._aggregation.type_of[victim.pod_class]].append(victim.pod_class)
        return [sorted(classes, key=self._size) for classes in found]

    def _size(self, pod_class: int) -> tuple[int, ...]:
        """Largest first."""
        if pod_class not in self._sizes:
            self._sizes[pod_class] = (*(-int(v) for v in self._problem.requests[pod_class]), pod_class)
        return self._sizes[pod_class]

    # ---- one pod ----
    def _place(self, pod_class: int, nodes: Whole) -> bool:
        node = self.room.best(pod_class, nodes)
        if node is None:
            return False
        self._tenants.put(pod_class, node)
        return True

    # ---- dropping nodes ----
    def _drop(self, left: Sequence[int]) -> tuple[list[int], Whole]:
        """Take the node out of the plan of which most pods are left; returns the pods left then, and nodes with more room."""
        waiting = Counter(left)
        node = max(self._having(waiting), key=lambda n: (self._helped(n, waiting), -len(self._problem.victims[n]), -n))
        leaving = Counter(v.pod_class for v in self._problem.victims[node])
        self.release(node)
        changed = [node, *(self.give_back(pod_class) for pod_class in (leaving - waiting).elements())]
        return sorted((waiting - leaving).elements(), key=self._size), np.array(sorted(set(changed)), dtype=np.int64)

    def _having(self, waiting: Counter[int]) -> set[int]:
        """Return the chosen nodes with a victim of a class that waits; there are some."""
        if not self._sources:
            for node in self.chosen:
                for victim in self._problem.victims[node]:
                    self._sources.setdefault(victim.pod_class, set()).add(node)
        return {node for pod_class in waiting for node in self._sources[pod_class] if self.room.closed(node)}

    def _helped(self, node: int, waiting: Counter[int]) -> int:
        """Return how many pods would no longer wait if ``node`` stayed."""
        return (Counter(v.pod_class for v in self._problem.victims[node]) & waiting).total()

    def release(self, node: int) -> None:
        """Take ``node`` out of the plan; its pods' places are the caller's to give back."""
        self.chosen.remove(node)
        self.room.reopen(node)

    # ---- carrying it out ----
    def reserved(self, pod_class: int) -> Sequence[int]:
        """Return the class's places, one entry for every pod."""
        return self._tenants.places(pod_class)

    def next_place(self, pod_class: int) -> int:
        """Use up one of the class's places and return it; the room stays taken."""
        node = self._tenants.places(pod_class)[-1]
        self._tenants.use_up(pod_class, node)
        return node

    def claim(self, pod_class: int, node: int) -> None:
        """Use up the class's place on ``node``, or one elsewhere in exchange for room there, which must be idle."""
        if node not in self._tenants.places(pod_class):
            self.give_back(pod_class)
            self._tenants.put(pod_class, node)
        self._tenants.use_up(pod_class, node)

    def give_back(self, pod_class: int) -> int:
        """Give one of the class's places back, and return it."""
        node = self._tenants.places(pod_class)[-1]
        self._tenants.take_back(pod_class, node)
        return node
