"""The nearest single change after which a stuck node could be emptied too, on top of the plan that was found.

As many victims as possible are placed as things are (best fit); one change on one other node must make room there for the
rest. So a change shown is always enough, though another placement of the first victims may need a smaller one; for a node
with one victim it is the smallest. Where every other node is closed for more than one reason, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
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

#: What lifts a static filter's refusal. Nearest first: a command, a repair, then what the workload's owner must change;
#: between the two, `Action.FREE_RESOURCE`, for which one only has to wait.
_LIFTS = {
    Code.NODE_UNSCHEDULABLE: Action.UNCORDON,
    Code.NODE_NOT_READY: Action.MAKE_READY,
    Code.TAINT_TOLERATION: Action.TOLERATE_TAINT,
    Code.NODE_AFFINITY: Action.MATCH_NODE,
    Code.INTER_POD_AFFINITY: Action.LIFT_ANTI_AFFINITY,
}
_BY_COMMAND = (Code.NODE_UNSCHEDULABLE, Code.NODE_NOT_READY)
_BY_OWNER = (Code.TAINT_TOLERATION, Code.NODE_AFFINITY, Code.INTER_POD_AFFINITY)


@dataclass(frozen=True, slots=True)
class _Rest:
    """Victims without a place, and the cluster once the others have theirs; ``used`` are the nodes those went to."""

    classes: Sequence[int]
    used: frozenset[int]
    left: Whole
    open_ports: Flags


class Nearest:
    """Answers for the state a search ended in; nodes with the same victims share one answer."""

    def __init__(self, problem: Problem, occupancy: Occupancy, refusals: Refusals) -> None:
        self._problem, self._occupancy, self._refusals = problem, occupancy, refusals
        self._shared: dict[Classes, tuple[Change | None, frozenset[int]]] = {}

    def change(self, classes: Classes, node: int) -> Change | None:
        """Return the change that lets ``node``, whose victims are of ``classes``, be emptied; None if no single one does."""
        if classes not in self._shared:
            self._shared[classes] = self._find(classes, None)
        found, leaning_on = self._shared[classes]
        return self._find(classes, node)[0] if node in leaning_on else found

    def _find(self, classes: Classes, barred: int | None) -> tuple[Change | None, frozenset[int]]:
        rest = self._rest(classes, barred)
        found = self._best(rest, barred) if rest.classes else None
        target = self._problem.index[found.subject] if found else None
        return found, rest.used | ({target} if target is not None else set())

    def _rest(self, classes: Classes, barred: int | None) -> _Rest:
        trial, left = Trial(self._occupancy, barred), self._occupancy.idle.copy()
        tried: dict[int, list[int]] = {}
        rest: list[int] = []
        for pod_class in classes:
            choice = np.flatnonzero(trial.open_nodes(pod_class))
            if not choice.size:
                rest.append(pod_class)
                continue
            node = int(choice[left[0, choice].argmin()])
            trial.put(pod_class, node)
            left[:, node] -= self._problem.requests[pod_class]
            tried.setdefault(node, []).append(pod_class)
        ports = ~np.logical_or.reduce([self._occupancy.ports_taken(c) for c in rest]) if rest else np.array([], dtype=bool)
        return _Rest(rest, frozenset(tried), left, self._without_conflicts(ports, rest, tried))

    def _without_conflicts(self, ports: Flags, rest: Sequence[int], tried: dict[int, list[int]]) -> Flags:
        """Close the nodes where host ports of the rest meet those of victims placed before, or one another's."""
        conflict = self._occupancy.ports_conflict
        for node, others in tried.items():
            if any(conflict(c, other) for c in rest for other in others):
                ports[node] = False
        if any(conflict(c, other) for i, c in enumerate(rest) for other in rest[:i]):
            ports[:] = False
        return ports

    def _best(self, rest: _Rest, barred: int | None) -> Change | None:
        receives = self._occupancy.receives.copy()
        if barred is not None:
            receives[barred] = False
        need = self._problem.requests[list(rest.classes)].sum(axis=0)[:, None]
        short = np.where(need > 0, np.maximum(need - rest.left, 0), 0)
        lacking = np.count_nonzero(short, axis=0)
        cause, alone = self._static(rest.classes)
        roomy = receives & (lacking == 0)
        held = roomy & ~rest.open_ports & (cause == OPEN)
        held[list(rest.used)] = False  # the ports there are those of victims that were just placed
        return (
            self._lift(roomy & rest.open_ports & alone, cause, _BY_COMMAND)
            or self._more_idle(receives & rest.open_ports & (cause == OPEN) & (lacking == 1), need, short)
            or self._lift(roomy & rest.open_ports & alone, cause, _BY_OWNER)
            or self._free_port(held, rest.classes)
        )

    def _static(self, classes: Sequence[int]) -> tuple[Codes, Flags]:
        """Return by node the one cause that closes it to some of ``classes``, and whether it is the only one for all."""
        found = [self._refusals.static(c) for c in classes]
        cause = np.maximum.reduce([s.cause for s in found])
        alone = np.logical_and.reduce([(s.cause == OPEN) | ((s.cause == cause) & s.alone) for s in found])
        return cause, alone & (cause != OPEN)

    def _lift(self, nodes: Flags, cause: Codes, order: Sequence[Code]) -> Change | None:
        for code in order:
            numbers = [i for i, (found, _) in enumerate(self._refusals.causes) if found is code]
            choice = np.flatnonzero(nodes & np.isin(cause, numbers))
            if choice.size:
                node = int(choice[0])
                return Change(_LIFTS[code], self._problem.nodes[node].name, self._refusals.causes[int(cause[node])][1])
        return None

    def _more_idle(self, nodes: Flags, need: Whole, short: Whole) -> Change | None:
        """The node that lacks the smallest share of what the rest asks for."""
        choice = np.flatnonzero(nodes)
        if not choice.size:
            return None
        share = (short[:, choice] / np.maximum(need, 1)).sum(axis=0)
        node = int(choice[share.argmin()])
        column = int(short[:, node].argmax())
        asked, missing, scale = int(need[column, 0]), int(short[column, node]), self._problem.scales[column]
        now, needed = (asked - missing) * scale, asked * scale
        return Change(Action.FREE_RESOURCE, self._problem.nodes[node].name, self._problem.columns[column], now, needed)

    def _free_port(self, nodes: Flags, classes: Sequence[int]) -> Change | None:
        choice = np.flatnonzero(nodes)
        wanted = sorted({p for c in classes for p in self._problem.classes[c].constraints.host_ports})
        if len(classes) != 1 or not choice.size:
            return None
        ports = ", ".join(f"{p.port}/{p.protocol}" for p in wanted)
        return Change(Action.FREE_PORT, self._problem.nodes[int(choice[0])].name, ports)
