"""One executor per cluster: a Lease that fences, and what it says between runs: the cooldown, an interrupted run (spec 4).

Renewing is a compare-and-swap, so a renewal that succeeds proves that nobody held the lease in between, however late it
comes. Where it cannot succeed in time, or somebody else holds the lease, ``LeaseLost`` is raised before anything is mutated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from repack_gitops.errors import ClusterUnavailable, TryAgain
from repack_gitops.kube.interface import Cluster, Conflict, Lease
from repack_gitops.workflow.clock import Clock, micro_timestamp, parse_timestamp, timestamp

LEASE_NAME = "repack-executor"
DURATION_SECONDS = 60
RENEW_SECONDS = 15
#: Mutations stop this long before the lease could be taken: a call in flight must still end inside it.
MARGIN_SECONDS = 20
#: How long an interrupted run keeps others waiting: its pods are on their way, and its Job restarts within minutes.
RESUME_SECONDS = 900

_PREFIX = "gitops.repack.volcano.sh/"
LAST_FINISH, LAST_RUN, COOLDOWN = _PREFIX + "last-finish-time", _PREFIX + "last-run", _PREFIX + "cooldown-seconds"
INTERRUPTED = _PREFIX + "interrupted-time"


class LeaseLost(TryAgain):
    """Another executor holds the lease, or it could not be renewed in time; all mutations have stopped."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Why an executor must wait: a Pending reason of the RepackRun and its message."""

    reason: str
    message: str


