"""Victims that are not what they were when their turn comes, and what counts as gone."""

from __future__ import annotations

import pytest

from repack_gitops.kube.interface import (
    EvictionAnswer,
    PodGone,
)
from repack_gitops.model.cluster import Key
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import meanwhile
from tests.unit.workflow.execution.invariants import evictions
from tests.unit.workflow.execution.scenarios import (
    Bed,
    bed,
    node,
    one_node,
    pod,
    reason,
    relocation,
    status_of,
    with_grace,
)


# ---- victims that are not what they were ----
def gone(made: Bed) -> None:
    made.world.behaviour.dead_owners.add("a")
    made.world.kill("a-0")
    made.clock.advance(0.01)


@pytest.mark.parametrize("how", ["gone", "finished", "terminating", "other"])
def test_victim_left_before_its_eviction(how: str) -> None:
    made = one_node()
    port = made.process()

    def happen() -> None:
        if how == "gone":
            gone(made)
        elif how == "finished":
            made.world.finish("a-0")
        elif how == "terminating":
            made.world.behaviour.dead_owners.add("a")
            made.world.kill("a-0", grace=20)
        else:
            made.world.kill("a-0")
            made.clock.advance(2)

    port.script("get_pod", meanwhile(happen))
    run = made.execute(port)
    assert evictions(port.calls) == []
    entry = relocation(made.world, "a-0")
    assert entry.eviction.phase is EvictionPhase.REJECTED
    assert "nothing to move" in entry.eviction.message
    assert reason(run) == "EvictionFailed"


def test_victim_replaced_by_its_namesake_between_look_and_call() -> None:
    """The UID is the precondition: the new pod of that name is not evicted."""
    made = one_node("StatefulSet")
    port = made.process()

    def race() -> None:
        made.world.kill("a-0")
        made.clock.advance(1)

    port.script("evict", meanwhile(race))
    run = made.execute(port)
    assert made.world.accepted == []
    call = port.named("evict")[0]
    assert isinstance(call.answer, PodGone)
    assert call.args[2] == "uid-a-0"
    assert run.status is not None
    assert run.status.phase in ("Failed", "Succeeded")


def test_sibling_taken_away_with_an_accepted_one() -> None:
    """A group that goes as a whole: its second member needs no eviction and its replacement is followed."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n8", "n9")],
        [pod("j-0", "n0", 2, "Job", "j"), pod("j-1", "n0", 1, "Job", "j"), pod("stay", "n1", 4, None)],
    )
    port = made.process()
    original = made.world.evict

    def cascade(key: Key, uid: str, grace: int | None, dry_run: bool) -> EvictionAnswer:
        found = original(key, uid, grace, dry_run)
        if not dry_run:
            made.world.kill("j-1", grace=1)
        return found

    made.world.evict = cascade  # type: ignore[method-assign]
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert evictions(port.calls) == ["j-0"]
    sibling = relocation(made.world, "j-1")
    assert sibling.eviction.phase is EvictionPhase.INDIRECTLY_REMOVED
    assert sibling.placement.actual_node_name == "n1"
    result = status_of(made.world).result
    assert result is not None
    assert result.moved_card_count == 2


@pytest.mark.parametrize("owner", ["Job", "ReplicaSet"])
def test_sibling_on_a_later_node_taken_away_long_before_its_turn(owner: str) -> None:
    """Its replacement has been running for a while when its node's turn comes: it is found, not waited for."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n2", "n8", "n9")],
        [
            pod("j-0", "n0", 1, owner, "j"),
            pod("j-1", "n1", 1, owner, "j"),
            pod("k", "n1", 1, "Job", "k"),
            pod("stay", "n2", 4, None),
        ],
    )
    made.world.behaviour.bind_delay = 2.0
    port = made.process()
    port.script("evict", meanwhile(lambda: made.world.kill("j-1")))
    run = made.execute(port)
    sibling = relocation(made.world, "j-1")
    assert sibling.eviction.phase is EvictionPhase.INDIRECTLY_REMOVED
    assert sibling.placement.actual_node_name
    assert reason(run) != "PlacementTimedOut"


def test_accepted_is_not_gone() -> None:
    """A Deployment's replacement runs long before the victim has left; the node is free only then."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n8")],
        [pod("web-x1", "n0", 2, "ReplicaSet", "web", grace=90), pod("stay", "n1", 4, None)],
    )
    assert reason(made.execute()) == "ExecutionCompleted"
    assert made.clock.monotonic() > 90


def test_victim_that_never_leaves_is_waited_for_until_the_deadline() -> None:
    made = bed(
        [node(n) for n in ("n0", "n1", "n8")],
        [pod("web-x1", "n0", 2, "ReplicaSet", "web", grace=100_000), pod("stay", "n1", 4, None)],
    )
    made.spec = with_grace(3)
    original = made.world._terminate
    made.world._terminate = lambda key, grace: original(key, grace + 100_000)  # type: ignore[method-assign]
    run = made.execute()
    assert reason(run) == "BenefitNotRealized"
    assert "n0" in status_of(made.world).message
    assert made.clock.monotonic() < 200
