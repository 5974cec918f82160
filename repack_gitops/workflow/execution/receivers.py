"""Where replacements may go now, with the room that is promised to those who are still on their way (spec 4.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from repack_gitops.model.cluster import ClusterSnapshot, Constraints, Key, Node, Owner, Pod, Relations
from repack_gitops.model.run import EvictionPhase, PlacementPhase, Relocation
from repack_gitops.planner.feasibility.demands import PodDemands
from repack_gitops.planner.feasibility.placements import Placements
from repack_gitops.planner.feasibility.state import Surroundings
from repack_gitops.planner.receiver import Wish, choose_receiver, why_no_room, why_not_now
from repack_gitops.policy.ending import REMOVED
from repack_gitops.workflow.execution.view import LiveView

NOBODY: frozenset[str] = frozenset()
SETTLED = frozenset({PlacementPhase.PLACED, PlacementPhase.TIMED_OUT})


@dataclass(frozen=True, slots=True)
class Rules:
    """What does not change while a run is executed.

    Attributes
    ----------
    owners
        Direct controller of each PodGroup that moves.
    freed
        Nodes being freed in this run; they never receive.
    known
        UIDs of pods that existed before the first eviction; they replace nobody.
    snapshot
        The cluster before the first eviction: what pods demand of nodes, storage and namespaces are taken from it.
    """

    resource: str
    owners: Mapping[Key, Owner]
    freed: frozenset[str]
    known: frozenset[str]
    snapshot: ClusterSnapshot


def in_flight(relocation: Relocation) -> bool:
    """Tell whether the victim is leaving or has left, and its replacement is neither bound nor given up."""
    leaving = relocation.eviction.phase is EvictionPhase.IN_PROGRESS or relocation.eviction.phase in REMOVED
    return leaving and relocation.placement.phase not in SETTLED


class Receivers:
    """Chooses nodes on the live view.

    A nomination reserves nothing and a replacement may not exist yet, so whoever is on the way to a node is counted as if
    it were there: else two pods are led to one slot, and the second lands on an empty node.
    """

    def __init__(self, view: LiveView, rules: Rules) -> None:
        self._view, self._rules = view, rules
        snapshot = rules.snapshot
        leaving = frozenset(p.key for p in snapshot.pods if p.node in rules.freed)
        self._demands = PodDemands(snapshot, leaving)

    def choose(
        self, pod: Pod, relocation: Relocation, promised: Sequence[Pod], *, evicted: bool, leaving: frozenset[str] = NOBODY
    ) -> str | None:
        """Return the node for ``pod``: the one selected before if it still fits, the planned one, else the best fit.

        Parameters
        ----------
        evicted
            The victim is on its way out. Then its receiver stays one even where its other pods have ended meanwhile: it
            was occupied before, and the scheduler's own choice would be worse.
        leaving
            UIDs of pods that are there and will be gone: the other victims of the node.
        """
        selected, planned = relocation.placement.selected_node_name, relocation.planned_node_name
        around = self._around(pod, promised, leaving)
        if selected and self._usable(pod, selected, promised, around, evicted):
            return selected
        nodes = [n for n in self._view.nodes if n.name not in self._rules.freed]
        wish = Wish(pod, planned, around, self._rules.resource)
        best = choose_receiver(wish, nodes, lambda node: self._residents(node, promised))
        return planned if best is None and evicted and self._fits(pod, planned, promised, around) else best

    def fits(self, pod: Pod, node: str, promised: Sequence[Pod]) -> bool:
        """Tell whether ``node`` may receive and has room for ``pod`` now."""
        return self._fits(pod, node, promised, self._around(pod, promised, NOBODY))

    def _fits(self, pod: Pod, node: str, promised: Sequence[Pod], around: Surroundings) -> bool:
        found = None if node in self._rules.freed else self._node(node)
        return found is not None and why_no_room(pod, found, self._residents(node, promised), around) is None

    def together(self, victims: Sequence[tuple[Pod, Relocation]], promised: Sequence[Pod]) -> str | None:
        """Return why not all ``victims`` have a place now, each beside the others, or None."""
        taken, leaving = list(promised), frozenset(pod.uid for pod, _ in victims)
        for pod, relocation in victims:
            node = self.choose(pod, relocation, taken, evicted=False, leaving=leaving)
            if node is None:
                why = self._why_not(pod, relocation.planned_node_name, taken, self._around(pod, taken, leaving))
                return f"no node can take {pod.namespace}/{pod.name} now; planned node {relocation.planned_node_name}: {why}"
            taken.append(ghost(pod, node))
        return None

    def _usable(self, pod: Pod, node: str, promised: Sequence[Pod], around: Surroundings, evicted: bool) -> bool:
        return self._fits(pod, node, promised, around) if evicted else self._why_not(pod, node, promised, around) is None

    def _why_not(self, pod: Pod, node: str, promised: Sequence[Pod], around: Surroundings) -> str | None:
        found = self._node(node)
        if found is None or node in self._rules.freed:
            return "it is gone" if found is None else "it is being freed"
        residents = self._residents(node, promised)
        reason = why_not_now(pod, found, residents, around, self._rules.resource)
        return None if reason is None else str(reason)

    def _node(self, name: str) -> Node | None:
        return next((n for n in self._view.nodes if n.name == name), None)

    def _residents(self, node: str, promised: Sequence[Pod]) -> Sequence[Pod]:
        there = self._view.residents(node)
        known = {p.uid for p in there}
        return (*there, *(p for p in promised if p.nominated_node == node and p.uid not in known))

    def _around(self, pod: Pod, promised: Sequence[Pod], leaving: frozenset[str]) -> Surroundings:
        """Return what else decides about ``pod``: all other pods where they are, or will be by what is promised."""
        snapshot = self._rules.snapshot
        pods: list[Pod] = []
        if self._view.related or any(p.relations for p in promised):
            gone = leaving | {pod.uid}
            pods = [p for p in self._view.pods() if p.uid not in gone]
            known = {p.uid for p in pods if p.node}
            # A promise is kept beside its victim, which has the same name and may still be there.
            pods += [_arrived(p) for p in promised if p.uid not in known and p.uid != pod.uid]
        return Surroundings(snapshot, self._demands, Placements(self._view.nodes, pods, snapshot.namespaces))


def _arrived(promise: Pod) -> Pod:
    return replace(promise, node=promise.nominated_node, name=f"{promise.name} {promise.uid}")


def ghost(pod: Pod, node: str, uid: str = "") -> Pod:
    """Return what holds the room on ``node`` that is promised to ``pod``'s replacement, or to ``pod`` with ``uid``."""
    uid = uid or f"instead of {pod.uid}"
    return replace(pod, uid=uid, node=None, nominated_node=node, requests=pod.template, phase="Pending", terminating=False)


def shadow(relocation: Relocation, resource: str, like: Pod) -> Pod:
    """Return the same for a victim that nobody can look up any more: only its cards are known."""
    amounts = {resource: relocation.cards * 1000}
    bare = replace(
        like,
        requests=amounts,
        template=amounts,
        constraints=Constraints(),
        relations=Relations(),
        claims=(),
        uid=relocation.victim_pod_uid,
    )
    return ghost(bare, relocation.placement.selected_node_name)


def without(promised: Mapping[int, Pod], indices: Collection[int]) -> list[Pod]:
    """Return the promises to everybody but ``indices``."""
    return [pod for index, pod in promised.items() if index not in indices]
