"""Fault row 25: a pod gained do-not-disrupt between the live re-plan and its eviction (karp#1167, karp#651)."""

from __future__ import annotations

import pytest

from repack_gitops.kube.interface import BudgetRefused
from repack_gitops.model.protection import CLUSTER_AUTOSCALER, KARPENTER, OURS
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import meanwhile, then
from tests.unit.workflow.execution.invariants import evictions
from tests.unit.workflow.execution.scenarios import Bed, one_node, reason, relocation, several

ANNOTATIONS = [(OURS, "true"), (KARPENTER, "true"), (CLUSTER_AUTOSCALER, "false")]


def protect(made: Bed, name: str) -> None:
    made.world.annotate(name, OURS, "true")


@pytest.mark.parametrize(("annotation", "value"), ANNOTATIONS)
def test_annotation_after_the_replan_keeps_the_node_at_no_cost(annotation: str, value: str) -> None:
    made = several()
    port = made.process()
    port.script("list_nodes", then(lambda: made.world.annotate("web-x1", annotation, value)))
    run = made.execute(port)
    assert evictions(port.calls) == ["db-0", "solo"]
    assert reason(run) == "PartiallyRealized"
    for victim in ("job-0", "web-x1"):
        message = relocation(made.world, victim).eviction.message
        assert message.startswith("not attempted: node n0 was skipped")
        assert f"team/web-x1 has the annotation {annotation}={value}" in message


def test_annotation_after_the_dry_run_keeps_the_pod() -> None:
    made = one_node()
    port = made.process()
    port.script("dry_run", then(lambda: protect(made, "a-0")))
    run = made.execute(port)
    assert len(port.named("dry_run")) == 1
    assert evictions(port.calls) == []
    entry = relocation(made.world, "a-0")
    assert entry.eviction.phase is EvictionPhase.REJECTED
    assert f"{OURS}=true" in entry.eviction.message
    assert reason(run) == "EvictionFailed"


def test_annotation_between_two_pods_of_a_node_stops_before_the_second() -> None:
    made = several()
    port = made.process()
    # n1 and n2 come first, with a pod each
    port.script("evict", then(lambda: protect(made, "web-x1")), start=3)
    made.execute(port)
    assert evictions(port.calls) == ["db-0", "solo", "job-0"]
    assert made.world.on("n0") == ["web-x1"]
    assert f"{OURS}=true" in relocation(made.world, "web-x1").eviction.message


def test_annotation_while_a_budget_is_waited_for() -> None:
    made = one_node()
    port = made.process()

    def refuse(_: object) -> BudgetRefused:
        protect(made, "a-0")
        return BudgetRefused("Cannot evict pod as it would violate the pod's disruption budget.")

    port.script("evict", refuse)
    made.execute(port)
    assert made.world.accepted == []
    assert len(port.named("evict")) == 1
    assert f"{OURS}=true" in relocation(made.world, "a-0").eviction.message
    assert made.clock.monotonic() < 30, "nothing is waited for any more"


def test_annotation_on_a_node_keeps_it() -> None:
    made = several()
    port = made.process()
    port.script("list_nodes", meanwhile(lambda: made.world.annotate_node("n0", KARPENTER, "true")))
    made.execute(port)
    assert evictions(port.calls) == ["db-0", "solo"]
    assert f"node n0 has the annotation {KARPENTER}=true" in relocation(made.world, "job-0").eviction.message


def test_annotation_that_another_tool_reads_as_no_is_no() -> None:
    made = one_node()
    made.world.annotate("a-0", CLUSTER_AUTOSCALER, "true")
    made.world.annotate("a-0", KARPENTER, "false")
    assert reason(made.execute()) == "ExecutionCompleted"
