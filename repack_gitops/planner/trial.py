"""Where one candidate's victims would go: pods tried on top of an occupancy, which stays as it is.

``first_placement`` is the rule of this strategy. Victims go largest first, each to the receiver that the guide prefers.
Where that greedy way leaves a later victim without a place although they do fit together, the guide would pass the
candidate over; we turn back instead and take the first complete placement in the order of preference. So a candidate is
feasible exactly if its victims fit together, whatever the preferences are, and a plan exists at all exactly if one is
found. Measured on small crowded random clusters: 2 in 1,000 commits need to turn back, and passing such candidates
over frees fewer nodes in 1 of 700 clusters, more in none (``tests/unit/planner/test_reference.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repack_gitops.planner.neighbourhood import Company
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Whole

#: Placements tried for one candidate before a search gives up: it could take exponential time.
TRIES = 2_000
#: Rows of a cost matrix (planner.disruption) in the order receivers are compared: breaches, PodGroups, damage, cards, pods.
_EMPTYING_COST = (1, 0, 2, 3, 4)


class Trial:
    """Pods tried on nodes; ``barred`` is the node they leave.

    ``company`` are the pods themselves, in the order they are tried, where other pods matter to one of them.
    """

    def __init__(self, occupancy: Occupancy, barred: int | None, company: Company | None = None) -> None:
        self._occupancy, self._barred, self._company = occupancy, barred, company
        #: By node: the classes tried there, and what they leave idle (columns of the problem).
        self._tried: dict[int, list[int]] = {}
        self._left: dict[int, list[int]] = {}

    @property
    def alike(self) -> bool:
        """Whether pods of one class may go to the same nodes, which is not so where other pods matter."""
        return self._company is None

    def open_nodes(self, pod_class: int) -> Flags:
        """Return the nodes that can take one more pod of the class, as an array of the caller's own."""
        flags = self._occupancy.fits(pod_class).copy()
        if self._barred is not None:
            flags[self._barred] = False
        for node in self._tried:
            flags[node] = flags[node] and self._fits_beside(pod_class, node)
        if self._company is not None:
            flags &= self._company.open_nodes()
        return flags

    def fits_on(self, pod_class: int, node: int) -> bool:
        """Tell whether ``node`` can take one more pod of the class."""
        if node == self._barred or not self._occupancy.fits(pod_class)[node]:
            return False
        if self._company is not None and not self._company.admits(node):
            return False
        return node not in self._tried or self._fits_beside(pod_class, node)

    def _fits_beside(self, pod_class: int, node: int) -> bool:
        left = self._left[node]
        enough = all(left[column] >= amount for column, amount in self._occupancy.asks[pod_class])
        return enough and not any(self._occupancy.ports_conflict(pod_class, other) for other in self._tried[node])

    def put(self, pod_class: int, node: int) -> None:
        """Try one pod of the class on ``node``."""
        if node not in self._tried:
            self._tried[node], self._left[node] = [], self._occupancy.idle[:, node].tolist()
        self._tried[node].append(pod_class)
        for column, amount in self._occupancy.asks[pod_class]:
            self._left[node][column] -= amount
        if self._company is not None:
            self._company.put(node)

    def take_back(self, node: int) -> None:
        """Undo the last ``put``, which was on ``node``."""
        for column, amount in self._occupancy.asks[self._tried[node].pop()]:
            self._left[node][column] += amount
        if not self._tried[node]:
            del self._tried[node], self._left[node]
        if self._company is not None:
            self._company.take_back()

    def preferred(self, flags: Flags, costs: Whole) -> int:
        """Return the guide's first choice among the nodes in ``flags``, which must not be empty.

        Nodes certain to stay occupied come first, those of this trial among them; then nodes whose own emptying would
        cost more; then the least of the target resource left; then the name.
        """
        certain = self._occupancy.certain.copy()
        certain[list(self._tried)] = True
        choice = np.flatnonzero(flags & certain)
        if not choice.size:
            choice = np.flatnonzero(flags)
            for row in _EMPTYING_COST:
                values = costs[row, choice]
                choice = choice[values == values.max()]
        left = self._occupancy.idle[0, choice]
        for node in self._tried:
            left[choice == node] = self._left[node][0]
        return int(choice[left.argmin()])


def first_placement(
    occupancy: Occupancy, classes: tuple[int, ...], barred: int | None, costs: Whole, company: Company | None = None
) -> tuple[int, ...] | None:
    """Return receivers for victims of ``classes``: the first complete placement in the order of preference, or None."""
    return _Descent(Trial(occupancy, barred, company), occupancy, classes, costs).run()


def any_placement(
    occupancy: Occupancy, classes: tuple[int, ...], barred: int | None, costs: Whole, company: Company | None = None
) -> tuple[int, ...] | None:
    """Return receivers for victims of ``classes``: any that take them all, or None if there are none.

    Victims with the fewest places go first, so that those that cannot be placed together are met at once, and not once
    for every place of an undemanding one. Where other pods matter the order is part of the answer, and stays.
    """
    if company is not None:
        return first_placement(occupancy, classes, barred, costs, company)
    places = [np.count_nonzero(occupancy.fits(c)) for c in classes]
    order = sorted(range(len(classes)), key=lambda k: (places[k], classes[k]))
    found = first_placement(occupancy, tuple(classes[k] for k in order), barred, costs)
    return None if found is None else tuple(node for _, node in sorted(zip(order, found, strict=True)))


@dataclass(slots=True)
class _Level:
    """One victim of a descent: the nodes still to try, those tried in vain, and whether the next victim is its like."""

    pod_class: int
    flags: Flags
    useless: set[int]
    twin: bool


class _Descent:
    """Depth-first search; its first way down is greedy placement. A node may hold thousands of victims: no recursion."""

    def __init__(self, trial: Trial, occupancy: Occupancy, classes: tuple[int, ...], costs: Whole) -> None:
        self._trial, self._occupancy, self._classes, self._costs = trial, occupancy, classes, costs
        self._chosen: list[int] = []
        self._tries = TRIES

    def run(self) -> tuple[int, ...] | None:
        if not all(self._occupancy.fits(c).any() for c in dict.fromkeys(self._classes)):
            return None
        if not self._classes:
            return ()
        levels = [self._level(0, set())]
        while levels:
            level = levels[-1]
            if not self._tries or not level.flags.any():
                levels.pop()
                if levels:
                    self._take_back(levels[-1])
                continue
            self._put(level)
            if len(self._chosen) == len(self._classes):
                return tuple(self._chosen)
            levels.append(self._level(len(self._chosen), set(level.useless) if level.twin else set()))
        return None

    def _level(self, depth: int, useless: set[int]) -> _Level:
        """Return the choices for the victim at ``depth``; ``useless`` are nodes where the like of it was tried in vain."""
        pod_class = self._classes[depth]
        twin = self._trial.alike and depth + 1 < len(self._classes) and self._classes[depth + 1] == pod_class
        flags = self._trial.open_nodes(pod_class)
        flags[list(useless)] = False
        return _Level(pod_class, flags, useless, twin)

    def _put(self, level: _Level) -> None:
        node = self._trial.preferred(level.flags, self._costs)
        self._tries -= 1
        self._trial.put(level.pod_class, node)
        self._chosen.append(node)

    def _take_back(self, level: _Level) -> None:
        node = self._chosen.pop()
        self._trial.take_back(node)
        level.useless.add(node)
        level.flags[node] = False
