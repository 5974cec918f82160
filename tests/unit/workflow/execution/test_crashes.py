"""Killed at every call of the happy path, before or after the server acted, and started anew (spec 4.6)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from repack_gitops.errors import RepackError, TryAgain
from repack_gitops.model.cluster import Pod
from repack_gitops.model.policy import Window, Windows
from repack_gitops.model.run import EvictionPhase, PlacementPhase, RepackRun
from repack_gitops.workflow.execution.lock import LAST_FINISH
from tests.unit.workflow.execution.fakes import Killed, fail, lost, then
from tests.unit.workflow.execution.invariants import evictions
from tests.unit.workflow.execution.scenarios import (
    GPU,
    LEASE,
    RUN,
    Bed,
    bed,
    node,
    one_node,
    pod,
    reason,
    relocation,
    several,
    status_of,
)
from tests.unit.workflow.execution.world import World

DONE = ("ExecutionCompleted", "ExecutionCompletedWithAlternativePlacement")
Make = Callable[[], Bed]


def web() -> Bed:
    """ReplicaSets only: nothing about a replacement's name tells whom it replaces."""
    return bed(
        [node(n) for n in ("n0", "n1", "n2", "n8")],
        [
            *(pod(f"web-x{i}", "n0", 1, "ReplicaSet", "web", grace=20) for i in range(2)),
            pod("api-x", "n1", 1, "ReplicaSet", "api", grace=20),
            pod("stay", "n2", 4, None),
        ],
    )


def slow(make: Make) -> Bed:
    """A scheduler that leaves a restarted executor the time to nominate."""
    made = make()
    made.world.behaviour.bind_delay = 90.0
    return made


def packing(make: Make) -> Bed:
    """A scheduler that packs cards by itself, as binpack with a weight on the card resource does."""
    made = make()
    made.world.behaviour.choose = fullest
    return made


def fullest(world: World, _: Pod, fitting: list[str]) -> str | None:
    return max(fitting, key=lambda n: (cards_on(world, n), n), default=None)


def cards_on(world: World, name: str) -> int:
    return sum(p.requests.get(GPU, 0) for p in map(world.pod, world.on(name)) if p is not None and p.node == name)


def calls_of(make: Make) -> int:
    made = make()
    port = made.process()
    made.execute(port)
    return len(port.calls)


def crash_at(make: Make, number: int, *, after: bool) -> Bed:
    """Kill the first process at that call, then start others until one comes to an end."""
    made = make()
    port = made.process()
    port.kill_at(number, after=after)
    with pytest.raises(Killed):
        made.execute(port)
    for _ in range(5):
        made.clock.advance(10)
        try:
            made.execute()
        except RepackError:
            continue
        return made
    raise AssertionError(f"killed at call {number}: no end after five restarts")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("way", [slow, packing])
@pytest.mark.parametrize("make", [one_node, several, web])
def test_killed_at_every_call_and_healed(make: Make, way: Callable[[Make], Bed], after: bool) -> None:
    """`check` runs after every process: nothing evicted twice or unrecorded, no double claim, no nomination left."""
    broken = {}
    for number in range(1, calls_of(lambda: way(make)) + 1):
        made = crash_at(lambda: way(make), number, after=after)
        status, planned = status_of(made.world), made.assignment().approved.plan.freed_nodes
        occupied = [n for n in planned if made.world.on(n)]
        lease = made.world.leases[LEASE]
        tidy = lease.holder == "" and LAST_FINISH in lease.annotations
        if reason(made.world.runs[RUN]) not in DONE or occupied or not tidy:
            broken[number] = (status.message, occupied, tidy)
    assert broken == {}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("make", [one_node, several, web])
def test_killed_at_every_call_and_truthful(make: Make, after: bool) -> None:
    """A scheduler that spreads binds a replacement before the next process can nominate it: lost benefit, told as such."""
    for number in range(1, calls_of(make) + 1):
        made = crash_at(make, number, after=after)
        status, planned = status_of(made.world), made.assignment().approved.plan.freed_nodes
        occupied = [n for n in planned if made.world.on(n)]
        elsewhere = [n for n in ("n8", "n9") if n in made.world.nodes and made.world.on(n)]
        gained = not occupied and not elsewhere
        assert (status.phase == "Succeeded") == gained, (number, status.message, occupied, elsewhere)
        result = status.result
        assert result is not None
        assert sorted(result.freed_nodes) == sorted(set(planned) - set(occupied)), number


