"""What is asked before a node's first eviction (spec 4.3): every budget, every dry run, room for every replacement."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from repack_gitops.kube.interface import (
    PermanentRefusal,
    Throttled,
    TransientRefusal,
)
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import answer, meanwhile
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
)
from tests.unit.workflow.execution.world import Budget

WEBHOOK = TransientRefusal('admission webhook "drain.example" denied the request (HTTP 403)')


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
    """The second comes after the plan; had it been there before, the new plan would leave the pod where it is."""
    made = one_node()
    port = made.process()

    def add_budgets() -> None:
        made.world.budgets = [Budget(n, {"app": "a"}, expected=1, max_unavailable=1) for n in ("one", "two")]

    port.script("dry_run", meanwhile(add_budgets))
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


def test_p07_a_victim_whose_containers_do_not_run_yet_needs_no_budget() -> None:
    made = one_node()
    waiting = made.world.pods[("team", "a-0")]
    made.world.pods[("team", "a-0")] = replace(waiting, status=replace(waiting.status, phase="Pending", conditions=None))
    made.world.budgets = [Budget("a", {"app": "a"}, expected=1, max_unavailable=0)]
    assert reason(made.execute()) == "ExecutionCompleted"


def test_p01_a_pod_under_two_budgets_is_left_alone_from_the_start() -> None:
    made = one_node()
    made.world.budgets = [Budget(n, {"app": "a"}, expected=1, max_unavailable=1) for n in ("one", "two")]
    port = made.process()
    assert reason(made.execute(port)) == "PlanDrifted"
    assert not port.named("evict", "dry_run")


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


def test_a_budget_that_did_not_recover_is_waited_for_once() -> None:
    """A crash-looping member keeps a budget at zero for good: one timeout shows it, not one for every node."""
    made = bed(
        [node(f"n{i}") for i in range(7)],
        [*(pod(f"web-x{i}", f"n{i}", 1, "ReplicaSet", "web") for i in range(5)), pod("stay", "n5", 3, None)],
    )
    sick = pod("web-sick", "n5", 0, "ReplicaSet", "web")
    made.world.add_pod(replace(sick, status=replace(sick.status, conditions=None)))
    made.world.budgets = [Budget("web", {"app": "web"}, expected=6, max_unavailable=1)]
    assert reason(made.execute()) == "EvictionFailed"
    assert 60 < made.clock.monotonic() < 90
