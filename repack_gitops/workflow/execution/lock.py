"""One executor per cluster: a Lease that fences, and the cooldown stamped on it (spec 4).

A holder that could not renew for the lease's whole duration stops by itself; one whose lease was taken learns it from
the compare-and-swap. Both raise ``LeaseLost``, and nothing is mutated after that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from repack_gitops.errors import TryAgain
from repack_gitops.kube.interface import Cluster, Conflict, Lease
from repack_gitops.workflow.clock import Clock, micro_timestamp, parse_timestamp, timestamp

LEASE_NAME = "repack-executor"
DURATION_SECONDS = 60
RENEW_SECONDS = 15
#: Mutations stop this long before the lease could be taken: a call in flight must still end inside it.
MARGIN_SECONDS = 20

_PREFIX = "gitops.repack.volcano.sh/"
LAST_FINISH, LAST_RUN, COOLDOWN = _PREFIX + "last-finish-time", _PREFIX + "last-run", _PREFIX + "cooldown-seconds"


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

    def acquire(self, run: str) -> Wait | None:
        """Take the lease for ``run``; return why not, or None when it is ours.

        A lease of somebody else is taken over only after we watched it unrenewed for its whole duration ourselves, so
        that clocks that disagree cannot break it.
        """
        current = self._cluster.get_lease(self._namespace, LEASE_NAME)
        if current is not None and current.holder not in ("", self._holder) and not self._expired(current):
            return Wait(
                "AnotherRunActive", f"executor {current.holder} is active with run {current.annotations.get(LAST_RUN, '?')}"
            )
        if current is not None and current.holder != self._holder:
            wait = self._cooldown(current)
            if wait is not None:
                return wait
        answer = self._cluster.put_lease(self._claim(current, run))
        if isinstance(answer, Conflict):
            return Wait("AnotherRunActive", "another executor took the lease first")
        self._lease, self._renewed = answer, self._clock.monotonic()
        return None

    def check(self) -> None:
        """Raise LeaseLost unless a mutation is safe now; renews when due."""
        age = self._clock.monotonic() - self._renewed
        if self._lease is None or age > DURATION_SECONDS - MARGIN_SECONDS:
            raise LeaseLost("the executor's lease could not be renewed in time", hint="The Job restarts and goes on.")
        if age >= RENEW_SECONDS:
            self._renew(self._lease)

    def release(self, cooldown_seconds: int) -> None:
        """Give the lease back, with the cooldown stamped on it; a lost one is left alone."""
        if self._lease is None:
            return
        stamps = {LAST_FINISH: timestamp(self._clock.now()), COOLDOWN: str(cooldown_seconds)}
        released = replace(self._lease, holder="", annotations={**self._lease.annotations, **stamps})
        self._cluster.put_lease(released)
        self._lease = None

    def surrender(self) -> None:
        """Give the lease back without a cooldown: nothing was executed."""
        if self._lease is not None:
            self._cluster.put_lease(replace(self._lease, holder=""))
            self._lease = None

    def _renew(self, lease: Lease) -> None:
        started = self._clock.monotonic()
        answer = self._cluster.put_lease(replace(lease, renew_time=micro_timestamp(self._clock.now())))
        if isinstance(answer, Conflict):
            self._lease = None
            raise LeaseLost(
                f"the executor's lease was taken: {answer.message}", hint="The other executor goes on with the run."
            )
        self._lease, self._renewed = answer, started

    def _claim(self, current: Lease | None, run: str) -> Lease:
        now = micro_timestamp(self._clock.now())
        base = current or Lease(self._namespace, LEASE_NAME)
        return replace(
            base,
            holder=self._holder,
            duration_seconds=DURATION_SECONDS,
            acquire_time=now,
            renew_time=now,
            transitions=base.transitions + (base.holder != self._holder),
            annotations={**base.annotations, LAST_RUN: run},
        )

    def _expired(self, lease: Lease) -> bool:
        moment = self._clock.monotonic()
        if self._seen[0] != lease.renew_time:
            self._seen = (lease.renew_time, moment)
        return moment - self._seen[1] > lease.duration_seconds

    def _cooldown(self, lease: Lease) -> Wait | None:
        finished = lease.annotations.get(LAST_FINISH)
        if not finished:
            return None
        until = parse_timestamp(finished) + timedelta(seconds=int(lease.annotations.get(COOLDOWN, "0")))
        if self._clock.now() >= until:
            return None
        return Wait(
            "ExecuteCooldownActive", f"cooling down after run {lease.annotations.get(LAST_RUN, '?')} until {timestamp(until)}"
        )
