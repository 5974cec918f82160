"""What stops a run before anything is touched (spec 4.1): one reason each, no eviction, nothing left half done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from repack_gitops.errors import ClusterUnavailable, InvalidInput, Refused, TryAgain
from repack_gitops.kube.interface import Conflict
from repack_gitops.model.policy import Caps, Guardrails, GuardrailsSpec, PolicyMetadata, Window, Windows
from repack_gitops.model.run import Goal, RunTemplateSpec
from repack_gitops.model.safeguards import pod_group_workload
from repack_gitops.model.safety import Safety, SafetyGuardrail
from repack_gitops.policy.history import PastMove
from repack_gitops.workflow.execution.lock import LAST_FINISH
from tests.unit.workflow.execution.fakes import answer, fail
from tests.unit.workflow.execution.scenarios import (
    GPU,
    LEASE,
    Bed,
    bed,
    node,
    one_node,
    pod,
    reason,
    several,
    status_of,
)


def refused(made: Bed, why: str, *words: str, phase: str = "Failed") -> None:
    """Execute and assert the end: its reason, words of its message, and that nothing was touched."""
    port = made.process()
    run = made.execute(port)
    status = run.status
    assert status is not None
    assert (reason(run), status.phase) == (why, phase), status.message
    for word in words:
        assert word in status.message
    assert not port.named("evict", "dry_run", "nominate")
    assert status.relocations == []
    assert status.result is None
    assert status.completion_time
    lease = made.world.leases[LEASE]
    assert (lease.holder, LAST_FINISH in lease.annotations) == ("", False)


def guardrails(**spec: Any) -> Guardrails:
    return Guardrails(
        api_version="gitops.repack.volcano.sh/v1alpha1",
        kind="Guardrails",
        metadata=PolicyMetadata(name="guardrails"),
        spec=GuardrailsSpec(**spec),
    )


def test_no_fragmentation_left_is_complete() -> None:
    made = one_node()
    made.approve()
    made.world.finish("a-0")
    refused(made, "NoFragmentation", "Nothing was evicted", phase="Succeeded")


def test_nothing_of_the_plan_is_left() -> None:
    made = several()
    made.approve()
    for name in ("job-0", "web-x1", "db-0", "solo"):
        made.world.finish(name)
    for i in range(3):
        made.world.add_pod(pod(f"new-{i}", f"n{i}", 1))
    refused(made, "PlanDrifted", "Nothing was evicted", "nothing of it is left")


def test_what_is_left_gains_less_than_the_goal() -> None:
    """The message must not say that nothing is left when something is: a reader would look for the wrong thing."""
    made = several()
    made.spec = RunTemplateSpec(goals=[Goal(resource=GPU, min_frag_improvement_percent=30)])
    made.approve()
    made.world.finish("solo")
    made.world.add_pod(pod("guest", "n2", 8))
    refused(made, "PlanDrifted", "gains", "30")
    assert "nothing of it is left" not in status_of(made.world).message


def test_budget_envelope_answers_as_volcano_does() -> None:
    made = several(envelope="Budget")
    made.spec = RunTemplateSpec(goals=[Goal(resource=GPU, min_frag_improvement_percent=90)])
    made.approve()
    refused(made, "InsufficientImprovement", "Nothing was evicted", phase="Succeeded")


def test_exact_refuses_another_move() -> None:
    made = several(envelope="Exact")
    made.approve()
    made.world.finish("solo")
    refused(made, "PlanDrifted", "solo", "n2")


def test_exact_executes_the_same_moves() -> None:
    assert reason(several(envelope="Exact").execute()) == "ExecutionCompleted"


def test_plan_too_old() -> None:
    made = one_node(max_plan_age="2h")
    made.approve(planned_at=made.clock.now() - timedelta(hours=2, minutes=5))
    refused(made, "PlanExpired", "2h05m", "2h")


def test_plan_from_the_future() -> None:
    """Clocks that disagree, or a date somebody wrote: such a plan would never be too old."""
    made = one_node(max_plan_age="2h")
    made.approve(planned_at=made.clock.now() + timedelta(days=400))
    refused(made, "PreflightFailed", "future")


@pytest.mark.parametrize("text", ["yesterday", "2026-11-02T08:00:00", "2026-13-02T08:00:00Z", "1"])
def test_plan_without_a_usable_time(text: str) -> None:
    made = one_node()
    made.approve(stamp=text)
    refused(made, "PreflightFailed", text)


def test_plan_without_any_time() -> None:
    made = one_node()
    approved = made.approve()
    plan = approved.plan_run
    assert plan.status is not None
    bare = replace(plan, metadata=replace(plan.metadata, annotations={}), status=replace(plan.status, completion_time=""))
    made.approved = type(approved)(approved.path, approved.run, bare, approved.plan)
    refused(made, "PreflightFailed", "when it was made")


def test_window_closed() -> None:
    made = one_node(windows=Windows(allow=[Window(schedule="0 22 * * *", duration="2h")]))
    refused(made, "PreflightFailed", "not allowed now", "windows.allow")


def test_deny_window() -> None:
    made = one_node(windows=Windows(deny=[Window(schedule="0 8 * * *", duration="4h", time_zone="UTC")]))
    refused(made, "PreflightFailed", "windows.deny 0 8 * * * (UTC) for 4h")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (guardrails(max_per_run=Caps(nodes=2)), ("maxPerRun.nodes", "3", "2")),
        (guardrails(max_per_run=Caps(cards=6)), ("maxPerRun.cards", "7", "6")),
        (guardrails(max_per_run=Caps(pod_groups=3)), ("maxPerRun.podGroups",)),
        (guardrails(require_pod_group_scope=True), ("requirePodGroupScope",)),
    ],
)
def test_guardrail(rules: Guardrails, words: tuple[str, ...]) -> None:
    made = several()
    made.guardrails = rules
    refused(made, "PreflightFailed", "guardrails", *words)


def test_forbidden_namespace_leaves_nothing_to_move() -> None:
    made = several()
    made.guardrails = guardrails(forbidden_namespaces=["team"])
    refused(made, "PlanDrifted")


@pytest.mark.parametrize(
    "missing",
    [
        "create pods/eviction in namespace team",
        "patch pods/status in namespace team",
        "watch pods",
        "get pods",
        "list poddisruptionbudgets.policy",
        "update repackruns/status.repack.volcano.sh",
    ],
)
def test_missing_permission_is_named(missing: str) -> None:
    made = one_node()
    made.world.denied = {missing}
    refused(made, "PreflightFailed", missing)


def test_all_missing_permissions_are_named_at_once() -> None:
    made = one_node()
    made.world.denied = {"watch pods", "create pods/eviction in namespace team"}
    refused(made, "PreflightFailed", *made.world.denied)


def test_permissions_where_the_live_plan_leads() -> None:
    """Under Budget the live plan may move what the approved one did not, in other namespaces too."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n8")],
        [pod("a-0", "n0", 2, "Job", "a"), pod("stay", "n1", 4, None)],
        envelope="Budget",
    )
    made.approve()
    made.world.finish("a-0")
    other = pod("b-0", "n8", 2, "Job", "b")
    made.world.add_pod(replace(other, metadata=replace(other.metadata, namespace="other")))
    made.world.denied = {"create pods/eviction in namespace other"}
    refused(made, "PreflightFailed", "create pods/eviction in namespace other")


