"""Where the victims of many nodes go together: room that can be taken, given back, closed and opened again.

Unlike `planner.occupancy` nothing is final here. Relations between pods are left out; whoever carries the plan out asks.
"""

from __future__ import annotations

import numpy as np

from repack_gitops.planner.feasibility import node_ports
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem, Whole


class JointRoom:
    """Idle amounts and host ports on the nodes that receive."""

    def __init__(self, problem: Problem, occupancy: Occupancy) -> None:
        self._problem, self._occupancy = problem, occupancy
        self.idle: Whole = occupancy.idle.copy()
        self._open: Flags = occupancy.receives.copy()
        self._static: dict[int, Flags] = {}
        self._closed: set[int] = set()
        #: Classes placed here that hold host ports, by node.
        self._holders: dict[int, list[int]] = {}
        self._with_ports = {k for k, found in enumerate(problem.classes) if found.demands.constraints.host_ports}

    def close(self, node: int) -> None:
        """Let ``node`` receive nothing."""
        self._open[node] = False
        self._closed.add(node)

    def reopen(self, node: int) -> None:
        """Undo ``close``."""
        self._open[node] = self._occupancy.receives[node]
        self._closed.discard(node)

    def closed(self, node: int) -> bool:
        """Tell whether ``node`` is closed."""
        return node in self._closed

    def receives(self, node: int) -> bool:
        """Tell whether ``node`` receives anything."""
        return bool(self._open[node])

    def fits(self, pod_class: int, nodes: Whole) -> Flags:
        """Return which of ``nodes`` can take one more pod of the class."""
        flags: Flags = (self._may_host(pod_class) & self._open)[nodes]
        for column, amount in self._occupancy.asks[pod_class]:
            flags &= self.idle[column, nodes] >= amount
        if pod_class in self._with_ports:
            for place in np.flatnonzero(flags):
                flags[place] = self._ports_free(pod_class, int(nodes[place]))
        return flags

    def fits_on(self, pod_class: int, node: int) -> bool:
        """Tell the same about one node."""
        if not (self._open[node] and self._may_host(pod_class)[node]):
            return False
        enough = all(self.idle[column, node] >= amount for column, amount in self._occupancy.asks[pod_class])
        return enough and (pod_class not in self._with_ports or self._ports_free(pod_class, node))

    def best(self, pod_class: int, nodes: Whole) -> int | None:
        """Return the one of ``nodes`` with the least cards idle that can take a pod of the class; ties: the first."""
        fitting = nodes[self.fits(pod_class, nodes)]
        return int(fitting[self.idle[0, fitting].argmin()]) if fitting.size else None

    def put(self, pod_class: int, node: int) -> None:
        """Take room for one pod of the class on ``node``."""
        self.idle[:, node] -= self._problem.requests[pod_class]
        if pod_class in self._with_ports:
            self._holders.setdefault(node, []).append(pod_class)

    def take_back(self, pod_class: int, node: int) -> None:
        """Undo one ``put``."""
        self.idle[:, node] += self._problem.requests[pod_class]
        if pod_class in self._with_ports:
            self._holders[node].remove(pod_class)

    def _may_host(self, pod_class: int) -> Flags:
        if pod_class not in self._static:
            self._static[pod_class] = self._problem.may_host(pod_class) & ~self._occupancy.ports_taken(pod_class)
        return self._static[pod_class]

    def _ports_free(self, pod_class: int, node: int) -> bool:
        wanted = self._problem.classes[pod_class].demands.constraints
        held = [p for k in self._holders.get(node, ()) for p in self._problem.classes[k].demands.constraints.host_ports]
        return node_ports.why_not(wanted, held) is None
