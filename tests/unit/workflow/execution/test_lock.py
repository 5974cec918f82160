"""The lock between runs: cooldowns that survive crashes, interrupted runs, and the lock by itself (spec 4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.errors import TryAgain
from repack_gitops.kube.interface import Conflict, Lease
from repack_gitops.workflow.clock import micro_timestamp, timestamp
from repack_gitops.workflow.execution.lock import (
    COOLDOWN,
    LAST_FINISH,
    LAST_RUN,
    ExecutorLock,
    LeaseLost,
    Wait,
)
from tests.unit.workflow.execution.clock import VirtualClock
from tests.unit.workflow.execution.fakes import FakeCluster, Killed, answer, fail, put_lease
from tests.unit.workflow.execution.scenarios import (
    LEASE,
    RUN,
    SYSTEM,
    Bed,
    one_node,
    reason,
    several,
    status_of,
)
from tests.unit.workflow.execution.world import World


def held(made: Bed, holder: str = "other", run: str = "weekly-7", **changes: object) -> Lease:
    """Put a lease of somebody else there, renewed just now."""
    now = micro_timestamp(made.clock.now())
    stored = made.world.leases.get(LEASE)
    version = stored.resource_version if stored else ""
    lease = Lease(
        *LEASE, holder=holder, acquire_time=now, renew_time=now, annotations={LAST_RUN: run}, resource_version=version
    )
    answered = put_lease(made.world, replace(lease, **changes))  # type: ignore[arg-type]
    assert isinstance(answered, Lease)
    return answered


def test_crash_between_the_end_and_the_release_keeps_the_cooldown() -> None:
    made = one_node()
    port = made.process()
    port.script("put_lease", fail(Killed()), start=2)
    with pytest.raises(Killed):
        made.execute(port)
    assert status_of(made.world).phase == "Succeeded"
    made.clock.advance(30)
    made.execute()
    lease = made.world.leases[LEASE]
    assert (lease.holder, lease.annotations[LAST_RUN], lease.annotations[COOLDOWN]) == ("", RUN, "600")
    assert lease.annotations[LAST_FINISH] == status_of(made.world).completion_time


def test_finished_run_leaves_the_lease_of_another_alone() -> None:
    made = one_node()
    made.execute()
    before = held(made)
    made.execute()
    assert made.world.leases[LEASE] == before


# ---- interrupted runs come first ----
def test_resumed_run_does_not_wait_for_a_cooldown() -> None:
    """Its replacements are on their way: every second without a nomination may cost the benefit."""
    made = several()
    port = made.process()
    made.world.behaviour.bind_delay = 5.0
    made.clock.at(8, lambda: setattr(made, "stopping", True))
    with pytest.raises(TryAgain):
        made.execute(port)
    made.stopping = False
    lease = made.world.leases[LEASE]
    stamps = {LAST_RUN: "weekly-7", LAST_FINISH: timestamp(made.clock.now()), COOLDOWN: "600"}
    put_lease(made.world, replace(lease, annotations=stamps))
    before = made.clock.monotonic()
    assert reason(made.execute()) == "ExecutionCompleted"
    assert made.clock.monotonic() - before < 60


def test_others_wait_for_an_interrupted_run() -> None:
    made = several()
    made.clock.at(8, lambda: setattr(made, "stopping", True))
    made.world.behaviour.bind_delay = 5.0
    with pytest.raises(TryAgain):
        made.execute()
    world = made.world
    other = ExecutorLock(FakeCluster(world, "other"), made.clock, SYSTEM, "other")
    wait = other.acquire("weekly-7")
    assert wait is not None
    assert wait.reason == "AnotherRunActive"
    assert RUN in wait.message
    made.clock.advance(3600)
    assert other.acquire("weekly-7") is None


# ---- the lock by itself ----
def lock(world: World, holder: str = "me") -> tuple[ExecutorLock, FakeCluster]:
    port = FakeCluster(world, holder)
    return ExecutorLock(port, world.clock, SYSTEM, holder), port


def test_check_without_a_lease() -> None:
    mine, _ = lock(World(VirtualClock()))
    with pytest.raises(LeaseLost):
        mine.check()


def test_release_and_surrender_without_a_lease_do_nothing() -> None:
    mine, port = lock(World(VirtualClock()))
    mine.release(5)
    mine.surrender()
    assert port.calls == []


def test_transitions_count_holders() -> None:
    world = World(VirtualClock())
    mine, _ = lock(world)
    assert mine.acquire("r") is None
    mine.surrender()
    yours, _ = lock(world, "you")
    assert yours.acquire("r") is None
    assert world.leases[LEASE].transitions == 2


def test_renewed_only_when_due() -> None:
    world = World(VirtualClock())
    mine, port = lock(world)
    mine.acquire("r")
    for _ in range(29):
        world.clock.advance(1)
        mine.check()
    assert len(port.named("put_lease")) == 2


def test_losing_the_race_for_an_expired_lease() -> None:
    world = World(VirtualClock())
    first, _ = lock(world)
    first.acquire("r")
    second, port = lock(world, "second")
    assert isinstance(second.acquire("r"), Wait)
    world.clock.advance(61)
    port.script("put_lease", answer(Conflict("changed")))
    assert second.acquire("r") == Wait("AnotherRunActive", "another executor took the lease first")
