"""The answers of the Eviction API (spec 4.3), what each leads to, and what it costs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from repack_gitops.kube.interface import (
    BudgetRefused,
    EvictionAnswer,
    PermanentRefusal,
    PodGone,
    Throttled,
    TransientRefusal,
)
from repack_gitops.model.cluster import Key
from repack_gitops.model.policy import AbortOn
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import FakeCluster, Killed, answer, fail, lost, meanwhile
from tests.unit.workflow.execution.invariants import evictions
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
    with_grace,
)
from tests.unit.workflow.execution.world import Budget

BUDGET = BudgetRefused("Cannot evict pod as it would violate the pod's disruption budget.")
WEBHOOK = TransientRefusal('admission webhook "drain.example" denied the request (HTTP 403)')


def waits(port: FakeCluster) -> list[float]:
    """Return the seconds between the eviction calls, rounded."""
    times = [c.at for c in port.named("evict")]
    return [round(b - a, 1) for a, b in pairwise(times)]


# ---- budgets, before anything is evicted ----
def test_budget_says_no_and_the_node_costs_nothing() -> None:
    made = one_node()
    made.world.budgets = [Budget("a", {"app": "a"}, expected=1, max_unavailable=0)]
    port = made.process()
    run = made.execute(port)
    assert (reason(run), evictions(port.calls)) == ("EvictionFailed", [])
    assert "team/a-0" in status_of(made.world).message
    assert "disruption budget a" in status_of(made.world).message
    assert relocation(made.world, "a-0").eviction.phase is EvictionPhase.REJECTED
    assert made.clock.monotonic() < 30, "a budget that nothing will refill is not waited for"


def test_other_nodes_go_on() -> None:
    made = several()
    made.world.budgets = [Budget("solo", {"app": "solo"}, expected=1, max_unavailable=0)]
    run = made.execute()
    assert reason(run) == "PartiallyRealized"
    assert (made.world.on("n0"), made.world.on("n1"), made.world.on("n2")) == ([], [], ["solo"])
    result = status_of(made.world).result
    assert result is not None
    assert result.freed_nodes == ["n1", "n0"]


def test_one_victim_that_may_not_go_keeps_the_whole_node() -> None:
    made = several()
    made.world.budgets = [Budget("web", {"app": "web"}, expected=1, max_unavailable=0)]
    port = made.process()
    made.execute(port)
    assert evictions(port.calls) == ["db-0", "solo"]
    assert made.world.on("n0") == ["job-0", "web-x1"]
    assert all("node n0 was skipped" in relocation(made.world, v).eviction.message for v in ("job-0", "web-x1"))


def test_dry_runs_do_not_add_up() -> None:
    """Two victims under one budget of one: each dry run says yes, both together may not go."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n8")],
        [
            pod("web-x1", "n0", 1, "ReplicaSet", "web"),
            pod("web-x2", "n0", 1, "ReplicaSet", "web"),
            pod("stay", "n1", 4, None),
        ],
    )
    made.world.budgets = [Budget("web", {"app": "web"}, expected=2, max_unavailable=1)]
    port = made.process()
    assert reason(made.execute(port)) == "EvictionFailed"
    assert evictions(port.calls) == []
    assert "web allows 1 disruption, 2 are needed" in status_of(made.world).message


def test_two_budgets_select_one_pod() -> None:
    made = one_node()
    made.world.budgets = [Budget(n, {"app": "a"}, expected=1, max_unavailable=1) for n in ("one", "two")]
    port = made.process()
    assert reason(made.execute(port)) == "EvictionFailed"
    assert "more than one PodDisruptionBudget" in status_of(made.world).message
    assert not port.named("evict")


