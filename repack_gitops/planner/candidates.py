"""Which candidates can still be emptied, kept true cheaply while a plan grows.

A candidate is feasible while a *witness* stands: a placement of its victims that still fits. Candidates with the same
victims (same classes) share a witness, and a change re-examines only the witnesses that lean on the changed nodes;
their receivers are spread over the cluster, so that few lean on the same node. That is why a round costs a few vector
operations instead of a search per candidate.

A witness only proves that the victims fit together; where they really go is ``trial.first_placement``'s to say. When one
falls, its receivers that still fit are kept and the others replaced; where that leads nowhere, ``trial.any_placement``
searches all placements. Receivers only ever lose room and emptied nodes never receive, so a candidate for which that
search finds nothing is stuck for good. The set of feasible candidates is therefore exact in every round (but for the
bound ``trial.TRIES``), whatever witnesses were found before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem, Whole
from repack_gitops.planner.trial import Trial, any_placement

Classes = tuple[int, ...]
Receivers = tuple[int, ...]


@dataclass(eq=False, slots=True)
class Witness:
    """A placement that fits now: the receivers of victims of ``classes``, in their order."""

    classes: Classes
    receivers: Receivers
    users: set[int]


class Candidates:
    """Feasible candidates; ``alive[n]`` tells whether node n can still be emptied."""

    def __init__(self, problem: Problem, occupancy: Occupancy, costs: Whole) -> None:
        self._occupancy, self._costs = occupancy, costs
        self.alive: Flags = np.zeros(len(problem.nodes), dtype=bool)
        self._witness: dict[int, Witness] = {}
        self._leaning: dict[int, dict[Witness, None]] = {}
        by_classes: dict[Classes, list[int]] = {}
        for node, victims in enumerate(problem.victims):
            if victims:
                self.alive[node] = True
                by_classes.setdefault(tuple(v.pod_class for v in victims), []).append(node)
        for classes, nodes in by_classes.items():
            self._examine(classes, nodes, ())

    def receivers(self, node: int) -> Receivers:
        """Return the standing placement of ``node``'s victims."""
        return self._witness[node].receivers

    def drop(self, node: int) -> None:
        """Take ``node`` out of the race: emptied, receiving, over budget, or stuck."""
        self.alive[node] = False
        witness = self._witness.pop(node, None)
        if witness is not None:
            witness.users.discard(node)

    def changed(self, nodes: Iterable[int]) -> None:
        """Re-examine every candidate whose witness leaned on ``nodes`` and no longer fits."""
        for node in nodes:
            for witness in list(self._leaning.get(node, ())):
                if witness.users and self._stands(witness):
                    continue
                for receiver in witness.receivers:
                    self._leaning[receiver].pop(witness, None)
                if witness.users:
                    self._examine(witness.classes, sorted(witness.users), witness.receivers)

    def _stands(self, witness: Witness) -> bool:
        trial = Trial(self._occupancy, None)
        for pod_class, receiver in zip(witness.classes, witness.receivers, strict=True):
            if not trial.fits_on(pod_class, receiver):
                return False
            trial.put(pod_class, receiver)
        return True

    def _examine(self, classes: Classes, nodes: Sequence[int], fallen: Receivers) -> None:
        """Find witnesses for ``nodes``, all with victims of ``classes``; those without one are stuck.

        One witness serves all of them but those it leans on, which look for one of their own.
        """
        receivers = self._find(classes, None, fallen)
        if receivers is None:
            self._give_up(nodes)
            return
        self._rely(classes, receivers, [n for n in nodes if n not in receivers])
        for node in nodes:
            if node in receivers:
                own = self._find(classes, node, fallen)
                if own is None:
                    self._give_up([node])
                else:
                    self._rely(classes, own, [node])

    def _give_up(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            self.drop(node)
            self._occupancy.certain[node] = True

    def _rely(self, classes: Classes, receivers: Receivers, users: Iterable[int]) -> None:
        witness = Witness(classes, receivers, set(users))
        if witness.users:
            self._witness.update(dict.fromkeys(witness.users, witness))
            for node in receivers:
                self._leaning.setdefault(node, {})[witness] = None

    def _find(self, classes: Classes, barred: int | None, fallen: Receivers) -> Receivers | None:
        """Return receivers: those of ``fallen`` that still fit, else spread ones, else any placement there is."""
        trial, chosen = Trial(self._occupancy, barred), []
        for place, pod_class in enumerate(classes):
            if fallen and trial.fits_on(pod_class, fallen[place]):
                receiver = fallen[place]
            else:
                flags = trial.open_nodes(pod_class)
                receiver = self._spread(flags, classes)
                if not flags[receiver]:
                    return any_placement(self._occupancy, classes, barred, self._costs)
            trial.put(pod_class, receiver)
            chosen.append(receiver)
        return tuple(chosen)

    @staticmethod
    def _spread(flags: Flags, classes: Classes) -> int:
        """Return a node in ``flags`` that depends on the victims' classes, so that witnesses do not crowd."""
        start = (sum((k + 1) * (c + 1) for k, c in enumerate(classes)) * 2654435761) % len(flags)
        later = start + int(flags[start:].argmax())
        return later if flags[later] else int(flags.argmax())
