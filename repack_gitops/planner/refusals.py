"""What closes each receiver to a class of pods, filter by filter, in the state a search ended in.

One answer per class and node, computed once per class: the static filters are shown one node of every kind
(``node_profiles``), the others are a comparison of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repack_gitops.model.plan import Code, Refusal
from repack_gitops.planner.feasibility.static import NodeDemands, static_reason
from repack_gitops.planner.lifting import refused_by_that_alone, what_refuses
from repack_gitops.planner.node_profiles import Codes
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem

#: (filter, the resource or taint)
Cause = tuple[Code, str]
#: The number of no cause.
OPEN = -1


@dataclass(frozen=True, slots=True)
class Static:
    """The static filters' word on one class, by node: the number of the cause, and whether it is the only one."""

    cause: Codes
    alone: Flags


class Refusals:
    """Causes by number, and the number that closes each node to each class."""

    def __init__(self, problem: Problem, occupancy: Occupancy) -> None:
        self._problem, self._occupancy = problem, occupancy
        self.causes: list[Cause] = []
        self._numbers: dict[Cause, int] = {}
        self._static: dict[NodeDemands, Static] = {}
        self._dynamic: dict[int, Codes] = {}
        self._counts: dict[int, list[int]] = {}

    def of(self, pod_class: int) -> Codes:
        """Return the number of the cause that closes every providing node to one more pod of the class, or OPEN.

        The order is the scheduler's but for resources, of which the target comes first.
        """
        if pod_class not in self._dynamic:
            self._dynamic[pod_class] = self._first_causes(pod_class)
        return self._dynamic[pod_class]

    def _first_causes(self, pod_class: int) -> Codes:
        cause = self.static(pod_class).cause.copy()
        cause[(cause == OPEN) & self._occupancy.ports_taken(pod_class)] = self._number((Code.NODE_PORTS, ""))
        for column, amount in self._occupancy.asks[pod_class]:
            short = (cause == OPEN) & (self._occupancy.idle[column] < amount)
            if short.any():
                cause[short] = self._number((Code.NODE_RESOURCES, self._problem.columns[column]))
        return cause

    def static(self, pod_class: int) -> Static:
        """Return what the filters say that do not depend on the plan."""
        demands = self._problem.classes[pod_class].demands
        if demands not in self._static:
            first, kind = self._problem.profiles.kinds(demands)
            judged = [self._judge(demands, int(i)) for i in first]
            cause = np.array([number for number, _ in judged], dtype=np.int64)[kind]
            self._static[demands] = Static(cause, np.array([alone for _, alone in judged], dtype=bool)[kind])
        return self._static[demands]

    def _judge(self, demands: NodeDemands, index: int) -> tuple[int, bool]:
        node = self._problem.nodes[index]
        reason = static_reason(demands, node)
        if reason is None:
            return OPEN, False
        number = self._number((reason.code, what_refuses(reason, demands.constraints, node)))
        return number, refused_by_that_alone(reason, (demands, node))

    def _number(self, cause: Cause) -> int:
        if cause not in self._numbers:
            self._numbers[cause] = len(self.causes)
            self.causes.append(cause)
        return self._numbers[cause]

    def counted(self, pod_class: int, barred: int) -> tuple[Refusal, ...]:
        """Return how many receivers but ``barred`` each cause closes to the class, the largest number first."""
        if pod_class not in self._counts:
            numbers = self.of(pod_class)[self._occupancy.receives]
            self._counts[pod_class] = np.bincount(numbers[numbers != OPEN], minlength=len(self.causes)).tolist()
        found = dict(enumerate(self._counts[pod_class]))
        own = int(self.of(pod_class)[barred])
        if own != OPEN and self._occupancy.receives[barred]:
            found[own] -= 1
        refusals = [Refusal(*self.causes[i], count) for i, count in found.items() if count]
        return tuple(sorted(refusals, key=lambda r: (-r.count, r.code.value, r.what)))
