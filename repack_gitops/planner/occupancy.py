"""Where pods are while a plan grows: idle amounts, host ports, who still receives; one place answers "does it fit".

Receiver preference is the guide's: nodes certain to stay occupied first; then nodes whose own emptying would cost more;
then the least of the target resource left; then the name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repack_gitops.model.cluster import HostPort
from repack_gitops.planner.candidacy import host_ports, receives_at_all
from repack_gitops.planner.problem import Flags, Problem, Whole

#: Rows of a cost matrix (planner.disruption) in the order receivers are compared: breaches, PodGroups, damage, cards, pods.
_EMPTYING_COST = (1, 0, 2, 3, 4)


class Occupancy:
    """The mutable half of a search; O(columns x nodes) per question, vectorised."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.idle: Whole = problem.idle.copy()
        pods = problem.snapshot.pods_by_node
        self.receives: Flags = np.array([receives_at_all(n, pods[n.name], problem.resource) for n in problem.nodes], dtype=bool)
        #: Nodes that certainly stay occupied: blocked, already receiving, or proven stuck.
        self.certain: Flags = np.zeros(len(problem.nodes), dtype=bool)
        self.certain[list(problem.blocked)] = True
        self._ports: dict[int, dict[HostPort, int]] = {}
        self._needed = [tuple(int(k) for k in np.flatnonzero(row)) for row in problem.requests]
        if any(c.constraints.host_ports for c in problem.classes):
            self._ports = {i: dict.fromkeys(host_ports(pods[n.name]), 1) for i, n in enumerate(problem.nodes)}

    def fits(self, pod_class: int) -> Flags:
        """Return which nodes can take one pod of the class now."""
        request = self._problem.requests[pod_class]
        flags = self._problem.may_host(pod_class) & self.receives
        for column in self._needed[pod_class]:
            flags &= self.idle[column] >= request[column]
        wanted = self._problem.classes[pod_class].constraints.host_ports
        if wanted:
            for node in np.flatnonzero(flags):
                flags[node] = not self._taken(int(node), wanted)
        return flags

    def fits_on(self, pod_class: int, node: int) -> bool:
        """Tell whether one pod of the class fits on ``node`` now."""
        request = self._problem.requests[pod_class]
        return (
            bool(self.receives[node] and self._problem.may_host(pod_class)[node])
            and all(self.idle[c, node] >= request[c] for c in self._needed[pod_class])
            and not self._taken(node, self._problem.classes[pod_class].constraints.host_ports)
        )

    def place(self, pod_class: int, node: int) -> None:
        """Put one pod of the class on ``node``."""
        self.idle[:, node] -= self._problem.requests[pod_class]
        for port in self._problem.classes[pod_class].constraints.host_ports:
            ports = self._ports[node]
            ports[port] = ports.get(port, 0) + 1

    def take_back(self, pod_class: int, node: int) -> None:
        """Undo ``place``."""
        self.idle[:, node] += self._problem.requests[pod_class]
        for port in self._problem.classes[pod_class].constraints.host_ports:
            ports = self._ports[node]
            ports[port] -= 1
            if not ports[port]:
                del ports[port]

    def preferred(self, flags: Flags, costs: Whole, certain: Flags) -> int:
        """Return the guide's first choice among the nodes in ``flags``, which must not be empty."""
        choice = np.flatnonzero(flags & certain)
        if not choice.size:
            choice = np.flatnonzero(flags)
            for row in _EMPTYING_COST:
                values = costs[row, choice]
                choice = choice[values == values.max()]
        left = self.idle[0, choice]
        return int(choice[left == left.min()][0])

    def _taken(self, node: int, wanted: Sequence[HostPort]) -> bool:
        return bool(wanted) and any(w.conflicts(held) for w in wanted for held in self._ports[node])