def test_budget_refills_between_nodes() -> None:
    """dsch#996: the replacement of the first node must be Ready before the budget lets the second node's pod go."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n2", "n8")],
        [
            pod("web-x1", "n0", 1, "ReplicaSet", "web"),
            pod("web-x2", "n1", 1, "ReplicaSet", "web"),
            pod("stay", "n2", 4, None),
        ],
    )
    made.world.budgets = [Budget("web", {"app": "web"}, expected=2, max_unavailable=1)]
    made.world.behaviour.ready_delay = 25.0
    assert reason(made.execute()) == "ExecutionCompleted"


def test_budget_that_never_refills_is_waited_for_within_the_timeout() -> None:
    made = bed(
        [node(n) for n in ("n0", "n1", "n2", "n8")],
        [
            pod("web-x1", "n0", 1, "ReplicaSet", "web"),
            pod("web-x2", "n1", 1, "ReplicaSet", "web"),
            pod("stay", "n2", 4, None),
        ],
    )
    made.world.budgets = [Budget("web", {"app": "web"}, expected=2, max_unavailable=1)]
    made.world.behaviour.ready_delay = 10_000.0
    assert reason(made.execute()) == "PartiallyRealized"
    assert made.clock.monotonic() < 120


def test_unhealthy_pod_needs_no_budget_while_enough_are_healthy() -> None:
    """k8s#72320: IfHealthyBudget lets a pod that is not Ready go without using up the budget."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n8")],
        [pod("web-x1", "n0", 1, "ReplicaSet", "web"), pod("stay", "n1", 4, None), pod("web-x2", "n1", 0, "ReplicaSet", "web")],
    )
    broken = made.world.pods[("team", "web-x1")]
    made.world.pods[("team", "web-x1")] = replace(broken, status=replace(broken.status, conditions=None))
    made.world.budgets = [Budget("web", {"app": "web"}, expected=2, max_unavailable=1)]
    assert reason(made.execute()) == "ExecutionCompleted"


@pytest.mark.parametrize("passing", [TransientRefusal("HTTP 500: etcd"), Throttled("too many requests", 3), WEBHOOK])
def test_passing_trouble_of_a_dry_run_skips_no_node(passing: object) -> None:
    made = one_node()
    port = made.process()
    port.script("dry_run", answer(passing), answer(passing))
    assert reason(made.execute(port)) == "ExecutionCompleted"


def test_lasting_trouble_of_dry_runs_skips_the_node_in_time() -> None:
    made = one_node()
    port = made.process()
    port.always("dry_run", answer(WEBHOOK))
    assert reason(made.execute(port)) == "EvictionFailed"
    assert "admission webhook" in status_of(made.world).message
    assert 50 < made.clock.monotonic() < 80


def test_permanent_refusal_of_a_dry_run_is_not_repeated() -> None:
    made = one_node()
    port = made.process()
    port.always("dry_run", answer(PermanentRefusal("forbidden (HTTP 403)")))
    assert reason(made.execute(port)) == "EvictionFailed"
    assert len(port.named("dry_run")) == 1


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


# ---- a node that no longer has a place to send its pods ----
def test_node_without_receivers_is_skipped_at_no_cost() -> None:
    """Between the plan and the node's turn somebody took the room: evicting now would leave the pod pending."""
    made = several()
    port = made.process()

    def take_room() -> None:
        for name in ("n5", "n6", "n7"):
            made.world.add_pod(pod(f"guest-{name}", name, 8 - sum(_cards(made, p) for p in made.world.on(name)), None))

    port.script("evict", None, meanwhile(take_room))
    run = made.execute(port)
    assert "n0" in {r.source_node_name for r in status_of(made.world).relocations}
    assert made.world.on("n0") == ["job-0", "web-x1"]
    assert all("no node can take" in relocation(made.world, v).eviction.message for v in ("job-0", "web-x1"))
    assert run.status is not None
    assert run.status.phase == "Failed"


def _cards(made: Bed, name: str) -> int:
    found = made.world.pod(name)
    return found.requests.get("nvidia.com/gpu", 0) // 1000 if found else 0
