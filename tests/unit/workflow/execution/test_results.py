"""The end (spec 4.5): two lists that agree, what counts as gained, and words for a reader at three in the morning."""

from __future__ import annotations

from msgspec.structs import replace

from tests.unit.workflow.execution.fakes import meanwhile
from tests.unit.workflow.execution.scenarios import (
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
from tests.unit.workflow.execution.world import READY, Budget


def test_two_lists_disagree() -> None:
    made = one_node()
    port = made.process()
    port.script("list_objects", None, None, meanwhile(lambda: made.world.add_pod(pod("late", "n0", 1, None))))
    run = made.execute(port)
    assert reason(run) == "ResultVerificationFailed"
    result = status_of(made.world).result
    assert result is not None
    assert (result.metrics_verified, result.freed_nodes) == (False, [])


def test_lists_are_apart() -> None:
    made = one_node()
    port = made.process()
    made.execute(port)
    times = [c.at for c in port.named("list_objects")]
    assert times[-1] - times[-2] >= 5


def test_somebody_else_took_the_freed_node() -> None:
    made = several()
    port = made.process()
    port.script("evict", None, None, None, meanwhile(lambda: made.world.add_pod(pod("guest", "n1", 8, None))))
    run = made.execute(port)
    assert reason(run) == "PartiallyRealized"
    assert "2 of 3" in status_of(made.world).message
    assert "n1" in status_of(made.world).message


def test_node_that_went_down_is_not_freed() -> None:
    made = one_node()
    port = made.process()

    def down() -> None:
        found = made.world.nodes["n0"]
        unknown = replace(READY, status="Unknown")
        made.world.nodes["n0"] = replace(found, status=replace(found.status, conditions=[unknown]))

    port.script("evict", meanwhile(down))
    assert reason(made.execute(port)) == "BenefitNotRealized"


def test_node_that_was_removed_is_not_freed() -> None:
    made = one_node()
    port = made.process()
    port.script("list_objects", None, meanwhile(lambda: made.world.nodes.pop("n0")))
    assert reason(made.execute(port)) == "BenefitNotRealized"


def test_receiver_that_ran_empty_meanwhile_is_no_new_node() -> None:
    """The planned receiver was occupied before the run; that its own pod ended meanwhile makes it no newly taken node."""
    made = one_node()
    port = made.process()
    made.world.behaviour.bind_delay = 4.0
    port.script("evict", meanwhile(lambda: made.clock.at(6, lambda: made.world.kill("stay"))))
    made.world.behaviour.dead_owners.add("stay")
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"


def test_result_only_where_something_was_attempted() -> None:
    """Spec 1.2: a run whose nodes were all skipped has no result; zeros would look like a measurement."""
    made = one_node()
    made.world.budgets = [Budget("a", {"app": "a"}, expected=1, max_unavailable=0)]
    made.execute()
    assert status_of(made.world).result is None


def test_pods_that_do_not_use_the_resource_do_not_matter() -> None:
    made = bed(
        [node(n) for n in ("n0", "n1")],
        [pod("a", "n0", 2), pod("log", "n0", 0, None), pod("stay", "n1", 4, None)],
    )
    assert reason(made.execute()) == "ExecutionCompleted"
    assert made.world.on("n0") == ["log"]


def test_an_entry_for_every_victim_says_what_became_of_it() -> None:
    made: Bed = several()
    made.world.behaviour.dead_owners.add("solo")
    run = made.execute()
    assert reason(run) == "PlacementTimedOut"
    assert relocation(made.world, "solo").placement.phase.value == "TimedOut"
    message = status_of(made.world).message
    assert "team/solo" in message
    assert "job-0" not in message
