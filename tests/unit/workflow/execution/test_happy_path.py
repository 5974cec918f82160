"""Everything goes as planned: what is written, when, and in which order."""

from __future__ import annotations

import pytest

from repack_gitops.kube.interface import Conflict
from repack_gitops.model.run import EvictionPhase, PlacementPhase, RepackRun
from repack_gitops.workflow.clock import parse_timestamp
from repack_gitops.workflow.execution.lock import COOLDOWN, LAST_FINISH, LAST_RUN
from tests.unit.workflow.execution.invariants import evictions, nominations
from tests.unit.workflow.execution.scenarios import (
    GPU,
    LEASE,
    RUN,
    Bed,
    bed,
    node,
    one_node,
    pod,
    prefer,
    reason,
    relocation,
    several,
    status_of,
    with_grace,
)


@pytest.mark.parametrize("owner", ["Job", "StatefulSet", "ReplicaSet"])
def test_replacement_runs_where_planned(owner: str) -> None:
    made = one_node(owner)
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    entry = relocation(made.world, "a-0")
    assert entry.placement.actual_node_name == entry.planned_node_name == entry.placement.selected_node_name == "n1"
    replacement = made.world.pod(entry.placement.replacement_pod_name)
    assert replacement is not None
    assert replacement.uid == entry.placement.replacement_pod_uid != entry.victim_pod_uid
    assert (replacement.name == "a-0") == (owner != "ReplicaSet")
    assert made.world.on("n0") == []


def test_several_victims_and_nodes() -> None:
    made = several()
    approved = made.approve()
    run = made.execute()
    assert reason(run) == "ExecutionCompleted"
    assert approved.plan.freed_nodes == ["n1", "n2", "n0"]
    assert [made.world.on(n) for n in approved.plan.freed_nodes] == [[], [], []]
    assert [made.world.on(n) for n in ("n8", "n9")] == [[], []]
    for entry in status_of(made.world).relocations:
        assert entry.placement.phase is PlacementPhase.PLACED
        assert entry.placement.actual_node_name == entry.planned_node_name


def test_status_is_complete() -> None:
    made = several()
    made.execute()
    status = status_of(made.world)
    assert status.phase == "Succeeded"
    assert status.plan is not None
    assert status.plan.freed_nodes == ["n1", "n2", "n0"]
    result = status.result
    assert result is not None
    assert (result.frag_after_percent, result.freed_node_count, result.moved_card_count) == (0, 3, 7)
    assert result.freed_nodes == ["n1", "n2", "n0"]
    assert result.metrics_verified
    assert [c.type for c in status.conditions] == ["Progressing", "Complete"]
    assert status.message == status.conditions[-1].message
    assert status.start_time <= status.completion_time
    for entry in status.relocations:
        accepted, deadline = entry.eviction.accepted_time, entry.placement.expiration_time
        assert (parse_timestamp(deadline) - parse_timestamp(accepted)).total_seconds() == 5 + 120
        assert entry.cards


def test_message_tells_the_numbers() -> None:
    made = one_node()
    assert made.execute().status is not None
    message = status_of(made.world).message
    assert message.startswith(f"Repack of {GPU} completed: 1 replacement pod runs, 1 planned node is verified free [n0]")
    assert made.said[0] == "Freeing 1 node by moving 1 pod (2 cards) of 1 PodGroup."
    assert made.said[1] == "node n0: 1 pod"


def test_conditions_pass_through_every_stage() -> None:
    made = one_node()
    made.execute()
    stages = [(s.phase, s.conditions[-1].reason) for s in made.world.journal]
    assert list(dict.fromkeys(stages)) == [
        ("Running", "Planning"),
        ("Running", "Evicting"),
        ("Running", "ReconcilingPlacements"),
        ("Succeeded", "ExecutionCompleted"),
    ]


def test_journal_comes_before_every_deed() -> None:
    """Spec 4.2: plan, relocations (all Pending), per victim InProgress with its receiver, the call, its answer."""
    made = several()
    port = made.process()
    made.execute(port)
    journal = made.world.journal
    with_plan = next(i for i, s in enumerate(journal) if s.plan is not None)
    with_relocations = next(i for i, s in enumerate(journal) if s.relocations)
    assert with_plan < with_relocations
    assert {r.eviction.phase for r in journal[with_relocations].relocations} == {EvictionPhase.PENDING}
    for number, call in enumerate(port.named("evict")):
        durable = journal[call.durable - 1]
        entry = durable.relocations[number]
        assert (entry.victim_pod_name, entry.victim_pod_uid) == (call.args[1], call.args[2])
        assert entry.eviction.phase is EvictionPhase.IN_PROGRESS
        assert entry.placement.selected_node_name == entry.planned_node_name
        assert {r.eviction.phase for r in durable.relocations[number + 1 :]} <= {EvictionPhase.PENDING}
        after = journal[call.durable].relocations[number]
        assert after.eviction.phase is EvictionPhase.ACCEPTED
    assert len(port.named("evict")) == 4


