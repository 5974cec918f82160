"""What must hold of every execution, whatever happened to it: read from the record of calls and the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from repack_gitops.kube.interface import Evicted, Nominated
from repack_gitops.model.run import EvictionPhase, PlacementPhase, PlanStatus, Relocation, RunStatus
from tests.unit.workflow.execution.fakes import Call
from tests.unit.workflow.execution.world import World

E, P = EvictionPhase, PlacementPhase
FORWARD: dict[EvictionPhase, frozenset[EvictionPhase]] = {
    E.PENDING: frozenset({E.IN_PROGRESS, E.INDIRECTLY_REMOVED, E.REJECTED}),
    E.IN_PROGRESS: frozenset({E.ACCEPTED, E.INDIRECTLY_REMOVED, E.REJECTED}),
    E.ACCEPTED: frozenset(),
    E.INDIRECTLY_REMOVED: frozenset(),
    E.REJECTED: frozenset(),
}
MUTATING = ("evict", "nominate")


def check(world: World, approved: PlanStatus, *, envelope: str = "Subset") -> None:
    """Assert every invariant; the message is the first one that is broken."""
    problems = [*_calls(world), *_evictions(world, approved, envelope), *_history(world.journal), *_left_behind(world)]
    assert not problems, problems


def _calls(world: World) -> Iterator[str]:
    for call in world.calls:
        if call.name in MUTATING and call.holder != call.process:
            yield f"{call.process} called {call.name} {call.args} while {call.holder or 'nobody'} held the lease"
        if call.name == "nominate" and call.args[3] is not None:
            yield from _nomination(world, call)


def _nomination(world: World, call: Call) -> Iterator[str]:
    status = world.journal[call.durable - 1]
    node = call.args[3]
    assert status.plan is not None
    if node in status.plan.freed_nodes:
        yield f"nominated {call.args} to a node that is being freed"
    if not any(
        r.placement.selected_node_name == node and r.eviction.phase in (E.ACCEPTED, E.INDIRECTLY_REMOVED)
        for r in status.relocations
    ):
        yield f"nominated {call.args} without a durable selection"
    if call.args[2] in {r.victim_pod_uid for r in status.relocations}:
        yield f"nominated a victim: {call.args}"


def _evictions(world: World, approved: PlanStatus, envelope: str) -> Iterator[str]:
    twice = [uid for uid, times in Counter(world.accepted).items() if times > 1]
    if twice:
        yield f"evicted twice: {twice}"
    groups = {(m.namespace, m.pod_group_name) for m in approved.moves}
    for call in (c for c in world.calls if c.name == "evict"):
        namespace, name, uid, _ = call.args
        status = world.journal[call.durable - 1] if call.durable else RunStatus(phase="Pending")
        entry = next((r for r in status.relocations if (r.namespace, r.victim_pod_name) == (namespace, name)), None)
        if entry is None or status.plan is None:
            yield f"evicted without a journal entry: {call.args}"
        elif entry.eviction.phase is not E.IN_PROGRESS or entry.victim_pod_uid != uid:
            yield f"evicted {call.args} while the journal said {entry.eviction.phase} of {entry.victim_pod_uid}"
        elif envelope != "Budget" and (namespace, entry.pod_group_name) not in groups:
            yield f"evicted outside the envelope: {call.args}"
    durable = {r.victim_pod_uid for s in world.journal for r in s.relocations if r.eviction.phase is not E.PENDING}
    yield from (f"{uid} was evicted and never recorded" for uid in world.accepted if uid not in durable)


def _history(journal: list[RunStatus]) -> Iterator[str]:
    for before, after in pairwise(journal):
        if before.phase in ("Succeeded", "Failed"):
            yield f"written after its end ({before.phase}): {after.message}"
        if before.relocations and before.plan != after.plan:
            yield "the plan was rewritten"
        if before.relocations and len(before.relocations) != len(after.relocations):
            yield "relocations came or went"
        for old, new in zip(before.relocations, after.relocations, strict=False):
            yield from _step(old, new)
        claims = Counter(r.placement.replacement_pod_uid for r in after.relocations if r.placement.replacement_pod_uid)
        yield from (f"{uid} is claimed {times} times" for uid, times in claims.items() if times > 1)


def _step(old: Relocation, new: Relocation) -> Iterator[str]:
    identity = ("namespace", "pod_group_name", "victim_pod_name", "victim_pod_uid", "planned_node_name", "source_node_name")
    yield from (f"{name} of {old.victim_pod_name} changed" for name in identity if getattr(old, name) != getattr(new, name))
    if old.eviction.phase is not new.eviction.phase and new.eviction.phase not in FORWARD[old.eviction.phase]:
        yield f"eviction of {old.victim_pod_name}: {old.eviction.phase} -> {new.eviction.phase}"
    if old.placement.phase is P.TIMED_OUT and new.placement.phase is not P.TIMED_OUT:
        yield f"placement of {old.victim_pod_name} left TimedOut"
    removed = new.eviction.phase in (E.ACCEPTED, E.INDIRECTLY_REMOVED)
    if removed and not new.placement.expiration_time:
        yield f"{new.victim_pod_name} was removed and has no deadline"
    if new.placement.phase is not P.WAITING_FOR_REPLACEMENT and not removed:
        yield f"{new.victim_pod_name} has a placement and was not removed"


def _left_behind(world: World) -> Iterator[str]:
    """After the end no pod that waits carries a nomination of ours."""
    if not world.journal or world.journal[-1].phase not in ("Succeeded", "Failed"):
        return
    for call in world.calls:
        pod = world.pod(call.args[1], call.args[0]) if call.name == "nominate" else None
        if pod is not None and pod.uid == call.args[2] and pod.nominated_node and not (pod.node or pod.terminating):
            yield f"{pod.name} still waits with our nomination to {pod.nominated_node}"


def evictions(calls: list[Call]) -> list[str]:
    """Return the names of pods whose eviction was accepted, in order."""
    return [c.args[1] for c in calls if c.name == "evict" and isinstance(c.answer, Evicted)]


def nominations(calls: list[Call]) -> list[tuple[str, str | None]]:
    """Return (pod, node) of the nominations that were taken, in order."""
    return [(c.args[1], c.args[3]) for c in calls if c.name == "nominate" and isinstance(c.answer, Nominated)]
