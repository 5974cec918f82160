"""The answers of the Eviction API (spec 4.3), what each leads to, and what it costs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from repack_gitops.kube.interface import (
    BudgetRefused,
    PermanentRefusal,
    Throttled,
    TransientRefusal,
)
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import FakeCluster, answer, lost
from tests.unit.workflow.execution.scenarios import (
    one_node,
    reason,
    relocation,
    status_of,
    with_grace,
)

BUDGET = BudgetRefused("Cannot evict pod as it would violate the pod's disruption budget.")
WEBHOOK = TransientRefusal('admission webhook "drain.example" denied the request (HTTP 403)')


def waits(port: FakeCluster) -> list[float]:
    """Return the seconds between the eviction calls, rounded."""
    times = [c.at for c in port.named("evict")]
    return [round(b - a, 1) for a, b in pairwise(times)]


# ---- the eviction itself ----
def test_refused_by_budget_then_allowed() -> None:
    made = one_node()
    port = made.process()
    port.script("evict", answer(BUDGET), answer(BUDGET), answer(BUDGET))
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert waits(port) == [2.0, 4.0, 8.0]


def test_retry_after_is_obeyed() -> None:
    made = one_node()
    port = made.process()
    port.script("evict", answer(Throttled("slow down", 11)), answer(BudgetRefused("budget", 7)))
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert waits(port) == [11.0, 7.0]


def test_refused_until_the_timeout() -> None:
    made = one_node()
    port = made.process()
    port.always("evict", answer(BUDGET))
    assert reason(made.execute(port)) == "EvictionFailed"
    entry = relocation(made.world, "a-0")
    assert entry.eviction.phase is EvictionPhase.REJECTED
    assert "evictionTimeout (60 s)" in entry.eviction.message
    assert "disruption budget" in entry.eviction.message
    first, last = port.named("evict")[0].at, port.named("evict")[-1].at
    assert last - first == pytest.approx(60, abs=0.5), "the last attempt is made when the time is over, not long before"


def test_retry_after_beyond_the_timeout_is_not_waited_for() -> None:
    made = one_node()
    port = made.process()
    port.always("evict", answer(Throttled("come back tomorrow", 86_400)))
    assert reason(made.execute(port)) == "EvictionFailed"
    assert len(port.named("evict")) == 1
    assert "asks to wait 86400 s" in relocation(made.world, "a-0").eviction.message


@pytest.mark.parametrize(
    "passing", [TransientRefusal("HTTP 500: etcdserver: leader changed"), WEBHOOK, TransientRefusal("reset")]
)
def test_passing_trouble_is_tried_again(passing: TransientRefusal) -> None:
    made = one_node()
    port = made.process()
    port.script("evict", answer(passing), answer(passing))
    assert reason(made.execute(port)) == "ExecutionCompleted"


@pytest.mark.parametrize("message", ["pods/eviction is forbidden (HTTP 403)", "more than one PodDisruptionBudget (HTTP 500)"])
def test_permanent_refusal_is_not_repeated(message: str) -> None:
    made = one_node()
    port = made.process()
    port.always("evict", answer(PermanentRefusal(message)))
    assert reason(made.execute(port)) == "EvictionFailed"
    assert len(port.named("evict")) == 1
    assert message in status_of(made.world).message


def test_answer_lost_on_the_way_is_not_asked_twice() -> None:
    """The connection broke after the server accepted: the pod is terminating, and evicting it again would be a second 201."""
    made = one_node()
    port = made.process()
    port.script("evict", lost(TransientRefusal("connection reset")))
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert made.world.accepted == ["uid-a-0"]
    assert relocation(made.world, "a-0").eviction.phase is EvictionPhase.ACCEPTED


def test_answer_of_the_last_attempt_lost() -> None:
    """The time is over and the last answer is missing: the pod left all the same, and its replacement must be followed."""
    made = one_node()
    port = made.process()
    port.script("evict", *[answer(BUDGET)] * 5, lost(TransientRefusal("connection reset")))
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert len(port.named("evict")) == 6


@pytest.mark.parametrize("owner", ["Job", "ReplicaSet", "StatefulSet"])
def test_replacement_that_came_before_we_knew_is_claimed(owner: str) -> None:
    """Its event arrives while the eviction's answer is lost: nobody will send that event again."""
    made = one_node(owner)
    made.spec = with_grace(0)
    made.world.behaviour.bind_delay = 30.0
    port = made.process()
    port.script("evict", lost(TransientRefusal("connection reset")))
    assert reason(made.execute(port)) == "ExecutionCompleted"
    assert relocation(made.world, "a-0").placement.actual_node_name == "n1"
    assert port.named("nominate")