@pytest.mark.parametrize("make", [one_node, several, web])
def test_killed_twice(make: Make) -> None:
    """A second death in the middle of the recovery, at every call of it."""
    for number in range(1, calls_of(lambda: packing(make)) + 1, 3):
        made = packing(make)
        first = made.process()
        first.kill_at(number, after=True)
        with pytest.raises(Killed):
            made.execute(first)
        second = made.process()
        second.kill_at(1 + number // 2, after=False)
        try:
            made.execute(second)
        except Killed:
            made.clock.advance(1)
            made.execute()
        assert reason(made.world.runs[RUN]) in DONE, number


@pytest.mark.parametrize("make", [one_node, several, web])
def test_suspended_at_every_call_while_another_takes_over(make: Make) -> None:
    """A process that slept wakes up as a zombie: it finds its lease taken and touches nothing any more.

    Not at an eviction or nomination itself: a request on its way cannot be called back, only its UID protects the pod.
    """
    names = happy_calls(make)
    for number in range(5, len(names) + 1):
        if names[number - 1] in ("evict", "nominate"):
            continue
        made = packing(make)
        zombie, ends = made.process(), list[RepackRun]()
        zombie.sleep_at(number, partial(run_another, made, ends))
        with suppress(TryAgain):
            made.execute(zombie)
        assert reason(ends[0]) in DONE, (number, names[number - 1])
        assert made.world.leases[LEASE].holder == ""


def run_another(made: Bed, ends: list[RepackRun]) -> None:
    ends.append(made.execute())


def happy_calls(make: Make) -> list[str]:
    made = packing(make)
    port = made.process()
    made.execute(port)
    return [c.name for c in port.calls]


def test_killed_and_down_for_long() -> None:
    """The deadline passed meanwhile: the replacement that runs is still found, and what never came is told."""
    made = one_node()
    port = made.process()
    port.script("nominate", fail(Killed()))
    with pytest.raises(Killed):
        made.execute(port)
    made.clock.advance(5_000)
    run = made.execute()
    entry = relocation(made.world, "a-0")
    assert entry.placement.phase is PlacementPhase.PLACED
    assert run.status is not None
    assert run.status.phase in ("Succeeded", "Failed")


def test_killed_after_the_eviction_before_its_record() -> None:
    """InProgress and terminating: it was our call; the pod's own grace counts in the deadline."""
    made = bed([node(n) for n in ("n0", "n1", "n8")], [pod("a-0", "n0", 2, "Job", "a", grace=600), pod("stay", "n1", 4, None)])
    port = made.process()
    port.script("evict", lost(Killed()))
    with pytest.raises(Killed):
        made.execute(port)
    assert status_of(made.world).relocations[0].eviction.phase is EvictionPhase.IN_PROGRESS
    run = made.execute()
    assert made.world.accepted == ["uid-a-0"]
    assert reason(run) == "ExecutionCompleted"


def test_replacement_claimed_before_the_crash_and_made_anew_during_it() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 90.0
    port = made.process()
    port.script("update_run_status", *[None] * 6, lost(Killed()))
    with pytest.raises(Killed):
        made.execute(port)
    assert relocation(made.world, "a-0").placement.replacement_pod_uid
    made.world.kill("a-0")
    made.clock.advance(2)
    assert reason(made.execute()) == "ExecutionCompleted"


def test_restart_far_too_late_starts_no_further_node() -> None:
    """The live plan is days old: what it says of the other nodes is not true any more."""
    made = several(max_plan_age="4h")
    port = made.process()
    port.script("evict", None, fail(Killed()))
    with pytest.raises(Killed):
        made.execute(port)
    made.clock.advance(3 * 86_400)
    second = made.process()
    run = made.execute(second)
    assert evictions(second.calls) == []
    assert reason(run) == "PartiallyRealized"
    assert "the live plan is 72h" in status_of(made.world).message
    assert relocation(made.world, "solo").eviction.phase is EvictionPhase.REJECTED
    assert relocation(made.world, "job-0").eviction.phase is EvictionPhase.PENDING


def test_a_long_run_is_not_too_old_for_itself() -> None:
    """Each node is checked on live state; only an interruption lets a plan grow old."""
    made = several(max_plan_age="65m")
    made.world.behaviour.bind_delay = 110.0
    made.approve(planned_at=made.clock.now() - timedelta(minutes=64))
    assert reason(made.execute()) == "ExecutionCompleted"
    assert made.clock.monotonic() > 120


def test_window_that_closes_stops_before_the_next_node() -> None:
    made = several(windows=Windows(allow=[Window(schedule="55 8 * * *", duration="301s")]))
    made.world.behaviour.bind_delay = 3.0
    port = made.process()
    run = made.execute(port)
    assert len(evictions(port.calls)) == 1
    assert reason(run) == "PartiallyRealized"
    assert "windows.allow" in status_of(made.world).message


def test_sigterm_between_nodes() -> None:
    made = several()
    port = made.process()
    port.script("evict", then(lambda: setattr(made, "stopping", True)))
    with pytest.raises(TryAgain, match="asked to stop"):
        made.execute(port)
    assert evictions(port.calls) == ["db-0"]
    assert made.world.leases[LEASE].holder == ""
    made.stopping = False
    second = made.process()
    assert reason(made.execute(second)) == "ExecutionCompleted"
    assert evictions(second.calls) == ["solo", "job-0", "web-x1"]


def test_scale_out_during_the_crash_is_not_mistaken_for_a_namesake() -> None:
    """Same name is proof for StatefulSets and VCJobs, whatever else was created meanwhile."""
    made = one_node("StatefulSet")
    port = made.process()
    port.script("evict", lost(Killed()))
    with pytest.raises(Killed):
        made.execute(port)
    made.world.add_pod(pod("a-1", None, 1, "StatefulSet", "a"))
    made.clock.advance(30)
    made.execute()
    assert relocation(made.world, "a-0").placement.replacement_pod_name == "a-0"


def test_replacement_that_ran_and_finished_during_the_crash() -> None:
    """A short job: its replacement was bound, ran and succeeded while nobody looked; that is no time-out."""
    made = packing(one_node)
    port = made.process()
    port.script("evict", lost(Killed()))
    with pytest.raises(Killed):
        made.execute(port)
    made.clock.advance(20)
    made.world.finish("a-0")
    assert reason(made.execute()) == "ExecutionCompleted"
    assert relocation(made.world, "a-0").placement.actual_node_name == "n1"
