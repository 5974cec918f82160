"""From victim to replacement: match, choose a receiver, nominate, watch until bound (spec 4.4).

Order of writes: the receiver is chosen and journalled before the eviction, so that a replacement costs one patch when
its watch event arrives; a receiver chosen later is journalled before it is nominated.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import inf

import msgspec

from repack_gitops.errors import TryAgain
from repack_gitops.kube.interface import Nominated, NotNominated, PodList
from repack_gitops.model.cluster import Pod
from repack_gitops.model.run import EvictionPhase, PlacementPhase, PlacementStatus, Relocation
from repack_gitops.policy.ending import REMOVED, left_by_itself
from repack_gitops.workflow.clock import parse_timestamp, timestamp
from repack_gitops.workflow.execution.feed import Change, Feed
from repack_gitops.workflow.execution.matching import replaces
from repack_gitops.workflow.execution.receivers import Receivers, Rules, ghost, in_flight, shadow, without
from repack_gitops.workflow.execution.session import Session
from repack_gitops.workflow.execution.view import LiveView

TICK_SECONDS = 1.0
FIRST_LIST_SECONDS = 120.0
#: Nodes change while a replacement waits; they are listed again that often.
NODES_SECONDS = 30.0
FIRST_PATIENCE, LONGEST_PATIENCE = 2.0, 60.0
#: Seconds that Kubernetes gives a pod to end where its spec says nothing.
DEFAULT_GRACE = 30
#: Attempts to clear a nomination when it is given up.
CLEARINGS = 3


class Follower:
    """Keeps the journal's placements true to what the feed shows."""

    def __init__(self, session: Session, feed: Feed, view: LiveView, rules: Rules) -> None:
        self._cluster, self._clock, self._lock = session.cluster, session.clock, session.lock
        self._journal, self._settings = session.journal, session.settings
        self._feed, self.view, self._rules = feed, view, rules
        self._receivers = Receivers(view, rules)
        self._known = set(rules.known)
        self._leaving = frozenset(r.victim_pod_uid for r in session.journal.relocations)
        self._victims: dict[int, Pod] = {}
        self._flying: tuple[list[Relocation], list[int]] = ([], [])
        #: By UID of a pod whose nomination was refused: when to try again, and how long to wait after that.
        self._patience: dict[str, tuple[float, float]] = {}
        self._nodes_listed = self._clock.monotonic()
        self._due: dict[str, float] = {}

    # ---- the feed ----
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
            if changes:
                self._take(changes)
                return
        raise TryAgain("the cluster's pods could not be listed in time", hint="The Job restarts and goes on.")

    def pump(self, seconds: float = TICK_SECONDS) -> None:
        """Take in what happened for at most ``seconds``, act on it, and keep the lease."""
        self._take(self._feed.poll(seconds))
        self._lock.check()
        for index in self._in_flight():
            self._tick(index, self._journal.relocations[index])

    def _take(self, changes: Sequence[Change]) -> None:
        for change in changes:
            pods = self.view.apply(change)
            if isinstance(change, PodList):
                self._forget_lost_claims()
            for pod in pods:
                self._look_at(pod)

    def _forget_lost_claims(self) -> None:
        """After a gap a claimed pod may be missing without any word that it was deleted."""
        for index in self._in_flight():
            relocation = self._journal.relocations[index]
            place = relocation.placement
            key = (relocation.namespace, place.replacement_pod_name)
            if place.replacement_pod_uid and self.view.pod(key, place.replacement_pod_uid) is None:
                self._unclaim(index, place)

    # ---- before and right after an eviction ----
    def prepare(self, index: int, victim: Pod) -> PlacementStatus | None:
        """Return the placement to journal before the eviction, with the receiver chosen now; None if there is none.

        Whoever is there now and replaces nobody never will: a scale-out is told from a replacement by that.
        """
        self._victims[index] = victim
        self._known.update(p.uid for p in self.view.pods() if p.namespace == victim.namespace)
        relocation = self._journal.relocations[index]
        leaving = frozenset(p.uid for p in self.view.residents(victim.node or "") if p.uid in self._leaving)
        promised = without(self._promised(), (index,))
        selected = self._receivers.choose(victim, relocation, promised, evicted=False, leaving=leaving)
        if selected is None:
            return None
        return msgspec.structs.replace(relocation.placement, selected_node_name=selected if self._steers else "")

    def why_no_room(self, victims: Sequence[tuple[int, Pod]]) -> str | None:
        """Return why the ``victims`` (with their indices) cannot all be placed now, or None."""
        relocations = self._journal.relocations
        promised = without(self._promised(), [index for index, _ in victims])
        return self._receivers.together([(pod, relocations[index]) for index, pod in victims], promised)

    def search(self, index: int) -> None:
        """Look for the replacement among the pods that are there: its event may have come before we knew of the eviction."""
        namespace = self._journal.relocations[index].namespace
        for pod in sorted((p for p in self.view.pods() if p.namespace == namespace), key=lambda p: (p.created, p.name)):
            self._look_at(pod)

    def deadline(self, victim: Pod | None) -> str:
        """Return when a victim that leaves now must have a bound replacement: its grace plus the placement timeout.

        ``victim`` is None when it is gone already.
        """
        grace = 0 if victim is None else self._grace(victim)
        return timestamp(self._clock.now() + timedelta(seconds=grace + self._settings.placement_timeout))

    def _grace(self, victim: Pod) -> int:
        if self._settings.grace_period_seconds is not None:
            return self._settings.grace_period_seconds
        return DEFAULT_GRACE if victim.grace_seconds is None else victim.grace_seconds

    def settled(self, index: int) -> bool:
        """Tell whether nothing more is to come of a relocation: replacement settled and victim gone, or never evicted."""
        relocation = self._journal.relocations[index]
        gone = not self.view.holds((relocation.namespace, relocation.victim_pod_name), relocation.victim_pod_uid)
        if relocation.eviction.phase not in REMOVED:
            return gone or not left_by_itself(relocation) or self._expired(relocation)
        if relocation.placement.phase is PlacementPhase.TIMED_OUT:
            return True
        return relocation.placement.phase is PlacementPhase.PLACED and (gone or self._expired(relocation))

    # ---- what events mean ----
    def _look_at(self, pod: Pod) -> None:
        relocations, flying = self._journal.relocations, self._in_flight()
        for index in flying:
            if relocations[index].placement.replacement_pod_uid == pod.uid:
                self._claimed(index, pod)
                return
        waiting = next((i for i in flying if self._waits_for(i, relocations[i], pod)), None)
        if waiting is not None and self._claimable(waiting, pod):
            self._claim(waiting, pod)

    def _claimable(self, index: int, pod: Pod) -> bool:
        """A new pod that lives; or one of the victim's name that ran and has finished while nobody looked.

        A pod of the victim's name is its successor whenever it came. Others must be newer than the eviction, or, where we
        did not see the victim leave, than the run.
        """
        named = pod.name == self._journal.relocations[index].victim_pod_name
        known = self._known if index in self._victims else self._rules.known
        lives = pod.active or (named and pod.node is not None)
        if self.view.pod(pod.key, pod.uid) is None or pod.terminating or not lives or (pod.uid in known and not named):
            return False
        return all(r.placement.replacement_pod_uid != pod.uid for r in self._journal.relocations)

    def _waits_for(self, index: int, relocation: Relocation, pod: Pod) -> bool:
        if relocation.eviction.phase not in REMOVED or relocation.placement.replacement_pod_uid:
            return False
        victim = self._victims.get(index)
        group_owner = self._rules.owners.get((relocation.namespace, relocation.pod_group_name))
        return replaces(pod, relocation, None if victim is None else victim.owner, group_owner)

    def _claim(self, index: int, pod: Pod) -> None:
        place = self._journal.relocations[index].placement
        place = msgspec.structs.replace(place, replacement_pod_name=pod.name, replacement_pod_uid=pod.uid)
        if pod.node:
            self._placed(index, place, pod)
        else:
            self._lead(index, place, pod)

    def _claimed(self, index: int, pod: Pod) -> None:
        """A claim follows its pod: bound is Placed; gone or failed before that frees the claim for the next pod."""
        place, there = self._journal.relocations[index].placement, self.view.pod(pod.key, pod.uid)
        if there is not None and there.node and not there.terminating:
            self._placed(index, place, there)
        elif self._claimed_pod(self._journal.relocations[index]) is None:
            self._unclaim(index, place)
            self.search(index)

    def _claimed_pod(self, relocation: Relocation) -> Pod | None:
        """Return the claimed replacement if it is still alive."""
        place = relocation.placement
        pod = self.view.pod((relocation.namespace, place.replacement_pod_name), place.replacement_pod_uid)
        return None if pod is None or pod.terminating or not pod.active else pod

    def _unclaim(self, index: int, place: PlacementStatus) -> None:
        waiting = msgspec.structs.replace(place, replacement_pod_name="", replacement_pod_uid="")
        self._store(index, waiting, PlacementPhase.WAITING_FOR_REPLACEMENT)

    def _placed(self, index: int, place: PlacementStatus, pod: Pod) -> None:
        self._store(index, msgspec.structs.replace(place, actual_node_name=pod.node or ""), PlacementPhase.PLACED)

    # ---- choosing and nominating ----
    @property
    def _steers(self) -> bool:
        return self._settings.steering != "None"

    def _lead(self, index: int, place: PlacementStatus, pod: Pod) -> None:
        """Nominate ``pod`` to the receiver that is best now; one that is not journalled yet is journalled first."""
        node = self._receiver(index, pod) if self._steers else None
        if node is None or node != place.selected_node_name:
            place = msgspec.structs.replace(place, selected_node_name=node or "")
            self._store(index, place, PlacementPhase.WAITING_FOR_NODE_SELECTION)
        if node is not None and self._nominate(pod, node):
            self._store(index, place, PlacementPhase.NOMINATED)
        else:
            self._store(index, place, PlacementPhase.WAITING_FOR_NODE_SELECTION)

    def _receiver(self, index: int, pod: Pod) -> str | None:
        relocation, others = self._journal.relocations[index], without(self._promised(), (index,))
        return self._receivers.choose(pod, relocation, others, evicted=True)

    def _nominate(self, pod: Pod, node: str | None) -> bool:
        """Nominations are hints: a passing refusal is tried again with growing patience, any other is final for the pod."""
        again, wait = self._patience.get(pod.uid, (0.0, FIRST_PATIENCE))
        if self._clock.monotonic() < again:
            return False
        self._lock.check()
        answer = self._cluster.nominate(pod.namespace, pod.name, pod.uid, node)
        match answer:
            case Nominated():
                return True
            case NotNominated(transient=True):
                self._patience[pod.uid] = (self._clock.monotonic() + wait, min(wait * 2, LONGEST_PATIENCE))
            case NotNominated():
                self._patience[pod.uid] = (inf, inf)
        return False

    def _promised(self) -> dict[int, Pod]:
        """Return what holds the room that every relocation in flight is to take, by index."""
        found = {}
        for index in self._in_flight():
            relocation = self._journal.relocations[index]
            node, pod = relocation.placement.selected_node_name, self._claimed_pod(relocation)
            if not node:
                continue
            if pod is not None:
                found[index] = ghost(pod, node, pod.uid)
            elif index in self._victims:
                found[index] = ghost(self._victims[index], node)
            elif (like := next(iter(self.view.pods()), None)) is not None:
                found[index] = shadow(relocation, self._rules.resource, like)
        return found

    def _store(self, index: int, place: PlacementStatus, phase: PlacementPhase) -> None:
        new = msgspec.structs.replace(place, phase=phase)
        if new != self._journal.relocations[index].placement:
            self._journal.update(index, placement=new)

    # ---- what time means ----
    def _in_flight(self) -> list[int]:
        """Return the indices of relocations in flight; worked out once per version of the journal."""
        relocations = self._journal.relocations
        if relocations is not self._flying[0]:
            self._flying = (relocations, [i for i, r in enumerate(relocations) if in_flight(r)])
        return self._flying[1]

    def _tick(self, index: int, relocation: Relocation) -> None:
        if relocation.eviction.phase not in REMOVED:
            return
        pod = self._claimed_pod(relocation)
        if self._expired(relocation):
            self._give_up(index, relocation, pod)
        elif pod is not None and self._steers:
            self._steer_again(index, relocation, pod)

    def _steer_again(self, index: int, relocation: Relocation, pod: Pod) -> None:
        """See to a replacement that waits: it may have no node yet, or its node may have filled up since."""
        self._refresh_nodes()
        place = relocation.placement
        if place.phase is PlacementPhase.NOMINATED:
            others = without(self._promised(), (index,))
            if self._receivers.fits(pod, place.selected_node_name, others):
                return
            if self._receiver(index, pod) is None:
                self._nominate(pod, None)
        self._lead(index, place, pod)

    def _refresh_nodes(self) -> None:
        if self._clock.monotonic() - self._nodes_listed >= NODES_SECONDS:
            self.list_nodes()

    def list_nodes(self) -> None:
        """List the nodes anew."""
        self.view.nodes = self._cluster.list_nodes()
        self._nodes_listed = self._clock.monotonic()

    def _give_up(self, index: int, relocation: Relocation, pod: Pod | None) -> None:
        """Clear our nomination, so that no stale hint outlives the run, and say so in the journal."""
        nominated = relocation.placement.phase is PlacementPhase.NOMINATED
        if pod is not None and self._steers and (nominated or pod.nominated_node):
            self._clear(pod)
        self._store(index, relocation.placement, PlacementPhase.TIMED_OUT)

    def _clear(self, pod: Pod) -> None:
        for _ in range(CLEARINGS):
            self._patience.pop(pod.uid, None)
            if self._nominate(pod, None):
                return

    def _expired(self, relocation: Relocation) -> bool:
        """Compare by the monotonic clock from when a deadline is first seen: a wall clock that jumps ends nothing early."""
        expiration = relocation.placement.expiration_time
        if not expiration:
            return False
        if expiration not in self._due:
            left = (parse_timestamp(expiration) - self._clock.now()).total_seconds()
            self._due[expiration] = self._clock.monotonic() + left
        return self._clock.monotonic() >= self._due[expiration]


def evictable(relocation: Relocation) -> bool:
    """Tell whether a relocation's victim is still to be evicted, as far as the journal knows."""
    return relocation.eviction.phase in (EvictionPhase.PENDING, EvictionPhase.IN_PROGRESS)
