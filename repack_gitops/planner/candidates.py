"""Which candidates can still be emptied, kept true cheaply while a plan grows.

A candidate is feasible while a *witness* stands: a placement of its victims that still fits. Candidates with the same
victims (same classes) share a witness, and a change re-examines only the witnesses that lean on the changed nodes;
their receivers are spread over the cluster, so that few lean on the same node. That is why a round costs a few vector
operations instead of a search per candidate.

Receivers only ever lose room, emptied nodes never receive and budgets only fill up, so a candidate for which neither
a spread nor a preferred placement is found is stuck for good.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem, Whole


@dataclass(eq=False, slots=True)
class Witness:
    """A placement that fits now: the receivers of a candidate's victims, in the victims' order."""

    classes: tuple[int, ...]
    receivers: tuple[int, ...]
    users: set[int]


class Candidates:
    """Feasible candidates; ``alive[n]`` tells whether node n can still be emptied."""

    def __init__(self, problem: Problem, occupancy: Occupancy, costs: Whole) -> None:
        self._problem, self._occupancy, self._costs = problem, occupancy, costs
        self.alive: Flags = np.zeros(len(problem.nodes), dtype=bool)
        self._witness: dict[int, Witness] = {}
        self._leaning: dict[int, dict[Witness, None]] = {}
        by_classes: dict[tuple[int, ...], list[int]] = {}
        for node, victims in enumerate(problem.victims):
            if victims:
                self.alive[node] = True
                by_classes.setdefault(tuple(v.pod_class for v in victims), []).append(node)
        for group in by_classes.values():
            self._examine(group)

    def receivers(self, node: int) -> tuple[int, ...]:
        """Return the standing placement of ``node``'s victims."""
        return self._witness[node].receivers

    def drop(self, node: int) -> None:
        """Take ``node`` out of the race: emptied, receiving, or over budget."""
        self.alive[node] = False
        witness = self._witness.pop(node, None)
        if witness is not None:
            witness.users.discard(node)

    def changed(self, nodes: Iterable[int]) -> None:
        """Re-examine every candidate whose witness leaned on ``nodes`` and no longer fits."""
        fallen: dict[tuple[int, ...], list[int]] = {}
        for node in nodes:
            for witness in list(self._leaning.get(node, ())):
                if witness.users and self._stands(witness):
                    continue
                self._forget(witness)
                fallen.setdefault(witness.classes, []).extend(witness.users)
        for group in fallen.values():
            self._examine(sorted(set(group)))

    def _stands(self, witness: Witness) -> bool:
        return self._place_all(witness.classes, witness.receivers, undo=True)

    def _forget(self, witness: Witness) -> None:
        for node in witness.receivers:
            self._leaning[node].pop(witness, None)

    def _examine(self, nodes: list[int]) -> None:
        """Find witnesses for ``nodes``, all with the same victims; those without one are stuck."""
        waiting = nodes
        while waiting:
            first = waiting[0]
            witness = self._find(first)
            if witness is None:
                self.drop(first)
                self._occupancy.certain[first] = True
                waiting = waiting[1:]
                continue
            avoided = set(witness.receivers)
            witness.users.update(n for n in waiting if n not in avoided)
            self._witness.update(dict.fromkeys(witness.users, witness))
            for node in witness.receivers:
                self._leaning.setdefault(node, {})[witness] = None
            waiting = [n for n in waiting if n in avoided]

    def _find(self, node: int) -> Witness | None:
        classes = tuple(v.pod_class for v in self._problem.victims[node])
        receivers = self._search(node, classes, spread=True)
        if receivers is None and len(classes) > 1:
            receivers = self._search(node, classes, spread=False)
        return None if receivers is None else Witness(classes, receivers, set())

    def _search(self, node: int, classes: tuple[int, ...], *, spread: bool) -> tuple[int, ...] | None:
        occupancy, chosen = self._occupancy, []
        for pod_class in classes:
            flags = occupancy.fits(pod_class)
            flags[node] = False
            if not flags.any():
                break
            receiver = self._spread(flags, classes) if spread else occupancy.preferred(flags, self._costs, occupancy.certain)
            occupancy.place(pod_class, receiver)
            chosen.append(receiver)
        for pod_class, receiver in zip(classes, chosen, strict=False):
            occupancy.take_back(pod_class, receiver)
        return tuple(chosen) if len(chosen) == len(classes) else None

    @staticmethod
    def _spread(flags: Flags, classes: tuple[int, ...]) -> int:
        """Return a node that depends on the victims' classes, so that witnesses do not crowd."""
        choice = np.flatnonzero(flags)
        start = (sum((k + 1) * (c + 1) for k, c in enumerate(classes)) * 2654435761) % len(flags)
        return int(choice[np.searchsorted(choice, start) % choice.size])

    def _place_all(self, classes: tuple[int, ...], receivers: tuple[int, ...], *, undo: bool) -> bool:
        placed = 0
        for pod_class, receiver in zip(classes, receivers, strict=True):
            if not self._occupancy.fits_on(pod_class, receiver):
                break
            self._occupancy.place(pod_class, receiver)
            placed += 1
        complete = placed == len(classes)
        if undo or not complete:
            for pod_class, receiver in zip(classes[:placed], receivers, strict=False):
                self._occupancy.take_back(pod_class, receiver)
        return complete
