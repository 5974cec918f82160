"""Where pods are while a plan grows: idle amounts, host ports, who still receives; one place answers "does it fit".

Receivers only ever lose room and emptied nodes never receive, so "fits" only ever turns false: it is kept as one matrix,
classes by nodes, of which a placement touches a single column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repack_gitops.model.cluster import HostPort
from repack_gitops.planner.candidacy import receives_at_all, room_holders
from repack_gitops.planner.feasibility import node_ports, node_resources_fit
from repack_gitops.planner.problem import Flags, Problem, Whole


class Occupancy:
    """The mutable half of a search."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.idle: Whole = problem.idle.copy()
        pods = problem.snapshot.pods_by_node
        self.receives: Flags = np.array([receives_at_all(n, pods[n.name], problem.resource) for n in problem.nodes], dtype=bool)
        #: Nodes that certainly stay occupied: blocked, already receiving, over budget, or proven stuck.
        self.certain: Flags = np.zeros(len(problem.nodes), dtype=bool)
        self.certain[list(problem.blocked)] = True
        asked = [[name in found.template for name in problem.columns] for found in problem.classes]
        self._asked: Flags = np.array(asked, dtype=bool).reshape(problem.requests.shape)
        self._asked[:, [c for c, name in enumerate(problem.columns) if name in node_resources_fit.ALWAYS]] = True
        #: By class: (column, amount) of everything that is compared for it.
        self.asks = [
            [(c, int(row[c])) for c in asked.nonzero()[0].tolist()]
            for row, asked in zip(problem.requests, self._asked, strict=True)
        ]
        self._ports_taken: dict[int, Flags] = {}
        self._with_ports = [c for c, found in enumerate(problem.classes) if found.demands.constraints.host_ports]
        self._fits = self._first_fits()

    def _first_fits(self) -> Flags:
        problem = self._problem
        found = np.zeros((len(problem.classes), len(problem.nodes)), dtype=bool)
        for pod_class in range(len(problem.classes)):
            found[pod_class] = problem.may_host(pod_class) & self.receives
            for column, amount in self.asks[pod_class]:
                found[pod_class] &= self.idle[column] >= amount
        if self._with_ports:
            self._close_held_ports(found)
        return found

    def _close_held_ports(self, fits: Flags) -> None:
        for name, holders in room_holders(self._problem.snapshot).items():
            node = self._problem.index.get(name)
            held = [port for p in holders for port in p.constraints.host_ports]
            if node is not None and held:
                self._close_ports(fits, node, held)

    def _close_ports(self, fits: Flags, node: int, held: Sequence[HostPort]) -> None:
        for pod_class in self._with_ports:
            if node_ports.why_not(self._problem.classes[pod_class].demands.constraints, held) is not None:
                fits[pod_class, node] = False
                self._ports_taken.setdefault(pod_class, np.zeros(len(self._problem.nodes), dtype=bool))[node] = True

    def ports_taken(self, pod_class: int) -> Flags:
        """Return on which nodes a host port of the class is taken; a view, not to be written to."""
        if pod_class not in self._ports_taken:
            self._ports_taken[pod_class] = np.zeros(len(self._problem.nodes), dtype=bool)
        return self._ports_taken[pod_class]

    def fits(self, pod_class: int) -> Flags:
        """Return which nodes can take one pod of the class now; a view, not to be written to."""
        flags: Flags = self._fits[pod_class]
        return flags

    def ports_conflict(self, pod_class: int, other: int) -> bool:
        """Tell whether host ports keep a pod of each class from sharing a node."""
        wanted = self._problem.classes[pod_class].demands.constraints
        return bool(wanted.host_ports) and node_ports.why_not(wanted, self._held(other)) is not None

    def _held(self, pod_class: int) -> tuple[HostPort, ...]:
        return self._problem.classes[pod_class].demands.constraints.host_ports

    def place(self, pod_class: int, node: int) -> None:
        """Put one pod of the class on ``node``, for good."""
        problem = self._problem
        self.idle[:, node] -= problem.requests[pod_class]
        self._fits[:, node] &= ((problem.requests <= self.idle[:, node]) | ~self._asked).all(axis=1)
        if self._held(pod_class):
            self._close_ports(self._fits, node, self._held(pod_class))

    def close(self, node: int) -> None:
        """Let ``node`` receive nothing any more: it is emptied."""
        self.receives[node] = False
        self._fits[:, node] = False
