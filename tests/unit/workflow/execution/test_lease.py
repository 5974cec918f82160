"""One executor per cluster: waiting, taking over, losing, giving back (spec 4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.errors import ClusterUnavailable, TryAgain
from repack_gitops.kube.interface import Lease
from repack_gitops.workflow.clock import micro_timestamp, timestamp
from repack_gitops.workflow.execution.lock import (
    COOLDOWN,
    LAST_FINISH,
    LAST_RUN,
    LeaseLost,
)
from tests.unit.workflow.execution.fakes import fail, lost, meanwhile, put_lease
from tests.unit.workflow.execution.invariants import evictions
from tests.unit.workflow.execution.scenarios import (
    LEASE,
    RUN,
    Bed,
    one_node,
    reason,
    several,
    status_of,
)


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


def keep_renewing(made: Bed, until: float) -> None:
    """Let the other executor live until then."""
    lease = made.world.leases[LEASE]
    if lease.holder == "other":
        put_lease(made.world, replace(lease, renew_time=micro_timestamp(made.clock.now())))
    if made.clock.monotonic() < until:
        made.clock.at(10, lambda: keep_renewing(made, until))
    elif lease.holder == "other":
        put_lease(made.world, replace(made.world.leases[LEASE], holder=""))


# ---- waiting ----
def test_waits_while_another_run_is_active() -> None:
    made = one_node()
    held(made)
    keep_renewing(made, 100)
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    assert made.clock.monotonic() > 100
    first = made.world.journal[0]
    assert (first.phase, first.conditions[-1].reason) == ("Pending", "AnotherRunActive")
    assert "other" in first.message
    assert "weekly-7" in first.message
    assert first.start_time == ""


def test_waiting_writes_only_what_is_new() -> None:
    made = one_node()
    held(made)
    keep_renewing(made, 100)
    made.execute()
    assert sum(s.phase == "Pending" for s in made.world.journal) == 1


def test_waiting_is_bounded() -> None:
    made = one_node()
    held(made)
    keep_renewing(made, 10_000)
    with pytest.raises(TryAgain, match="AnotherRunActive"):
        made.execute()
    assert 300 <= made.clock.monotonic() < 310
    assert status_of(made.world).phase == "Pending"


def test_waiting_ends_when_asked_to_stop() -> None:
    made = one_node()
    held(made)
    keep_renewing(made, 10_000)
    made.stopping = True
    with pytest.raises(TryAgain):
        made.execute()
    assert made.clock.monotonic() < 10


def test_dead_holder_is_taken_over_after_its_time() -> None:
    made = one_node()
    held(made, run=RUN)
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    assert made.world.leases[LEASE].transitions == 1
    assert next(c.at for c in made.world.calls if c.name == "put_lease") > 60


def test_times_on_the_lease_are_not_believed() -> None:
    """A lease that looks ancient by our clock may be renewed by a holder whose clock is wrong."""
    made = one_node()
    lease = held(made, run=RUN)
    put_lease(made.world, replace(lease, renew_time="2001-01-01T00:00:00.000000Z"))
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    assert next(c.at for c in made.world.calls if c.name == "put_lease") > 60


def test_cooldown_is_kept() -> None:
    made = one_node()
    now = timestamp(made.clock.now())
    held(made, holder="", annotations={LAST_RUN: "weekly-7", LAST_FINISH: now, COOLDOWN: "120"})
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    first = made.world.journal[0]
    assert first.conditions[-1].reason == "ExecuteCooldownActive"
    assert "weekly-7" in first.message
    assert next(c.at for c in made.world.calls if c.name == "put_lease") >= 120


@pytest.mark.parametrize(
    "stamps", [{LAST_FINISH: "soon", COOLDOWN: "600"}, {LAST_FINISH: "2026-11-02T09:00:00Z", COOLDOWN: "x"}]
)
def test_unreadable_cooldown_stops_nobody(stamps: dict[str, str]) -> None:
    made = one_node()
    held(made, holder="", annotations={LAST_RUN: "weekly-7", **stamps})
    assert reason(made.execute()) == "ExecutionCompleted"


def test_two_take_a_free_lease_at_once() -> None:
    made = one_node()
    port = made.process()
    port.script("put_lease", meanwhile(lambda: held(made)))
    keep = made.clock
    keep.at(1, lambda: keep_renewing(made, 30))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert "took the lease first" in made.world.journal[0].message


def test_journal_is_read_again_once_the_lease_is_ours() -> None:
    """While this process waited, the one before it did the work."""
    made = one_node()
    late = made.process()
    first = made.process()
    held(made)
    done: list[str] = []

    def meantime() -> None:
        put_lease(made.world, replace(made.world.leases[LEASE], holder=""))
        done.append(reason(made.execute(first)))
        lease = made.world.leases[LEASE]
        put_lease(made.world, replace(lease, annotations={}))

    late.script("get_lease", None, meanwhile(meantime))
    run = made.execute(late)
    assert done == ["ExecutionCompleted"]
    assert reason(run) == "ExecutionCompleted"
    assert evictions(late.calls) == []


def test_who_waits_for_its_own_run_does_not_disturb_it() -> None:
    """A second process of the same run (its Job restarted too early): the first one plans and must not lose its journal."""
    made = one_node()
    first, second = made.process(), made.process()
    waited: list[str] = []

    def wait_beside() -> None:
        made.stopping = True
        with pytest.raises(TryAgain):
            made.execute(second)
        made.stopping = False
        waited.append(status_of(made.world).phase)

    first.script("list_objects", meanwhile(wait_beside))
    assert reason(made.execute(first)) == "ExecutionCompleted"
    assert waited == ["Running"]


# ---- losing it ----
def steal(made: Bed) -> None:
    lease = made.world.leases[LEASE]
    put_lease(made.world, replace(lease, holder="thief", renew_time=micro_timestamp(made.clock.now())))


def test_lease_lost_stops_all_mutations_at_once() -> None:
    made = several()
    made.world.behaviour.bind_delay = 30.0
    port = made.process()
    made.clock.at(20, lambda: steal(made))
    with pytest.raises(LeaseLost, match="thief"):
        made.execute(port)
    assert made.world.leases[LEASE].holder == "thief"
    after = [c for c in port.calls if c.at > 36 and c.name not in ("get_lease", "put_lease")]
    assert after == []


def test_lease_stolen_before_an_eviction() -> None:
    """The invariant of `check` is the assertion: no eviction while somebody else holds the lease."""
    made = several()
    port = made.process()

    def sleep_and_lose() -> None:
        made.clock.advance(16)
        steal(made)

    port.script("dry_run", None, meanwhile(sleep_and_lose))
    with pytest.raises(LeaseLost):
        made.execute(port)
    assert len(port.named("evict")) == 1


def test_annotated_lease_is_still_ours() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 50.0

    def annotate() -> None:
        lease = made.world.leases[LEASE]
        put_lease(made.world, replace(lease, annotations={**lease.annotations, "note": "hands off"}))

    made.clock.at(20, annotate)
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    lease = made.world.leases[LEASE]
    assert (lease.annotations["note"], lease.holder) == ("hands off", "")
    assert LAST_FINISH in lease.annotations


def test_short_outage_of_the_lease_is_survived() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 50.0
    port = made.process()
    port.script("put_lease", None, fail(ClusterUnavailable("no route")), lost(ClusterUnavailable("timed out")))
    assert reason(made.execute(port)) == "ExecutionCompleted"


def test_long_outage_of_the_lease_is_not() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 500.0
    port = made.process()
    port.script("put_lease", None, *[fail(ClusterUnavailable("no route"))] * 100)
    with pytest.raises(LeaseLost, match="could not be renewed"):
        made.execute(port)
    assert made.clock.monotonic() < 60


def test_process_that_slept_goes_on_if_nobody_took_the_lease() -> None:
    made = one_node()
    port = made.process()
    port.script("dry_run", meanwhile(lambda: made.clock.advance(300)))
    assert reason(made.execute(port)) == "ExecutionCompleted"


def test_lease_given_back_at_last_although_somebody_annotated_it() -> None:
    made = one_node()
    port = made.process()
    real_release = 2

    def annotate() -> None:
        lease = made.world.leases[LEASE]
        put_lease(made.world, replace(lease, annotations={**lease.annotations, "note": "x"}))

    port.script("put_lease", meanwhile(annotate), start=real_release)
    made.execute(port)
    lease = made.world.leases[LEASE]
    assert (lease.holder, lease.annotations[COOLDOWN]) == ("", "600")