def test_resource_that_no_node_provides_any_more() -> None:
    """Exit code 2 would end the Job for good and leave the run without an end."""
    made = one_node()
    made.approve()
    for name in made.world.nodes:
        found = made.world.nodes[name]
        made.world.nodes[name] = replace(found, status=replace(found.status, allocatable={"cpu": "8"}))
    refused(made, "InvalidConfiguration", f"no node provides {GPU}")


def test_an_inconsistent_list_is_read_again() -> None:
    """A node that went away between two lists is a passing state of a live cluster, not a broken file."""
    made = one_node()
    port = made.process()
    port.script("list_objects", fail(InvalidInput("Pod team/x runs on node n7, which is not in the snapshot")))
    assert reason(made.execute(port)) == "ExecutionCompleted"


def test_a_cluster_that_stays_inconsistent_is_tried_again_later() -> None:
    made = one_node()
    port = made.process()
    port.always("list_objects", fail(InvalidInput("Pod team/x runs on node n7, which is not in the snapshot")))
    with pytest.raises(TryAgain, match="n7"):
        made.execute(port)
    assert made.world.leases[LEASE].holder == ""
    assert reason(made.execute()) == "ExecutionCompleted"


def test_unreachable_cluster_leaves_the_run_to_be_taken_up_again() -> None:
    made = one_node()
    port = made.process()
    port.script("list_objects", fail(ClusterUnavailable("connection refused")))
    with pytest.raises(ClusterUnavailable):
        made.execute(port)
    assert reason(made.execute()) == "ExecutionCompleted"


