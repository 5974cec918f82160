"""From victim to replacement: match, choose a receiver, nominate, watch until bound (spec 4.4).

Order of writes: the receiver is chosen and journalled before the eviction, so that a replacement costs one patch when
its watch event arrives; a receiver chosen later is journalled before it is nominated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from repack_gitops.errors import TryAgain
from repack_gitops.kube.interface import Nominated
from repack_gitops.model.cluster import AntiAffinity, Key, Owner, Pod
from repack_gitops.model.run import EvictionPhase, PlacementPhase, PlacementStatus, Relocation
from repack_gitops.planner.feasibility import inter_pod_affinity
from repack_gitops.planner.receiver import Wish, choose_receiver
from repack_gitops.policy.ending import REMOVED
from repack_gitops.workflow.clock import parse_timestamp, timestamp
from repack_gitops.workflow.execution.feed import Feed
from repack_gitops.workflow.execution.session import Session
from repack_gitops.workflow.execution.view import LiveView

#: Owners that give replacements new names; all others keep the victim's name.
GENERATED_NAMES = frozenset({"ReplicaSet", "ReplicationController"})
SETTLED = frozenset({PlacementPhase.PLACED, PlacementPhase.TIMED_OUT})
TICK_SECONDS = 1.0
FIRST_LIST_SECONDS = 120.0


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
    terms
        Required anti-affinity of running pods, with the domains they guard.
    """

    resource: str
    owners: Mapping[Key, Owner]
    freed: frozenset[str]
    known: frozenset[str]
    terms: tuple[tuple[AntiAffinity, inter_pod_affinity.Domain], ...]


