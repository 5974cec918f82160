"""The nearest single change after which a stuck node could be emptied too, on top of the plan that was found.

As many victims as possible are placed as things are (best fit); one change on one other node must make room there for the
rest. So a change shown is always enough, though another placement of the first victims may need a smaller one; for a node
with one victim it is the smallest. Where every other node is closed for more than one reason, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repack_gitops.model.change import Action, Change
from repack_gitops.model.plan import Code
from repack_gitops.planner.node_profiles import Codes
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Flags, Problem, Whole
from repack_gitops.planner.refusals import OPEN, Refusals
from repack_gitops.planner.trial import Trial

Classes = tuple[int, ...]

#: What lifts the refusal of a filter that reads no other pod's place, the nearest first: a command, a repair, waiting
#: for room, then what the workload's owner must change, then what others must.
FILTER_ACTIONS: Mapping[Code, Action | None] = {
    Code.NODE_UNSCHEDULABLE: Action.UNCORDON,
    Code.NODE_NOT_READY: Action.MAKE_READY,
    Code.NODE_RESOURCES: Action.FREE_RESOURCE,
    Code.TAINT_TOLERATION: Action.TOLERATE_TAINT,
    Code.NODE_AFFINITY: Action.MATCH_NODE,
    Code.NODE_PORTS: Action.FREE_PORT,
    #: Nobody's single change: where volumes are, which nodes a queue uses, where other pods are, that a node is empty.
    Code.VOLUME_ZONE: None,
    Code.VOLUME_BINDING: None,
    Code.NODE_GROUP: None,
    Code.NODE_VOLUME_LIMITS: None,
    Code.POD_TOPOLOGY_SPREAD: None,
    Code.INTER_POD_AFFINITY: None,
    Code.SIBLING_DEVICES: None,
    Code.NOT_OCCUPIED: None,
}
_RANK = {code: rank for rank, code in enumerate(FILTER_ACTIONS)}


@dataclass(frozen=True, slots=True, order=True)
class _Option:
    """A change that would do; the smallest is the nearest. ``share`` is the part of the request that is not idle."""

    rank: int
    share: float
    node: int
    code: Code
    what: str = ""
    now: int | None = None
    needed: int | None = None


@dataclass(frozen=True, slots=True)
class _Rest:
    """Victims without a place, and the classes placed on each node before them."""

    classes: Classes
    placed: Mapping[int, Sequence[int]]


class Nearest:
    """Answers for the state a search ended in; nodes with the same victims share the work."""

    def __init__(self, problem: Problem, occupancy: Occupancy, refusals: Refusals) -> None:
        self._problem, self._occupancy, self._refusals = problem, occupancy, refusals
        self._rests: dict[Classes, _Rest] = {}
        self._shared: dict[Classes, _Option | None] = {}
        self._all: Codes = np.arange(len(problem.nodes))

    def change(self, classes: Classes, node: int) -> Change | None:
        """Return the change that lets ``node``, whose victims are of ``classes``, be emptied; None if no single one does."""
        if classes not in self._rests:
            self._rests[classes] = self._rest(classes, None)
        rest = self._rests[classes]
        if node in rest.placed:
            rest = self._rest(classes, node)
        found = [o for o in (self._elsewhere(rest, node), self._beside(rest)) if o is not None] if rest.classes else []
        return self._described(min(found)) if found else None

    def _rest(self, classes: Classes, barred: int | None) -> _Rest:
        trial, rest = Trial(self._occupancy, barred), []
        placed: dict[int, list[int]] = {}
        for pod_class in classes:
            choice = np.flatnonzero(trial.open_nodes(pod_class))
            if not choice.size:
                rest.append(pod_class)
                continue
            left = self._occupancy.idle[0, choice]
            for other, before in placed.items():
                left[choice == other] -= self._problem.requests[before, 0].sum()
            node = int(choice[left.argmin()])
            trial.put(pod_class, node)
            placed.setdefault(node, []).append(pod_class)
        return _Rest(tuple(rest), placed)

    def _elsewhere(self, rest: _Rest, node: int) -> _Option | None:
        """Return the nearest option on a node that took none of the victims placed before; ``node`` is no option."""
        idle, receives = self._occupancy.idle, self._occupancy.receives
        if rest.classes not in self._shared:
            self._shared[rest.classes] = self._option(rest.classes, self._all, idle, receives)
        found, without = self._shared[rest.classes], [node, *rest.placed]
        if found is None or found.node not in without:
            return found
        others = receives.copy()
        others[without] = False
        return self._option(rest.classes, self._all, idle, others)

    def _beside(self, rest: _Rest) -> _Option | None:
        """Return the nearest option on a node that took some victims already; their host ports may be in the way."""
        conflict = self._occupancy.ports_conflict
        usable = [n for n, before in rest.placed.items() if not any(conflict(c, b) for c in rest.classes for b in before)]
        if not usable:
            return None
        nodes = np.array(sorted(usable), dtype=np.int64)
        taken = [self._problem.requests[rest.placed[int(n)]].sum(axis=0) for n in nodes]
        left = self._occupancy.idle[:, nodes] - np.array(taken).T
        return self._option(rest.classes, nodes, left, np.ones(len(nodes), dtype=bool))

    def _option(self, classes: Classes, nodes: Codes, left: Whole, usable: Flags) -> _Option | None:
        """Return the nearest option among ``nodes`` that are ``usable``; they have ``left`` idle, shape (columns, nodes)."""
        if any(self._occupancy.ports_conflict(c, other) for i, c in enumerate(classes) for other in classes[:i]):
            return None  # no one node takes them all
        need = self._problem.requests[list(classes)].sum(axis=0)
        # Some columns are compared for every pod, whether it asks for any or not.
        asked = [(column, int(need[column])) for column in sorted({c for k in classes for c, _ in self._occupancy.asks[k]})]
        lacking = np.zeros(len(nodes), dtype=np.int8)
        for column, amount in asked:
            lacking += left[column] < amount
        cause, alone, held = self._closed(classes, nodes)
        enough, passing = usable & (lacking == 0), usable & (cause == OPEN)
        found = [
            *self._lifts(enough & ~held & alone, cause, nodes),
            *self._more_idle(np.flatnonzero(passing & ~held & (lacking == 1)), asked, left, nodes),
            *self._ports(enough & passing & held, classes, nodes),
        ]
        return min(found, default=None)

    def _closed(self, classes: Classes, nodes: Codes) -> tuple[Codes, Flags, Flags]:
        """Return a static cause by node that closes it to some of ``classes``, whether it is the only one for all of them,
        and whether one of their host ports is taken."""
        one = {self._problem.classes[c].demands: c for c in classes}.values()
        found = [self._refusals.static(c) for c in one]
        cause, alone, held = found[0].cause, found[0].alone, self._occupancy.ports_taken(classes[0])
        if len(found) > 1:
            cause = np.maximum.reduce([s.cause for s in found])
            alone = np.logical_and.reduce([(s.cause == OPEN) | ((s.cause == cause) & s.alone) for s in found])
            alone &= cause != OPEN
            held = np.logical_or.reduce([self._occupancy.ports_taken(c) for c in one])
        return cause[nodes], alone[nodes], held[nodes]

    def _lifts(self, flags: Flags, cause: Codes, nodes: Codes) -> Iterable[_Option]:
        numbers, first = np.unique(cause[flags], return_index=True)
        for number, place in zip(numbers.tolist(), first.tolist(), strict=True):
            code, what = self._refusals.causes[number]
            yield _Option(_RANK[code], 0.0, int(nodes[flags][place]), code, what)

    def _more_idle(self, choice: Codes, asked: Sequence[tuple[int, int]], left: Whole, nodes: Codes) -> Iterable[_Option]:
        """Yield the node of ``choice`` that lacks the smallest share of what it is asked for."""
        if not choice.size:
            return
        shares = [np.maximum(amount - left[column, choice], 0) / max(amount, 1) for column, amount in asked]
        share = np.add.reduce(shares)
        place = int(share.argmin())
        column, amount = next((c, a) for (c, a), part in zip(asked, shares, strict=True) if part[place])
        now, scale = int(left[column, choice[place]]), self._problem.scales[column]
        what, node, code = self._problem.columns[column], int(nodes[choice[place]]), Code.NODE_RESOURCES
        yield _Option(_RANK[code], float(share[place]), node, code, what, now * scale, amount * scale)

    def _ports(self, flags: Flags, classes: Classes, nodes: Codes) -> Iterable[_Option]:
        choice = np.flatnonzero(flags)
        if choice.size:
            wanted = sorted({p for c in classes for p in self._problem.classes[c].demands.constraints.host_ports})
            what = ", ".join(f"{p.port}/{p.protocol}" for p in wanted)
            yield _Option(_RANK[Code.NODE_PORTS], 0.0, int(nodes[choice[0]]), Code.NODE_PORTS, what)

    def _described(self, option: _Option) -> Change | None:
        action = FILTER_ACTIONS[option.code]
        name = self._problem.nodes[option.node].name
        return Change(action, name, option.what, option.now, option.needed) if action else None
