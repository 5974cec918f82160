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

Where other pods matter (inter-pod affinity, topology spread), a candidate has a witness of its own, and what its pods ask
about is remembered: a move that changes an answer re-examines it. Such answers may also turn from no to yes; a candidate
that had no placement once is out all the same, which keeps the rule simple and a search finite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np

from repack_gitops.planner.neighbourhood import Company, Neighbourhood
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem, Whole
from repack_gitops.planner.trial import Trial, any_placement

Classes = tuple[int, ...]
Receivers = tuple[int, ...]


#: Nodes asked about one by one before all are.
PROBES = 12


@dataclass(eq=False, slots=True)
class Witness:
    """A placement that fits now: the receivers of victims of ``classes``, in their order.

    ``source`` is the one node it is for, where other pods matter; otherwise it serves any with such victims.
    """

    classes: Classes
    receivers: Receivers
    users: set[int]
    source: int | None = None


class Candidates:
    """Feasible candidates; ``alive[n]`` tells whether node n can still be emptied.

    Parameters
    ----------
    settled
        Nodes that a plan empties already, or that it sends pods to.
    """

    def __init__(
        self,
        problem: Problem,
        occupancy: Occupancy,
        around: Neighbourhood,
        costs: Whole,
        settled: Collection[int] = (),
    ) -> None:
        self._problem, self._occupancy, self._around, self._costs = problem, occupancy, around, costs
        self.alive: Flags = np.zeros(len(problem.nodes), dtype=bool)
        self._witness: dict[int, Witness] = {}
        self._leaning: dict[int, dict[Witness, None]] = {}
        #: Nodes whose victims other pods matter to, and by token of an answer: those that depend on it.
        self._related: set[int] = set()
        self._asking: dict[object, list[int]] = {}
        by_classes: dict[Classes, list[int]] = {}
        for node, victims in enumerate(problem.victims):
            if victims and node not in settled:
                self.alive[node] = True
                if any(around.concerns(v.pod) for v in victims):
                    self._relate(node)
                else:
                    by_classes.setdefault(self._classes(node), []).append(node)
        for classes, nodes in by_classes.items():
            self._examine(classes, nodes, ())
        for node in sorted(self._related):
            self._examine_related(node, ())

    def company(self, node: int) -> AbstractContextManager[Company | None]:
        """Take ``node``'s victims off it while they are tried elsewhere; None where other pods do not matter to them."""
        if node not in self._related:
            return nullcontext()
        return self._around.without([v.pod for v in self._problem.victims[node]])

    def _classes(self, node: int) -> Classes:
        return tuple(v.pod_class for v in self._problem.victims[node])

    def _relate(self, node: int) -> None:
        self._related.add(node)
        for token in dict.fromkeys(self._around.asked_by(v.pod for v in self._problem.victims[node])):
            self._asking.setdefault(token, []).append(node)

    def receivers(self, node: int) -> Receivers:
        """Return the standing placement of ``node``'s victims."""
        return self._witness[node].receivers

    def drop(self, node: int) -> None:
        """Take ``node`` out of the race: emptied, receiving, over budget, or stuck."""
        self.alive[node] = False
        witness = self._witness.pop(node, None)
        if witness is not None:
            witness.users.discard(node)

    def changed(self, nodes: Iterable[int], tokens: Iterable[object] = ()) -> None:
        """Re-examine every candidate whose witness leaned on ``nodes``, or whose answers changed, and no longer fits."""
        asking = {node for token in tokens for node in self._asking.get(token, ())}
        for node in sorted(asking):
            if self.alive[node]:
                self._recheck(self._witness[node])
        for node in nodes:
            for witness in list(self._leaning.get(node, ())):
                self._recheck(witness)

    def _recheck(self, witness: Witness) -> None:
        if witness.users and self._stands(witness):
            return
        for receiver in witness.receivers:
            self._leaning[receiver].pop(witness, None)
        if not witness.users:
            return
        if witness.source is None:
            self._examine(witness.classes, sorted(witness.users), witness.receivers)
        else:
            self._examine_related(witness.source, witness.receivers)

    def _stands(self, witness: Witness) -> bool:
        if witness.source is None:
            return self._all_fit(witness, None)
        with self.company(witness.source) as company:
            return self._all_fit(witness, company)

    def _all_fit(self, witness: Witness, company: Company | None) -> bool:
        trial = Trial(self._occupancy, None, company)
        for pod_class, receiver in zip(witness.classes, witness.receivers, strict=True):
            if not trial.fits_on(pod_class, receiver):
                return False
            trial.put(pod_class, receiver)
        return True

    def _examine_related(self, node: int, fallen: Receivers) -> None:
        classes = self._classes(node)
        with self.company(node) as company:
            receivers = self._find(classes, node, fallen, company)
        if receivers is None:
            self._give_up([node])
        else:
            self._rely(Witness(classes, receivers, {node}, node))

    def _examine(self, classes: Classes, nodes: Sequence[int], fallen: Receivers) -> None:
        """Find witnesses for ``nodes``, all with victims of ``classes``; those without one are stuck.

        One witness serves all of them but those it leans on, which look for one of their own.
        """
        receivers = self._find(classes, None, fallen)
        if receivers is None:
            self._give_up(nodes)
            return
        self._rely(Witness(classes, receivers, {n for n in nodes if n not in receivers}))
        for node in nodes:
            if node in receivers:
                own = self._find(classes, node, fallen)
                if own is None:
                    self._give_up([node])
                else:
                    self._rely(Witness(classes, own, {node}))

    def _give_up(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            self.drop(node)
            self._occupancy.certain[node] = True

    def _rely(self, witness: Witness) -> None:
        if witness.users:
            self._witness.update(dict.fromkeys(witness.users, witness))
            for node in witness.receivers:
                self._leaning.setdefault(node, {})[witness] = None

    def _find(
        self, classes: Classes, barred: int | None, fallen: Receivers, company: Company | None = None
    ) -> Receivers | None:
        """Return receivers: those of ``fallen`` that still fit, else spread ones, else any placement there is."""
        trial = Trial(self._occupancy, barred, company)
        chosen: list[int] = []
        receiver: int | None
        for place, pod_class in enumerate(classes):
            if fallen and trial.fits_on(pod_class, fallen[place]):
                receiver = fallen[place]
            elif company is None or (receiver := self._probe(trial, pod_class, classes)) is None:
                flags = trial.open_nodes(pod_class)
                receiver = self._spread(flags, classes)
                if not flags[receiver]:
                    for node in reversed(chosen):
                        trial.take_back(node)
                    return any_placement(self._occupancy, classes, barred, self._costs, company)
            trial.put(pod_class, receiver)
            chosen.append(receiver)
        return tuple(chosen)

    def _probe(self, trial: Trial, pod_class: int, classes: Classes) -> int | None:
        """Return one of the next few nodes from a starting point that can take the pod, or None.

        Where other pods matter, asking about one node is far quicker than asking about all.
        """
        flags = self._occupancy.fits(pod_class)
        at = _start(classes, len(flags))
        for _ in range(PROBES):
            at += int(flags[at:].argmax())
            if not flags[at]:
                return None
            if trial.fits_on(pod_class, at):
                return at
            at = (at + 1) % len(flags)
        return None

    @staticmethod
    def _spread(flags: Flags, classes: Classes) -> int:
        """Return a node in ``flags`` that depends on the victims' classes, so that witnesses do not crowd."""
        start = _start(classes, len(flags))
        later = start + int(flags[start:].argmax())
        return later if flags[later] else int(flags.argmax())


def _start(classes: Classes, nodes: int) -> int:
    return (sum((k + 1) * (c + 1) for k, c in enumerate(classes)) * 2654435761) % nodes
