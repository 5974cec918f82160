"""Where the victims of many nodes go together: room that can be taken, given back, closed and opened again.

Unlike `planner.occupancy` nothing is final here. Relations between pods are left out; whoever carries the plan out asks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repack_gitops.planner.feasibility import node_ports
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem, Whole


class JointRoom:
    """Idle amounts and host ports on the nodes that receive."""

    def __init__(self, problem: Problem, occupancy: Occupancy, binding: Sequence[str] = ()) -> None:
        self._problem, self._occupancy = problem, occupancy
        self.idle: Whole = occupancy.idle.copy()
        #: Rows of what may run out somewhere, the cards first; and the most of each that is idle on a node.
        self._binding: Whole = np.array([0, *(problem.columns.index(name) for name in binding)], dtype=np.int64)
        self._unit = np.maximum(self.idle[self._binding].max(axis=1, initial=1), 1)
        self._open: Flags = occupancy.receives.copy()
        self._static: dict[int, Flags] = {}
        self._closed: set[int] = set()
        #: Classes placed here that hold host ports, by node.
        self._holders: dict[int, list[int]] = {}
        #: Classes that hold host ports.
        self.with_ports = {k for k, found in enumerate(problem.classes) if found.demands.constraints.host_ports}

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

    @property
    def open_nodes(self) -> Flags:
        """Which nodes receive; a view, not to be written to."""
        return self._open

    def asks(self, pod_class: int) -> Sequence[tuple[int, int]]:
        """Return (column, amount) of everything that is compared for the class."""
        return self._occupancy.asks[pod_class]

    def fits(self, pod_class: int, nodes: Whole) -> Flags:
        """Return which of ``nodes`` can take one more pod of the class."""
        flags: Flags = (self.may_host(pod_class) & self._open)[nodes]
        for column, amount in self.asks(pod_class):
            flags &= self.idle[column, nodes] >= amount
        if pod_class in self.with_ports:
            for place in np.flatnonzero(flags):
                flags[place] = self._ports_free(pod_class, int(nodes[place]))
        return flags

    def fits_on(self, pod_class: int, node: int) -> bool:
        """Tell the same about one node."""
        if not (self._open[node] and self.may_host(pod_class)[node]):
            return False
        enough = all(self.idle[column, node] >= amount for column, amount in self.asks(pod_class))
        return enough and (pod_class not in self.with_ports or self._ports_free(pod_class, node))

    def best(self, pod_class: int, nodes: Whole) -> int | None:
        """Return the one of ``nodes`` whose idle amounts are most like what a pod of the class asks for, None if none fits.

        Likeness is the angle between the two: cpu-heavy pods go where more cpu than memory is idle for every card, so that
        all of it runs out together. Ties, and where only cards bind: the least cards idle, then the first.
        """
        fitting = nodes[self.fits(pod_class, nodes)]
        if not fitting.size:
            return None
        cards = self.idle[0, fitting]
        if len(self._binding) == 1:
            return int(fitting[cards.argmin()])
        return int(fitting[np.lexsort((cards, -self._likeness(pod_class, fitting)))[0]])

    def _likeness(self, pod_class: int, nodes: Whole) -> NDArray[np.float64]:
        """Return the cosine, rounded, so that noise decides nothing; ``nodes`` have room for the pod."""
        asks = self._problem.requests[pod_class, self._binding] / self._unit
        idle = self.idle[np.ix_(self._binding, nodes)] / self._unit[:, None]
        lengths = np.sqrt((idle**2).sum(axis=0)) * np.sqrt((asks**2).sum())
        found: NDArray[np.float64] = np.round(asks @ idle / np.maximum(lengths, 1e-12), 9)
        return found

    def ports_conflict(self, pod_class: int, other: int) -> bool:
        """Tell whether host ports keep a pod of each class from sharing a node."""
        return self._occupancy.ports_conflict(pod_class, other)

    def spare(self, nodes: Whole) -> NDArray[np.float64]:
        """Return how much more of everything else than of cards is idle on ``nodes``, as a share of a whole node."""
        idle = self.idle[np.ix_(self._binding, nodes)] / self._unit[:, None]
        found: NDArray[np.float64] = np.round(idle[1:].sum(axis=0) - idle[0], 9)
        return found

    def put(self, pod_class: int, node: int) -> None:
        """Take room for one pod of the class on ``node``."""
        self.idle[:, node] -= self._problem.requests[pod_class]
        if pod_class in self.with_ports:
            self._holders.setdefault(node, []).append(pod_class)

    def take_back(self, pod_class: int, node: int) -> None:
        """Undo one ``put``."""
        self.idle[:, node] += self._problem.requests[pod_class]
        if pod_class in self.with_ports:
            self._holders[node].remove(pod_class)

    def may_host(self, pod_class: int) -> Flags:
        """Return which nodes pass every filter that no placement changes; a view, not to be written to."""
        if pod_class not in self._static:
            self._static[pod_class] = self._problem.may_host(pod_class) & ~self._occupancy.ports_taken(pod_class)
        return self._static[pod_class]

    def _ports_free(self, pod_class: int, node: int) -> bool:
        wanted = self._problem.classes[pod_class].demands.constraints
        held = [p for k in self._holders.get(node, ()) for p in self._problem.classes[k].demands.constraints.host_ports]
        return node_ports.why_not(wanted, held) is None