def test_nomination_is_one_patch_and_then_journalled() -> None:
    """Prepared before the eviction: between the replacement's event and the patch nothing else is asked of the server."""
    made = one_node()
    port = made.process()
    made.execute(port)
    names = [c.name for c in port.calls]
    patch = names.index("nominate")
    accepted = names.index("evict") + 1
    assert names[accepted] == "update_run_status"
    assert names[accepted + 1 : patch] == []
    assert names[patch + 1] == "update_run_status"
    call = port.calls[patch]
    assert call.args == ("team", "a-0", relocation(made.world, "a-0").placement.replacement_pod_uid, "n1")
    written = made.world.journal[call.durable].relocations[0].placement
    assert (written.phase, written.replacement_pod_uid) == (PlacementPhase.NOMINATED, call.args[2])


def test_next_node_starts_when_the_previous_is_bound() -> None:
    made = several()
    port = made.process()
    made.execute(port)
    for call in port.named("evict"):
        earlier = [r for r in made.world.journal[call.durable - 1].relocations if r.eviction.phase is EvictionPhase.ACCEPTED]
        victim = relocation(made.world, call.args[1])
        assert all(r.placement.phase is PlacementPhase.PLACED for r in earlier if r.source_node_name != victim.source_node_name)


def test_lease_is_taken_renewed_and_released_with_cooldown() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 50.0
    port = made.process()
    run = made.execute(port)
    puts = [c.args[0] for c in port.named("put_lease")]
    assert puts[0].holder == "pod-1"
    assert len(puts) >= 4
    assert not any(isinstance(c.answer, Conflict) for c in port.named("put_lease"))
    lease = made.world.leases[LEASE]
    assert run.status is not None
    assert (lease.holder, lease.annotations[LAST_RUN], lease.annotations[COOLDOWN]) == ("", RUN, "600")
    assert lease.annotations[LAST_FINISH] == run.status.completion_time
    assert port.calls[-1].name == "put_lease"


def test_the_feed_is_stopped() -> None:
    made = one_node()
    made.execute()
    assert made.feed is not None
    assert made.feed.stopped


def test_a_finished_run_is_left_alone() -> None:
    made = one_node()
    made.execute()
    before = len(made.world.journal)
    port = made.process()
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert len(made.world.journal) == before
    assert not port.named("evict", "dry_run", "nominate", "list_objects", "put_lease")


@pytest.mark.parametrize(("grace", "sent", "seconds"), [(0, 0, 0), (17, 17, 17), (None, None, 5)])
def test_grace_period_is_passed_on_and_counts_in_the_deadline(grace: int | None, sent: int | None, seconds: int) -> None:
    made = one_node()
    if grace is not None:
        made.spec = with_grace(grace)
    port = made.process()
    made.execute(port)
    assert {c.args[3] for c in port.named("evict", "dry_run")} == {sent}
    entry = relocation(made.world, "a-0")
    told = parse_timestamp(entry.placement.expiration_time) - parse_timestamp(entry.eviction.accepted_time)
    assert told.total_seconds() == seconds + 120


def test_two_replacements_of_one_replicaset_are_told_apart() -> None:
    made = bed(
        [node(n) for n in ("n0", "n1", "n2", "n8")],
        [
            pod("web-x1", "n0", 1, "ReplicaSet", "web"),
            pod("web-x2", "n0", 1, "ReplicaSet", "web"),
            pod("stay1", "n1", 7, None),
            pod("stay2", "n2", 7, None),
        ],
    )
    port = made.process()
    run: RepackRun = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert evictions(port.calls) == ["web-x1", "web-x2"]
    assert {node for _, node in nominations(port.calls)} == {"n1", "n2"}
    assert len({r.placement.replacement_pod_uid for r in status_of(made.world).relocations}) == 2


def test_steering_none_nominates_nothing() -> None:
    made: Bed = one_node(steering="None")
    made.world.behaviour.choose = prefer("n1")
    port = made.process()
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert not port.named("nominate")
