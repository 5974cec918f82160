"""Digests: blind to order and time, sharp to everything a reviewer approved."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace

from repack_gitops.model.documents import read_policy
from repack_gitops.model.frontier_status import FrontierPointStatus, FrontierStatus
from repack_gitops.model.restart_status import OwnerRef
from repack_gitops.model.run import (
    Eviction,
    Goal,
    MaxPerRun,
    Move,
    MovedPod,
    PlanStatus,
    PlanSummary,
    ResolvedScope,
    RunTemplateSpec,
    Scope,
)
from repack_gitops.policy.digest import plan_digest, policy_digest

GPU = "nvidia.com/gpu"
SPEC = RunTemplateSpec(goals=[Goal(resource=GPU)])
SUMMARY = PlanSummary(
    frag_before_percent=38,
    frag_after_percent=0,
    freed_node_count=2,
    moved_card_count=5,
    resolved_scope=ResolvedScope(pod_group_count=9, node_count=8),
)
PLAN = PlanStatus(
    summary=SUMMARY,
    moves=[
        Move(
            namespace="team",
            pod_group_name="pg-a",
            cards=3,
            pods=[
                MovedPod(name="a-0", from_node="n0", to_node="n5", cards=2),
                MovedPod(name="a-1", from_node="n1", to_node="n5", cards=1),
            ],
            owner=OwnerRef(api_version="apps/v1", kind="ReplicaSet", name="a"),
        ),
        Move(
            namespace="team",
            pod_group_name="pg-b",
            cards=2,
            pods=[MovedPod(name="b-0", from_node="n0", to_node="n6", cards=2)],
        ),
    ],
    freed_nodes=["n0", "n1"],
)


def digest(plan: PlanStatus = PLAN, spec: RunTemplateSpec = SPEC, policy: str = "p1") -> str:
    return plan_digest(spec, plan, policy)


def moved(**changes: object) -> PlanStatus:
    first, *rest = PLAN.moves
    pod, *pods = first.pods
    return replace(PLAN, moves=[replace(first, pods=[replace(pod, **changes), *pods]), *rest])


def test_order_does_not_matter() -> None:
    random = Random(1)
    for _ in range(20):
        moves = [replace(m, pods=random.sample(m.pods, len(m.pods))) for m in random.sample(PLAN.moves, len(PLAN.moves))]
        nodes = random.sample(PLAN.freed_nodes, len(PLAN.freed_nodes))
        assert digest(replace(PLAN, moves=moves, freed_nodes=nodes)) == digest()


def test_what_was_merely_seen_does_not_matter() -> None:
    """The rest of the cluster changes all the time; the plan is what is approved."""
    scope = ResolvedScope(pod_group_count=1, node_count=1)
    seen = replace(SUMMARY, frag_before_percent=40, frag_after_percent=3, resolved_scope=scope)
    assert digest(replace(PLAN, summary=seen, warnings=["x"], strategy="Drain", exact=True)) == digest()


def test_what_less_disruption_would_free_does_not_matter() -> None:
    """It is told beside the plan; a pull request is not pushed again for it."""
    point = FrontierPointStatus(limit=1, freed_nodes=1, upper_bound=2, pod_groups=1, moved_cards=1, moved_pods=1, breaches=0)
    for frontier in (FrontierStatus(), FrontierStatus(pod_groups=[point], cards=[point])):
        assert digest(replace(PLAN, frontier=frontier)) == digest()


@pytest.mark.parametrize(
    "plan",
    [
        moved(name="a-9"),
        moved(from_node="n9"),
        moved(to_node="n9"),
        moved(cards=3),
        replace(PLAN, freed_nodes=["n0"]),
        replace(PLAN, freed_nodes=["n0", "n1", "n2"]),
        replace(PLAN, moves=PLAN.moves[:1]),
        replace(PLAN, moves=[replace(PLAN.moves[0], namespace="other"), PLAN.moves[1]]),
        replace(PLAN, moves=[replace(PLAN.moves[0], pod_group_name="pg-z"), PLAN.moves[1]]),
    ],
)
def test_every_material_part_of_a_plan_matters(plan: PlanStatus) -> None:
    assert digest(plan) != digest()


@pytest.mark.parametrize(
    "spec",
    [
        RunTemplateSpec(goals=[Goal(resource="huawei.com/ascend-1980")]),
        RunTemplateSpec(goals=[Goal(resource=GPU, min_frag_improvement_percent=5)]),
        replace(SPEC, scope=Scope()),
        replace(SPEC, max_per_run=MaxPerRun(pod_groups=0)),
        replace(SPEC, eviction=Eviction(grace_period_seconds=0)),
        replace(SPEC, ttl_seconds_after_finished=0),
    ],
)
def test_every_part_of_the_spec_matters(spec: RunTemplateSpec) -> None:
    assert digest(spec=spec) != digest()


def test_the_policys_version_matters() -> None:
    assert digest(policy="p2") != digest()


def test_digest_is_stable() -> None:
    """A digest is written into pull requests: it must not change between releases without a reason."""
    assert len(digest()) == 64
    assert digest() == digest()


POLICY = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepackPolicy
metadata:
  name: nightly
spec:
  trigger: {cronSchedule: "0 2 * * *"}
  runTemplate:
    spec:
      goals: [{resource: nvidia.com/gpu}]
"""


def version(text: str) -> str:
    return policy_digest(read_policy(text.encode(), "policies/nightly.yaml"))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: "# a comment\n" + t,
        lambda t: t.replace("  name: nightly\n", "  name: nightly\n  labels: {team: gpu}\n"),
        lambda t: t.replace("spec:\n  trigger", "spec:\n  suspend: false\n  trigger"),
        lambda t: t.replace('{cronSchedule: "0 2 * * *"}', '{timeZone: UTC, cronSchedule: "0 2 * * *"}'),
    ],
)
def test_how_a_policy_is_written_does_not_matter(change: Callable[[str], str]) -> None:
    assert change(POLICY) != POLICY
    assert version(change(POLICY)) == version(POLICY)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("0 2 *", "0 3 *"),
        lambda t: t.replace("spec:\n  trigger", "spec:\n  suspend: true\n  trigger"),
        lambda t: t + "  approval: {envelope: Exact}\n",
        lambda t: t + "  execution: {cooldown: 1m}\n",
        lambda t: t + '  windows: {deny: [{schedule: "0 0 * * *", duration: 1h}]}\n',
        lambda t: t + "  changeTicket: {required: true}\n",
    ],
)
def test_what_a_policy_says_matters(change: Callable[[str], str]) -> None:
    assert version(change(POLICY)) != version(POLICY)
