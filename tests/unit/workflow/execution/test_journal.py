"""The journal by itself and under fire: compare-and-swap, metadata changes, other writers, lost answers (spec 4.2)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from repack_gitops.errors import ClusterUnavailable
from repack_gitops.kube.interface import Conflict
from repack_gitops.model.run import RepackRun, RunStatus
from repack_gitops.workflow.execution.journal import Journal, JournalLost
from tests.unit.workflow.execution.fakes import FakeCluster, answer, fail, lost, meanwhile
from tests.unit.workflow.execution.invariants import evictions
from tests.unit.workflow.execution.scenarios import LEASE, RUN, Bed, one_node, reason, several


def stored(made: Bed) -> RepackRun:
    return made.world.runs[RUN]


def bump(made: Bed, **changes: object) -> None:
    """Let somebody else write the object."""
    found = stored(made)
    version = str(int(found.metadata.resource_version) + 1)
    changed = replace(found, **changes)
    made.world.runs[RUN] = replace(changed, metadata=replace(changed.metadata, resource_version=version))


def label(made: Bed) -> None:
    metadata = replace(stored(made).metadata, labels={"watched-by": "sre"})
    bump(made, metadata=metadata)


def test_metadata_change_is_survived() -> None:
    made = one_node()
    port = made.process()
    port.script("update_run_status", None, None, None, meanwhile(lambda: label(made)), None, meanwhile(lambda: label(made)))
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert stored(made).metadata.labels == {"watched-by": "sre"}


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_another_executors_status_stops_us(number: int) -> None:
    made = several()
    port = made.process()

    def write() -> None:
        status = stored(made).status
        assert status is not None
        bump(made, status=replace(status, message="written by somebody else"))

    port.script("update_run_status", meanwhile(write), start=number)
    with pytest.raises(JournalLost, match="another executor"):
        made.execute(port)
    later = [c.name for c in port.calls[next(i for i, c in enumerate(port.calls) if isinstance(c.answer, Conflict)) :]]
    assert set(later) <= {"update_run_status", "get_run", "get_lease", "put_lease"}
    assert made.world.leases[LEASE].holder == ""


def test_run_deleted_while_it_is_executed() -> None:
    made = several()
    port = made.process()
    port.script("update_run_status", meanwhile(lambda: made.world.runs.pop(RUN)), start=6)
    with pytest.raises(JournalLost, match="deleted"):
        made.execute(port)
    assert len(evictions(port.calls)) <= 1


@pytest.mark.parametrize("number", range(1, 12))
def test_lost_answer_of_any_write(number: int) -> None:
    """The write arrived, its answer did not; a client that repeats it gets a conflict with its own write."""
    made = one_node()
    port = made.process()
    port.script("update_run_status", lost(Conflict("already written")), start=number)
    assert reason(made.execute(port)) == "ExecutionCompleted"


def test_unreachable_journal_ends_the_process_before_the_deed() -> None:
    made = one_node()
    port = made.process()
    port.script("update_run_status", fail(ClusterUnavailable("no route")), start=4)
    with pytest.raises(ClusterUnavailable):
        made.execute(port)
    assert port.named("evict") == []
    assert reason(made.execute()) == "ExecutionCompleted"


def test_conflicts_without_end_are_bounded() -> None:
    made = one_node()
    made.execute()
    port = FakeCluster(made.world)
    journal = Journal(port, stored(made))
    port.always("update_run_status", answer(Conflict("again")))
    with pytest.raises(JournalLost, match="cannot be written"):
        journal.write(replace(journal.status, message="x"))
    assert len(port.named("update_run_status")) <= 5


def test_plan_missing_under_relocations() -> None:
    made = one_node()
    made.execute()
    status = stored(made).status
    assert status is not None
    broken = Journal(FakeCluster(made.world), replace(stored(made), status=replace(status, plan=None)))
    with pytest.raises(JournalLost, match="no plan"):
        broken.plan  # noqa: B018


def test_writing_the_same_again_asks_nothing() -> None:
    made = one_node()
    made.execute()
    port = FakeCluster(made.world)
    journal = Journal(port, stored(made))
    journal.write(journal.status)
    assert port.calls == []


def test_a_run_without_status_is_pending() -> None:
    made = one_node()
    approved = made.approve()
    journal = Journal(FakeCluster(made.world), approved.run)
    assert journal.status == RunStatus(phase="Pending")
    assert journal.relocations == []
