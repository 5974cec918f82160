"""One node to be freed, the unit of execution (spec 4.3): dry-run all, evict one by one, follow, or skip at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import msgspec

from repack_gitops.kube.interface import (
    BudgetRefused,
    Evicted,
    EvictionAnswer,
    PermanentRefusal,
    PodGone,
    Throttled,
    TransientRefusal,
)
from repack_gitops.model.cluster import Pod
from repack_gitops.model.run import EvictionPhase, EvictionStatus, PlacementStatus, Relocation
from repack_gitops.policy.ending import LEFT, NOT_ATTEMPTED, REMOVED
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.execution.follower import Follower, evictable
from repack_gitops.workflow.execution.obstacles import Obstacles
from repack_gitops.workflow.execution.session import Session

FIRST_BACKOFF, LONGEST_BACKOFF = 2.0, 60.0


class NodeTransaction:
    """Frees one node, whose relocations are ``indices`` of the journal; may be resumed from any journal state."""

    def __init__(self, session: Session, follower: Follower) -> None:
        self._cluster, self._clock, self._lock = session.cluster, session.clock, session.lock
        self._journal, self._settings, self._follower = session.journal, session.settings, follower
        self._obstacles = Obstacles(session, follower)

    def run(self, node: str, indices: Sequence[int], closed: str = "") -> None:
        """Evict the node's victims and follow their replacements until all are settled.

        Parameters
        ----------
        closed
            Why nothing may be evicted any more, or empty; what was begun is still followed to its end.
        """
        if closed:
            self._close(indices, closed)
        elif not self._untouched(indices) or self._possible(node, indices):
            self._evict_all(node, indices)
        while not all(self._follower.settled(i) for i in indices):
            self._follower.pump()

    def _evict_all(self, node: str, indices: Sequence[int]) -> None:
        for index in indices:
            if evictable(self._at(index)) and not self._evict(index):
                self._reject_all(indices, f"{NOT_ATTEMPTED}: node {node} can no longer be freed")

    def _close(self, indices: Sequence[int], why: str) -> None:
        """Reject what was not evicted yet; an eviction whose answer was never recorded may have happened."""
        for index in filter(lambda i: evictable(self._at(i)), indices):
            if self._at(index).eviction.phase is EvictionPhase.IN_PROGRESS and self._victim(index) is None:
                self._left_already(index)
            else:
                self._reject(index, f"{NOT_ATTEMPTED}: {why}")

    # ---- before anything is touched ----
    def _untouched(self, indices: Sequence[int]) -> bool:
        return all(self._at(i).eviction.phase is EvictionPhase.PENDING for i in indices)

    def _possible(self, node: str, indices: Sequence[int]) -> bool:
        """Tell whether all victims can go, waiting for what passes; if not, the node is skipped at no cost."""
        deadline, backoff = self._deadline(), FIRST_BACKOFF
        while (obstacle := self._obstacles.of(self._present(indices))) is not None:
            left = deadline - self._clock.monotonic()
            if not obstacle.passing or left <= 0 or obstacle.wait > left:
                self._obstacles.waited_in_vain(obstacle)
                self._reject_all(indices, f"{NOT_ATTEMPTED}: node {node} was skipped, nothing evicted: {obstacle.why}")
                return False
            self._pause(obstacle.wait or min(backoff, left))
            backoff = min(backoff * 2, LONGEST_BACKOFF)
        return True

    def _present(self, indices: Sequence[int]) -> list[tuple[int, Pod]]:
        return [(i, victim) for i in indices if (victim := self._victim(i)) is not None]

    # ---- one victim ----
    def _evict(self, index: int) -> bool:
        """Evict one victim within the timeout; returns whether it left (or had left already)."""
        self._follower.pump(0)
        victim = self._victim(index)
        if victim is None:
            return self._left_already(index)
        placement = self._follower.prepare(index, victim)
        if placement is None:
            self._reject(index, self._follower.why_no_room([(index, victim)]) or "no node can take it now")
            return False
        self._journal.update(index, eviction=EvictionStatus(phase=EvictionPhase.IN_PROGRESS), placement=placement)
        return self._ask(index, victim)

    def _ask(self, index: int, victim: Pod | None) -> bool:
        """Ask until a final answer comes; before each time, look whether the victim left or was protected meanwhile."""
        deadline, backoff = self._deadline(), FIRST_BACKOFF
        while victim is not None:
            if victim.do_not_disrupt:
                self._reject(index, f"it has the annotation {victim.do_not_disrupt} by now")
                return False
            self._lock.check()
            answer = self._cluster.evict(
                victim.namespace,
                victim.name,
                victim.uid,
                grace_period_seconds=self._settings.grace_period_seconds,
                dry_run=False,
            )
            asked = self._final_or_wait(index, victim, answer)
            if asked is None:
                return self._at(index).eviction.phase in REMOVED
            left = deadline - self._clock.monotonic()
            if left <= 0 or asked > left:
                return self._give_up(index, self._gave_up(asked, left, answer))
            self._pause(asked or min(backoff, left))
            backoff = min(backoff * 2, LONGEST_BACKOFF)
            victim = self._victim(index)
        return self._left_already(index)

    def _final_or_wait(self, index: int, victim: Pod, answer: EvictionAnswer) -> float | None:
        """Journal a final answer and return None; for a passing one return the seconds the server asks to wait, or 0."""
        match answer:
            case Evicted():
                self._removed(index, EvictionPhase.ACCEPTED, victim)
                return None
            case PodGone():
                self._left_already(index)
                return None
            case PermanentRefusal(message=message):
                self._reject(index, message)
                return None
            case BudgetRefused(retry_after=seconds) | Throttled(retry_after=seconds):
                return float(seconds)
            case TransientRefusal():
                return 0.0
        assert_never(answer)

    def _give_up(self, index: int, why: str) -> bool:
        """Reject, unless the last attempt was accepted after all and only its answer was lost."""
        if self._victim(index) is None:
            return self._left_already(index)
        self._reject(index, why)
        return False

    def _gave_up(self, asked: float, left: float, answer: EvictionAnswer) -> str:
        limit = f"evictionTimeout ({self._settings.eviction_timeout:.0f} s)"
        message = getattr(answer, "message", "")
        if left > 0:
            return f"not accepted: the server asks to wait {asked:.0f} s, more than {limit} leaves: {message}"
        return f"not accepted within {limit}: {message}"

    def _left_already(self, index: int) -> bool:
        """Classify a victim that is gone or on its way out without our call having said so.

        A pod that finished needs no replacement. After InProgress it was our call whose answer got lost. Before it, a
        group of which we evicted a member explains it; otherwise somebody else ended the pod, and none is owed to us.
        """
        relocation = self._at(index)
        leaving = self._leaving(relocation)
        if leaving is not None and not leaving.terminating:
            self._reject(index, LEFT)
        elif relocation.eviction.phase is EvictionPhase.IN_PROGRESS:
            self._removed(index, EvictionPhase.ACCEPTED, leaving)
        elif self._sibling_removed(relocation):
            self._removed(index, EvictionPhase.INDIRECTLY_REMOVED, leaving)
        else:
            self._reject(index, LEFT, _expiring(relocation, self._follower.deadline(leaving)))
        return True

    def _removed(self, index: int, phase: EvictionPhase, victim: Pod | None) -> None:
        eviction = EvictionStatus(phase=phase, accepted_time=timestamp(self._clock.now()))
        self._journal.update(index, eviction=eviction, placement=_expiring(self._at(index), self._follower.deadline(victim)))
        self._follower.search(index)

    def _sibling_removed(self, relocation: Relocation) -> bool:
        group = (relocation.namespace, relocation.pod_group_name)
        return any((r.namespace, r.pod_group_name) == group and r.eviction.phase in REMOVED for r in self._journal.relocations)

    # ---- small parts ----
    def _victim(self, index: int) -> Pod | None:
        """Return the victim if it still runs as planned; a terminal or terminating pod needs no eviction."""
        pod = self._leaving(self._at(index))
        return None if pod is None or pod.terminating or not pod.active else pod

    def _leaving(self, relocation: Relocation) -> Pod | None:
        """Return the victim as long as its object is there."""
        pod = self._cluster.get_pod(relocation.namespace, relocation.victim_pod_name)
        return None if pod is None or pod.uid != relocation.victim_pod_uid else pod

    def _deadline(self) -> float:
        return self._clock.monotonic() + self._settings.eviction_timeout

    def _pause(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while (left := until - self._clock.monotonic()) > 0:
            self._follower.pump(min(left, 1.0))

    def _reject_all(self, indices: Sequence[int], message: str) -> None:
        for index in indices:
            if self._at(index).eviction.phase is EvictionPhase.PENDING:
                self._reject(index, message)

    def _reject(self, index: int, message: str, placement: PlacementStatus | None = None) -> None:
        rejected = EvictionStatus(phase=EvictionPhase.REJECTED, message=message[:1000])
        self._journal.update(index, eviction=rejected, placement=placement)

    def _at(self, index: int) -> Relocation:
        return self._journal.relocations[index]


def _expiring(relocation: Relocation, expiration: str) -> PlacementStatus:
    return msgspec.structs.replace(relocation.placement, expiration_time=expiration)
