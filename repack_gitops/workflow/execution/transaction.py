"""One node to be freed, the unit of execution (spec 4.3): dry-run all, evict one by one, follow, or skip at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from repack_gitops.model.cluster import Pod, PodDisruptionBudget
from repack_gitops.model.run import EvictionPhase, EvictionStatus, PlacementStatus, Relocation
from repack_gitops.policy.ending import REMOVED
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.execution.follower import Follower, evictable
from repack_gitops.workflow.execution.session import Session

FIRST_BACKOFF, LONGEST_BACKOFF = 2.0, 60.0


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """What became of one node: victims that left, refusals, and whether it was left half drained."""

    node: str
    removed: int
    rejected: int

    @property
    def half_drained(self) -> bool:
        """Some victims left, others would not: the node is disturbed and not free."""
        return self.removed > 0 and self.rejected > 0


class NodeTransaction:
    """Frees one node, whose relocations are ``indices`` of the journal; may be resumed from any journal state."""

    def __init__(self, session: Session, follower: Follower) -> None:
        self._cluster, self._clock, self._lock = session.cluster, session.clock, session.lock
        self._journal, self._settings, self._follower = session.journal, session.settings, follower

    def run(self, node: str, indices: Sequence[int]) -> NodeOutcome:
        """Evict the node's victims and follow their replacements until all are settled."""
        if all(self._at(i).eviction.phase is EvictionPhase.PENDING for i in indices):
            obstacle = self._obstacle(indices)
            if obstacle is not None:
                self._reject_all(indices, f"node {node} skipped, nothing evicted: {obstacle}")
                return NodeOutcome(node, 0, len(indices))
        for index in indices:
            if evictable(self._at(index)) and not self._evict(index):
                self._reject_all(indices, f"not attempted: node {node} can no longer be freed")
        while not all(self._follower.settled(i) for i in indices):
            self._follower.pump()
        phases = [self._at(i).eviction.phase for i in indices]
        return NodeOutcome(node, sum(p in REMOVED for p in phases), phases.count(EvictionPhase.REJECTED))

    # ---- before anything is touched ----
    def _obstacle(self, indices: Sequence[int]) -> str | None:
        """Return why not all victims can go now, or None: each one by dry run, together by every PDB's budget."""
        victims = [v for i in indices if (v := self._victim(self._at(i))) is not None]
        for victim in victims:
            answer = self._cluster.evict(
                victim.namespace,
                victim.name,
                victim.uid,
                grace_period_seconds=self._settings.grace_period_seconds,
                dry_run=True,
            )
            if not isinstance(answer, Evicted | PodGone):
                return f"{victim.namespace}/{victim.name}: {answer.message}"
        return _beyond_budgets(victims, self._cluster.list_budgets())

    # ---- one victim ----
    def _evict(self, index: int) -> bool:
        """Evict one victim within the timeout; returns whether it left (or had left already)."""
        victim = self._victim(self._at(index))
        if victim is None:
            return self._left_already(index)
        placement = self._follower.prepare(index, victim)
        self._journal.update(index, eviction=EvictionStatus(phase=EvictionPhase.IN_PROGRESS), placement=placement)
        deadline, backoff = self._clock.monotonic() + self._settings.eviction_timeout, FIRST_BACKOFF
        while True:
            self._lock.check()
            answer = self._cluster.evict(
                victim.namespace,
                victim.name,
                victim.uid,
                grace_period_seconds=self._settings.grace_period_seconds,
                dry_run=False,
            )
            wait = self._wait(index, victim, answer, backoff)
            if wait is None:
                self._follower.pump(0)
                return self._at(index).eviction.phase in REMOVED
            if self._clock.monotonic() + wait > deadline:
                self._reject(index, f"gave up after {self._settings.eviction_timeout:.0f} s: {_message(answer)}")
                return False
            self._pause(wait)
            backoff = min(backoff * 2, LONGEST_BACKOFF)

    def _wait(self, index: int, victim: Pod, answer: EvictionAnswer, backoff: float) -> float | None:
        """Journal a final answer and return None; for a passing one return the seconds to wait."""
        match answer:
            case Evicted():
                self._accepted(index, victim)
                return None
            case PodGone():
                self._left_already(index)
                return None
            case PermanentRefusal(message=message):
                self._reject(index, message)
                return None
            case BudgetRefused(retry_after=seconds) | Throttled(retry_after=seconds):
                return float(seconds) or backoff
            case TransientRefusal():
                return backoff
        assert_never(answer)

    def _accepted(self, index: int, victim: Pod) -> None:
        now = timestamp(self._clock.now())
        self._journal.update(
            index,
            eviction=EvictionStatus(phase=EvictionPhase.ACCEPTED, accepted_time=now),
            placement=_expiring(self._at(index), self._follower.deadline(victim)),
        )

    def _left_already(self, index: int) -> bool:
        """Classify a victim that is gone or on its way out without our call having said so.

        After InProgress it was our call whose answer got lost. Before it, a group of which we evicted a member explains
        it; otherwise somebody else ended the pod, and no replacement is owed to us.
        """
        relocation = self._at(index)
        if relocation.eviction.phase is EvictionPhase.IN_PROGRESS:
            phase = EvictionPhase.ACCEPTED
        elif self._sibling_removed(relocation):
            phase = EvictionPhase.INDIRECTLY_REMOVED
        else:
            self._reject(index, "gone before its eviction; nothing to move")
            return True
        now = self._clock.now()
        self._journal.update(
            index,
            eviction=EvictionStatus(phase=phase, accepted_time=timestamp(now)),
            placement=_expiring(relocation, self._follower.deadline(None)),
        )
        return True

    def _sibling_removed(self, relocation: Relocation) -> bool:
        group = (relocation.namespace, relocation.pod_group_name)
        return any((r.namespace, r.pod_group_name) == group and r.eviction.phase in REMOVED for r in self._journal.relocations)

    def _victim(self, relocation: Relocation) -> Pod | None:
        """Return the victim if it still runs as planned; a terminal or terminating pod needs no eviction."""
        pod = self._cluster.get_pod(relocation.namespace, relocation.victim_pod_name)
        if pod is None or pod.uid != relocation.victim_pod_uid or pod.terminating or not pod.active:
            return None
        return pod

    def _pause(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while (left := until - self._clock.monotonic()) > 0:
            self._follower.pump(min(left, 1.0))

    def _reject_all(self, indices: Sequence[int], message: str) -> None:
        for index in indices:
            if self._at(index).eviction.phase is EvictionPhase.PENDING:
                self._reject(index, message)

    def _reject(self, index: int, message: str) -> None:
        self._journal.update(index, eviction=EvictionStatus(phase=EvictionPhase.REJECTED, message=message[:1000]))

    def _at(self, index: int) -> Relocation:
        return self._journal.relocations[index]


def _beyond_budgets(victims: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> str | None:
    """Return the first PDB that does not allow all its ``victims`` together: dry runs do not add up, we must."""
    for budget in budgets:
        counted = [v for v in victims if budget.selects(v) and (v.ready or budget.unhealthy_policy != "AlwaysAllow")]
        if len(counted) > budget.disruptions_allowed:
            return (
                f"PodDisruptionBudget {budget.namespace}/{budget.name} allows {budget.disruptions_allowed} disruptions, "
                f"{len(counted)} are needed"
            )
    return None


def _expiring(relocation: Relocation, expiration: str) -> PlacementStatus:
    return msgspec.structs.replace(relocation.placement, expiration_time=expiration)


def _message(answer: EvictionAnswer) -> str:
    return getattr(answer, "message", "")