class Follower:
    """Keeps the journal's placements true to what the feed shows."""

    def __init__(self, session: Session, feed: Feed, view: LiveView, rules: Rules) -> None:
        self._cluster, self._clock, self._lock = session.cluster, session.clock, session.lock
        self._journal, self._settings = session.journal, session.settings
        self._feed, self.view, self._rules = feed, view, rules

    def start(self) -> None:
        """Take in the first list of pods; only then may anything be evicted.

        Raises
        ------
        TryAgain
            No list arrived in time.
        """
        deadline = self._clock.monotonic() + FIRST_LIST_SECONDS
        while self._clock.monotonic() < deadline:
            changes = self._feed.poll(TICK_SECONDS)
            self._lock.check()
            for change in changes:
                for pod in self.view.apply(change):
                    self._look_at(pod)
            if changes:
                return
        raise TryAgain("the cluster's pods could not be listed in time", hint="The Job restarts and goes on.")

    def pump(self, seconds: float = TICK_SECONDS) -> None:
        """Take in what happened for at most ``seconds``, act on it, and keep the lease."""
        for change in self._feed.poll(seconds):
            for pod in self.view.apply(change):
                self._look_at(pod)
        self._lock.check()
        self._tick()

    def prepare(self, index: int, victim: Pod) -> PlacementStatus:
        """Return the placement to journal before the eviction: the receiver as it would be chosen now."""
        relocation = self._journal.relocations[index]
        selected = self._choose(victim, relocation) or ""
        return msgspec.structs.replace(relocation.placement, selected_node_name=selected)

    def settled(self, index: int) -> bool:
        """Tell whether nothing more is to come of a relocation: replacement settled and victim gone, or never evicted."""
        relocation = self._journal.relocations[index]
        if relocation.eviction.phase not in REMOVED:
            return True
        placement = relocation.placement.phase
        if placement is PlacementPhase.TIMED_OUT:
            return True
        gone = not self.view.alive((relocation.namespace, relocation.victim_pod_name), relocation.victim_pod_uid)
        return placement is PlacementPhase.PLACED and (gone or self._expired(relocation))

    # ---- what events mean ----
    def _look_at(self, pod: Pod) -> None:
        for index, relocation in enumerate(self._journal.relocations):
            if relocation.placement.replacement_pod_uid == pod.uid:
                self._claimed(index, relocation, pod)
                return
        if not self.view.alive(pod.key, pod.uid) or pod.terminating or not pod.active or pod.uid in self._rules.known:
            return
        for index, relocation in enumerate(self._journal.relocations):
            if self._open(relocation) and self._replaces(pod, relocation):
                self._claim(index, pod)
                return

    def _open(self, relocation: Relocation) -> bool:
        """A relocation waits for a replacement once its victim is on its way out."""
        return (
            relocation.eviction.phase in REMOVED
            and relocation.placement.phase not in SETTLED
            and not relocation.placement.replacement_pod_uid
        )

    def _replaces(self, pod: Pod, relocation: Relocation) -> bool:
        if pod.namespace != relocation.namespace or pod.uid == relocation.victim_pod_uid:
            return False
        owner = self._rules.owners.get((relocation.namespace, relocation.pod_group_name))
        if pod.name == relocation.victim_pod_name:
            return pod.owner is not None
        if owner is None or owner.kind not in GENERATED_NAMES or pod.owner is None:
            return False
        return (pod.owner.kind, pod.owner.name) == (owner.kind, owner.name)

    def _claim(self, index: int, pod: Pod) -> None:
        relocation = self._journal.relocations[index]
        placement = msgspec.structs.replace(relocation.placement, replacement_pod_name=pod.name, replacement_pod_uid=pod.uid)
        if pod.node:
            self._placed(index, placement, pod)
            return
        prepared = placement.selected_node_name
        node = self._choose(pod, relocation)
        if node is None:
            self._store(index, placement, PlacementPhase.WAITING_FOR_NODE_SELECTION)
        elif node == prepared:
            self._nominate(index, placement, pod, node)
        else:
            placement = msgspec.structs.replace(placement, selected_node_name=node)
            self._store(index, placement, PlacementPhase.WAITING_FOR_NODE_SELECTION)
            self._nominate(index, placement, pod, node)

    def _claimed(self, index: int, relocation: Relocation, pod: Pod) -> None:
        """A claim follows its pod: bound is Placed; gone or failed before that frees the claim for the next pod."""
        if relocation.placement.phase in SETTLED:
            return
        if not self.view.alive(pod.key, pod.uid) or pod.terminating or not pod.active:
            waiting = msgspec.structs.replace(relocation.placement, replacement_pod_name="", replacement_pod_uid="")
            self._store(index, waiting, PlacementPhase.WAITING_FOR_REPLACEMENT)
        elif pod.node:
            self._placed(index, relocation.placement, pod)

    def _placed(self, index: int, placement: PlacementStatus, pod: Pod) -> None:
        self._store(index, msgspec.structs.replace(placement, actual_node_name=pod.node or ""), PlacementPhase.PLACED)

    # ---- choosing and nominating ----
    def _choose(self, pod: Pod, relocation: Relocation) -> str | None:
        if self._settings.steering == "None":
            return relocation.planned_node_name
        nodes = [n for n in self.view.nodes if n.name not in self._rules.freed]
        closed = inter_pod_affinity.closed_domains(pod, self._rules.terms)
        wish = Wish(pod, relocation.planned_node_name, closed, self._rules.resource)
        return choose_receiver(wish, nodes, self.view.residents)

    def _nominate(self, index: int, placement: PlacementStatus, pod: Pod, node: str) -> None:
        self._lock.check()
        if self._settings.steering == "None":
            self._store(index, placement, PlacementPhase.WAITING_FOR_NODE_SELECTION)
            return
        answer = self._cluster.nominate(pod.namespace, pod.name, pod.uid, node)
        done = isinstance(answer, Nominated)
        phase = PlacementPhase.NOMINATED if done else PlacementPhase.WAITING_FOR_NODE_SELECTION
        self._store(index, placement, phase)

    def _store(self, index: int, placement: PlacementStatus, phase: PlacementPhase) -> None:
        new = msgspec.structs.replace(placement, phase=phase)
        if new != self._journal.relocations[index].placement:
            self._journal.update(index, placement=new)

    # ---- what time means ----
    def _tick(self) -> None:
        for index, relocation in enumerate(self._journal.relocations):
            if relocation.eviction.phase not in REMOVED or relocation.placement.phase in SETTLED:
                continue
            pod = self.view.pod((relocation.namespace, relocation.placement.replacement_pod_name))
            if self._expired(relocation):
                self._give_up(index, relocation)
            elif relocation.placement.phase is PlacementPhase.WAITING_FOR_NODE_SELECTION and pod is not None:
                self._choose_again(index, relocation, pod)

    def _choose_again(self, index: int, relocation: Relocation, pod: Pod) -> None:
        node = self._choose(pod, relocation)
        if node is None or self._settings.steering == "None" or pod.node:
            return
        placement = msgspec.structs.replace(relocation.placement, selected_node_name=node)
        self._store(index, placement, PlacementPhase.WAITING_FOR_NODE_SELECTION)
        self._nominate(index, placement, pod, node)

    def _give_up(self, index: int, relocation: Relocation) -> None:
        """Clear our nomination, so that no stale hint outlives the run, and say so in the journal."""
        placement = relocation.placement
        if placement.phase is PlacementPhase.NOMINATED:
            self._cluster.nominate(relocation.namespace, placement.replacement_pod_name, placement.replacement_pod_uid, None)
        self._store(index, placement, PlacementPhase.TIMED_OUT)

    def _expired(self, relocation: Relocation) -> bool:
        expiration = relocation.placement.expiration_time
        return bool(expiration) and self._clock.now() >= parse_timestamp(expiration)

    def deadline(self, victim: Pod | None) -> str:
        """Return when a victim evicted now must have a bound replacement: its grace plus the placement timeout."""
        grace = self._settings.grace_period_seconds
        if grace is None:
            grace = 30 if victim is None or victim.grace_seconds is None else victim.grace_seconds
        return timestamp(self._clock.now() + timedelta(seconds=grace + self._settings.placement_timeout))


def evictable(relocation: Relocation) -> bool:
    """Tell whether a relocation's victim is still to be evicted, as far as the journal knows."""
    return relocation.eviction.phase in (EvictionPhase.PENDING, EvictionPhase.IN_PROGRESS)
