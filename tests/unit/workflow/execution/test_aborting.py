"""When no further node starts (abortOn), and what is no reason to stop."""

from __future__ import annotations

from typing import Any

import pytest

from repack_gitops.kube.interface import (
    EvictionAnswer,
    PermanentRefusal,
)
from repack_gitops.model.policy import AbortOn
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import FakeCluster, Killed, answer, fail, meanwhile
from tests.unit.workflow.execution.invariants import evictions
from tests.unit.workflow.execution.scenarios import (
    Bed,
    bed,
    node,
    pod,
    reason,
    relocation,
    status_of,
)
from tests.unit.workflow.execution.world import Budget


def two_by_two(**options: Any) -> Bed:
    """Two victims on n0 and two on n1; n2 has room for all four."""
    return bed(
        [node(n) for n in ("n0", "n1", "n2", "n8")],
        [
            *(pod(name, on, 1) for name, on in (("a", "n0"), ("b", "n0"), ("c", "n1"), ("d", "n1"))),
            pod("stay", "n2", 4, None),
        ],
        **options,
    )


def test_victim_that_left_by_itself_stops_nothing() -> None:
    """A finished job is no refusal: its node is not half drained, and the other nodes go on."""
    made = two_by_two(abort_on=AbortOn(half_drained_nodes=1, rejections=1))
    port = made.process()
    port.script("evict", meanwhile(lambda: made.world.finish("b")))
    run = made.execute(port)
    assert evictions(port.calls) == ["a", "c", "d"]
    assert reason(run) == "ExecutionCompleted"
    assert relocation(made.world, "b").eviction.phase is EvictionPhase.REJECTED


# ---- when to stop ----
def refuse(port: FakeCluster, *names: str) -> None:
    """Let the real evictions of these pods be refused for good; dry runs pass."""
    original = port.evict

    def evict(namespace: str, name: str, uid: str, *, grace_period_seconds: int | None, dry_run: bool) -> EvictionAnswer:
        refused = name in names and not dry_run
        port.script("evict", *([answer(PermanentRefusal("no"))] if refused else [None]), start=len(port.named("evict")) + 1)
        return original(namespace, name, uid, grace_period_seconds=grace_period_seconds, dry_run=dry_run)

    port.evict = evict  # type: ignore[method-assign]


def test_half_drained_node_stops_the_run() -> None:
    made = two_by_two()
    port = made.process()
    refuse(port, "b")
    run = made.execute(port)
    assert evictions(port.calls) == ["a"]
    assert reason(run) == "Aborted"
    assert "stopped at node n0: 1 node half drained" in status_of(made.world).message
    assert {relocation(made.world, v).eviction.phase for v in ("c", "d")} == {EvictionPhase.PENDING}
    result = status_of(made.world).result
    assert result is not None
    assert (result.freed_node_count, result.moved_card_count) == (0, 1)


def test_restart_counts_the_troubles_before_it() -> None:
    """What stopped the run stays a reason to stop when another process takes it up."""
    made = two_by_two()
    port = made.process()
    refuse(port, "b")
    port.script("list_objects", fail(Killed()), start=2)
    with pytest.raises(Killed):
        made.execute(port)
    second = made.process()
    assert reason(made.execute(second)) == "Aborted"
    assert evictions(second.calls) == []
    assert "stopped at node n0: 1 node half drained" in status_of(made.world).message


def test_abort_after_a_node_was_freed_keeps_the_benefit() -> None:
    made = two_by_two()
    port = made.process()
    refuse(port, "d")
    assert reason(made.execute(port)) == "PartiallyRealized"
    assert "stopped at node n1" in status_of(made.world).message
    assert made.world.on("n0") == []


def test_restart_names_the_node_that_stopped_the_run() -> None:
    made = two_by_two()
    port = made.process()
    refuse(port, "d")
    port.script("list_objects", fail(Killed()), start=2)
    with pytest.raises(Killed):
        made.execute(port)
    assert reason(made.execute()) == "PartiallyRealized"
    assert "stopped at node n1: 1 node half drained, 1 eviction refused" in status_of(made.world).message


def test_more_half_drained_nodes_may_be_allowed() -> None:
    made = two_by_two(abort_on=AbortOn(half_drained_nodes=2))
    port = made.process()
    refuse(port, "b", "d")
    assert reason(made.execute(port)) == "Aborted"
    assert evictions(port.calls) == ["a", "c"]


def test_first_victim_refused_leaves_its_node_alone() -> None:
    """Nothing had left the node, so nothing is lost; the others stay where they are."""
    made = two_by_two()
    port = made.process()
    refuse(port, "a")
    run = made.execute(port)
    assert evictions(port.calls) == ["c", "d"]
    assert reason(run) == "PartiallyRealized"
    assert "not attempted: node n0 can no longer be freed" in relocation(made.world, "b").eviction.message


def test_refusals_add_up() -> None:
    """Refused for good three times by default: something is wrong that the next node will meet too."""
    made = bed(
        [node(f"n{i}") for i in range(6)],
        [*(pod(f"p{i}", f"n{i}", 1) for i in range(5)), pod("stay", "n5", 3, None)],
    )
    port = made.process()
    refuse(port, *(f"p{i}" for i in range(5)))
    run = made.execute(port)
    assert len(port.named("evict")) == 3
    assert reason(run) == "Aborted"
    assert "3 evictions refused" in status_of(made.world).message


def test_skipped_nodes_are_no_refusals() -> None:
    made = bed(
        [node(f"n{i}") for i in range(6)],
        [*(pod(f"p{i}", f"n{i}", 1, labels={"app": "p"}) for i in range(4)), pod("q", "n4", 1), pod("stay", "n5", 3, None)],
    )
    made.world.budgets = [Budget("p", {"app": "p"}, expected=4, max_unavailable=0)]
    port = made.process()
    assert reason(made.execute(port)) == "PartiallyRealized"
    assert evictions(port.calls) == ["q"]