class ExecutorLock:
    """The Lease of one executor."""

    def __init__(self, cluster: Cluster, clock: Clock, namespace: str, holder: str) -> None:
        self._cluster, self._clock, self._namespace, self._holder = cluster, clock, namespace, holder
        self._lease: Lease | None = None
        self._renewed = 0.0
        self._seen: tuple[str, float] = ("", 0.0)

    def acquire(self, run: str, *, resuming: bool = False) -> Wait | None:
        """Take the lease for ``run``; return why not, or None when it is ours.

        Parameters
        ----------
        resuming
            The run has evicted already: its replacements cannot wait for somebody else's cooldown.
        """
        current = self._cluster.get_lease(self._namespace, LEASE_NAME)
        wait = None if current is None else self._why_wait(current, run, resuming)
        if wait is not None:
            return wait
        started = self._clock.monotonic()
        answer = self._cluster.put_lease(self._claim(current, run))
        if isinstance(answer, Conflict):
            return Wait("AnotherRunActive", "another executor took the lease first")
        self._lease, self._renewed = answer, started
        return None

    def check(self) -> None:
        """Raise LeaseLost unless a mutation is safe now; renews when due."""
        if self._lease is None:
            raise LeaseLost("the executor holds no lease", hint="The Job restarts and goes on.")
        if self._clock.monotonic() - self._renewed >= RENEW_SECONDS:
            self._renew()

    def release(self, cooldown_seconds: int, finished: str = "") -> None:
        """Give the lease back, with the cooldown stamped on it from ``finished`` (RFC 3339, else now) on."""
        stamps = {LAST_FINISH: finished or timestamp(self._clock.now()), COOLDOWN: str(cooldown_seconds)}
        self._give_back(stamps)

    def surrender(self, *, interrupted: bool = False) -> None:
        """Give the lease back without a cooldown; an ``interrupted`` run is left some time to come back for it."""
        self._give_back({INTERRUPTED: timestamp(self._clock.now())} if interrupted else {})

    def settle(self, run: str, cooldown_seconds: int | None, finished: str) -> None:
        """Give back the lease of an executor that died between the end of ``run`` and its release.

        Parameters
        ----------
        cooldown_seconds
            None where the run evicted nothing.
        """
        current = self._cluster.get_lease(self._namespace, LEASE_NAME)
        if current is None or current.annotations.get(LAST_RUN) != run or not current.holder:
            return
        stamps = {} if cooldown_seconds is None else {LAST_FINISH: finished, COOLDOWN: str(cooldown_seconds)}
        self._cluster.put_lease(_returned(current, stamps))

    # ---- waiting ----
    def _why_wait(self, current: Lease, run: str, resuming: bool) -> Wait | None:
        if current.holder == self._holder:
            return None
        other = current.annotations.get(LAST_RUN, "?")
        unseen = self._unrenewed(current)
        if current.holder and unseen <= current.duration_seconds:
            return Wait("AnotherRunActive", f"executor {current.holder} is active with run {other}")
        if other != run and (until := self._reserved(current, unseen)) is not None:
            return Wait("AnotherRunActive", f"run {other} was interrupted; it may go on until {timestamp(until)}")
        return None if resuming else self._cooldown(current, other)

    def _unrenewed(self, lease: Lease) -> float:
        """Return for how long we watched the lease unrenewed ourselves, so that clocks that disagree cannot break it."""
        moment = self._clock.monotonic()
        if self._seen[0] != lease.renew_time:
            self._seen = (lease.renew_time, moment)
        return moment - self._seen[1]

    def _reserved(self, lease: Lease, unseen: float) -> datetime | None:
        """Return until when the lease is kept for the run that its dead or stopped holder executed, or None."""
        if lease.holder:
            left = timedelta(seconds=RESUME_SECONDS - unseen)
            return self._clock.now() + left if left > timedelta() else None
        return self._later(lease.annotations.get(INTERRUPTED), RESUME_SECONDS)

    def _cooldown(self, lease: Lease, other: str) -> Wait | None:
        seconds = lease.annotations.get(COOLDOWN, "0")
        until = self._later(lease.annotations.get(LAST_FINISH), int(seconds) if seconds.isdecimal() else 0)
        if until is None:
            return None
        return Wait("ExecuteCooldownActive", f"cooling down after run {other} until {timestamp(until)}")

    def _later(self, text: str | None, seconds: int) -> datetime | None:
        """Return the time ``seconds`` after ``text`` if that is to come; what somebody else wrote may be no time at all."""
        try:
            until = parse_timestamp(text or "") + timedelta(seconds=seconds)
            return until if self._clock.now() < until else None
        except (ValueError, TypeError, OverflowError):
            return None

    # ---- writing ----
    def _claim(self, current: Lease | None, run: str) -> Lease:
        now = micro_timestamp(self._clock.now())
        base = current or Lease(self._namespace, LEASE_NAME)
        kept = {name: value for name, value in base.annotations.items() if name != INTERRUPTED}
        return replace(
            base,
            holder=self._holder,
            duration_seconds=DURATION_SECONDS,
            acquire_time=now,
            renew_time=now,
            transitions=base.transitions + (base.holder != self._holder),
            annotations={**kept, LAST_RUN: run},
        )

    def _renew(self) -> None:
        started = self._clock.monotonic()
        now = micro_timestamp(self._clock.now())
        try:
            answer = self._write(lambda lease: replace(lease, renew_time=now))
        except ClusterUnavailable as error:
            if started - self._renewed <= DURATION_SECONDS - MARGIN_SECONDS:
                return  # the lease still stands; the next check tries again
            self._lease = None
            raise LeaseLost(
                f"the executor's lease could not be renewed in time: {error.message}", hint="The Job restarts and goes on."
            ) from error
        if isinstance(answer, Conflict):
            self._lease = None
            raise LeaseLost(
                f"the executor's lease was taken: {answer.message}", hint="The other executor goes on with the run."
            )
        self._lease, self._renewed = answer, started

    def _give_back(self, stamps: Mapping[str, str]) -> None:
        """Return the lease if it is still ours; a lost one is left alone."""
        if self._lease is not None:
            self._write(lambda lease: _returned(lease, stamps))
            self._lease = None

    def _write(self, change: Callable[[Lease], Lease]) -> Lease | Conflict:
        """Store our lease changed; that somebody set an annotation, or that an answer was lost, does not lose it."""
        if self._lease is None:
            return Conflict("no lease is held")
        answer = self._cluster.put_lease(change(self._lease))
        if not isinstance(answer, Conflict):
            return answer
        current = self._cluster.get_lease(self._namespace, LEASE_NAME)
        if current is None or current.holder != self._holder:
            return Conflict(f"{current.holder or 'nobody'} holds it now" if current else "it was deleted")
        return self._cluster.put_lease(change(current))


def _returned(lease: Lease, stamps: Mapping[str, str]) -> Lease:
    """Return ``lease`` without a holder; a run's own stamps replace those of the run before it."""
    return replace(lease, holder="", annotations={**lease.annotations, **stamps})
