"""From victim to replacement (spec 4.4): who replaces whom, where it is led, and what happens when it goes elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from repack_gitops.model import kubernetes as wire
from tests.unit.workflow.execution.fakes import meanwhile, then
from tests.unit.workflow.execution.invariants import nominations
from tests.unit.workflow.execution.scenarios import (
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


def room() -> Bed:
    """One victim of 2 cards on n0; it fits on n1 (planned) and on n2."""
    return bed(
        [node(n) for n in ("n0", "n1", "n2", "n8", "n9")],
        [pod("a-0", "n0", 2, "Job", "a"), pod("stay1", "n1", 6, None), pod("stay2", "n2", 4, None)],
    )


# ---- elsewhere ----
def test_replacement_lands_on_another_occupied_node() -> None:
    made = room()
    made.world.behaviour.honours_nominations = False
    made.world.behaviour.choose = prefer("n2")
    run = made.execute()
    assert reason(run) == "ExecutionCompletedWithAlternativePlacement"
    entry = relocation(made.world, "a-0").placement
    assert (entry.selected_node_name, entry.actual_node_name) == ("n1", "n2")
    assert "1 of them on another node than planned" in status_of(made.world).message


def test_replacement_on_an_empty_node_is_no_gain() -> None:
    made = room()
    made.world.behaviour.honours_nominations = False
    made.world.behaviour.choose = prefer("n9")
    run = made.execute()
    assert reason(run) == "BenefitNotRealized"
    assert "n9" in status_of(made.world).message
    result = status_of(made.world).result
    assert result is not None
    assert (result.freed_nodes, result.metrics_verified) == (["n0"], True)


def test_replacement_returns_to_the_source() -> None:
    made = room()
    made.world.behaviour.honours_nominations = False
    made.world.behaviour.choose = prefer("n0")
    run = made.execute()
    assert reason(run) == "BenefitNotRealized"
    assert "still occupied: n0" in status_of(made.world).message


def test_replacement_returns_to_another_node_that_is_freed() -> None:
    made = several()
    made.world.behaviour.honours_nominations = False
    made.world.behaviour.choose = prefer("n2", "n5", "n6", "n7")
    run = made.execute()
    assert run.status is not None
    assert run.status.phase == "Failed"
    assert "n2" in status_of(made.world).message


def test_planned_node_taken_before_the_eviction() -> None:
    """The receiver is chosen on the live view: the next best is prepared, journalled and nominated."""
    made = room()
    port = made.process()
    port.script("dry_run", meanwhile(lambda: made.world.add_pod(pod("guest", "n1", 2, None))))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompletedWithAlternativePlacement"
    assert nominations(port.calls) == [("a-0", "n2")]


def test_planned_node_taken_after_the_eviction() -> None:
    made = room()
    port = made.process()
    port.script("evict", meanwhile(lambda: made.world.add_pod(pod("guest", "n1", 2, None))))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompletedWithAlternativePlacement"
    assert nominations(port.calls) == [("a-0", "n2")]


def test_node_cordoned_after_the_eviction_is_not_nominated_for_ever() -> None:
    """Nodes change too: a receiver that was cordoned while the replacement waits must be given up."""
    made = room()
    made.world.behaviour.bind_delay = 60.0
    made.world.behaviour.choose = prefer()
    port = made.process()

    def cordon() -> None:
        found = made.world.nodes["n1"]
        made.world.nodes["n1"] = replace(found, spec=wire.NodeSpec(unschedulable=True))

    port.script("nominate", meanwhile(cordon))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompletedWithAlternativePlacement"
    assert nominations(port.calls) == [("a-0", "n1"), ("a-0", "n2")]


def test_nominated_room_taken_while_it_waits() -> None:
    """A nomination reserves nothing: when a rival takes the room, the pod must not wait there while others are idle."""
    made = room()
    made.world.behaviour.bind_delay = 5.0
    made.world.behaviour.choose = prefer()
    port = made.process()
    port.script("nominate", then(rival(made, 2)))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompletedWithAlternativePlacement"
    assert nominations(port.calls) == [("a-0", "n1"), ("a-0", "n2")]


def rival(made: Bed, cards: int) -> Callable[[], object]:
    """Somebody takes room on n1."""
    return lambda: made.world.add_pod(pod("rival", "n1", cards, None))


def test_no_room_left_clears_our_nomination() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 5.0
    made.world.behaviour.choose = prefer("n9")
    port = made.process()
    port.script("nominate", then(rival(made, 4)))
    run = made.execute(port)
    assert reason(run) == "BenefitNotRealized"
    assert nominations(port.calls) == [("a-0", "n1"), ("a-0", None)]


def test_two_replacements_are_not_promised_one_slot() -> None:
    """Both planned nodes fill up; what is left has room for one here and one there, and the first is not born yet."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n2", "n3", "n4", "n8")],
        [
            pod("a", "n0", 2),
            pod("b", "n0", 2),
            *(pod(f"stay{i}", f"n{i}", cards, None) for i, cards in ((1, 6), (2, 6), (3, 5), (4, 5))),
        ],
    )
    made.spec = with_grace(30)
    port = made.process()

    def fill() -> None:
        for name in ("n1", "n2"):
            made.world.add_pod(pod(f"guest-{name}", name, 2, None))

    port.script("dry_run", meanwhile(fill))
    assert reason(made.execute(port)) == "ExecutionCompletedWithAlternativePlacement"
    assert nominations(port.calls) == [("a", "n3"), ("b", "n4")]