def test_the_first_error_is_told_even_when_the_lease_cannot_be_given_back() -> None:
    made = one_node()
    port = made.process()
    port.script("list_objects", fail(ClusterUnavailable("connection refused")))
    port.script("put_lease", None, fail(ClusterUnavailable("no route")))
    with pytest.raises(ClusterUnavailable, match="connection refused"):
        made.execute(port)


def test_a_foreign_run_of_that_name_is_refused() -> None:
    made = one_node()
    approved = made.approve()
    port = made.process()
    other = replace(approved.run, spec=replace(approved.run.spec, ttl_seconds_after_finished=5))
    port.create_run(other)
    with pytest.raises(Refused, match="another spec"):
        made.execute(port)
    assert not port.named("evict", "put_lease")


def test_run_deleted_while_it_is_created() -> None:
    made = one_node()
    port = made.process()
    port.script("create_run", answer(Conflict("it exists")))
    with pytest.raises(TryAgain, match="deleted"):
        made.execute(port)


# ---- safety options hold for the live re-plan, at its own moment ----
def test_a_pod_that_is_too_young_when_it_is_executed_stays() -> None:
    """Approved without the option, which came later; ages count from the executor's clock."""
    made = one_node(safety=Safety(min_pod_age="30d"))
    refused(made, "PlanDrifted", "nothing of it is left")
    made = one_node(safety=Safety(min_pod_age="1h"))
    assert reason(made.execute()) == "ExecutionCompleted"


def test_row_124_a_workload_moved_since_the_approval_rests() -> None:
    made = one_node(safety=Safety(recently_moved="1h"))
    ended = made.clock.now() - timedelta(minutes=10)
    made.past = lambda _: frozenset({PastMove(pod_group_workload("team", "pg-a"), ended)})
    refused(made, "PlanDrifted", "nothing of it is left")


def test_row_124_a_workload_that_rested_long_enough_moves() -> None:
    made = one_node(safety=Safety(recently_moved="1h"))
    ended = made.clock.now() - timedelta(minutes=70)
    made.past = lambda _: frozenset({PastMove(pod_group_workload("team", "pg-a"), ended)})
    assert reason(made.execute()) == "ExecutionCompleted"


def test_the_history_is_not_read_unless_somebody_asks() -> None:
    made = one_node()

    def past(_: object) -> frozenset[PastMove]:
        raise AssertionError

    made.past = past
    assert reason(made.execute()) == "ExecutionCompleted"


def test_a_history_that_cannot_be_read_stops_the_run() -> None:
    made = one_node()
    made.guardrails = guardrails(safety=SafetyGuardrail(recently_moved="1h"))

    def past(_: object) -> frozenset[PastMove]:
        raise InvalidInput("runs/gpu/x/result.yaml:1:1: is empty", hint="Write it.")

    made.past = past
    refused(made, "PreflightFailed", "what past runs moved is not known", "runs/gpu/x/result.yaml:1:1: is empty")


def test_guardrails_alone_cap_the_pods_of_a_namespace() -> None:
    made = several()
    made.guardrails = guardrails(safety=SafetyGuardrail(max_pods_per_namespace=1))
    made.approve()
    port = made.process()
    made.execute(port)
    assert len(made.world.accepted) == 1
