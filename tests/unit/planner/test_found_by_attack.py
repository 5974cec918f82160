"""Odd clusters that once gave a wrong plan; each is the smallest that did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import JobPolicy, VolcanoJob
from repack_gitops.model.plan import Code, Verdict
from repack_gitops.model.run import PodGroupScope, PodGroupSet, Scope, Selector
from repack_gitops.planner import evaluate
from tests.unit.planner.build import cluster, layout, node, pod, spec


def test_a_pod_larger_than_its_shrunken_node_needs_one_node_not_two() -> None:
    nodes = [node(f"n{i}", 4) for i in range(3)]
    found = evaluate(cluster(nodes, [pod("big", "n0", 8), pod("a", "n1", 2), pod("b", "n2", 2)]), spec())
    assert (found.before.optimal, found.before.exact) == (2, False)
    assert found.freed_nodes == ("n1",)
    assert found.after.percent == 0


def test_no_rate_is_negative_when_nodes_shrank() -> None:
    nodes = [node(f"n{i}", 4) for i in range(5)]
    pods = [pod("big", "n0", 12), *(pod(f"p{i}", f"n{i}", 1) for i in range(1, 5))]
    assert evaluate(cluster(nodes, pods), spec()).after.percent >= 0


@pytest.mark.parametrize("event", ["PodPending", "PodRunning", "SomethingNew"])
def test_an_event_that_is_not_known_to_be_harmless_counts(event: str) -> None:
    base = layout([4, 2])
    policies = (JobPolicy(frozenset({event}), "AbortJob"),)
    jobs = {("team", name): VolcanoJob("team", name, policies, {}, 3, 0) for name in ("p0", "p1")}
    found = evaluate(replace(base, volcano_jobs=jobs), spec())
    assert found.verdict is Verdict.INSUFFICIENT
    assert {r.code for r in found.stays.values()} == {Code.FATAL_POLICY}


def test_completion_of_a_task_is_no_eviction() -> None:
    policies = (JobPolicy(frozenset({"TaskCompleted"}), "CompleteJob"),)
    jobs = {("team", name): VolcanoJob("team", name, policies, {}, 3, 0) for name in ("p0", "p1")}
    assert evaluate(replace(layout([4, 2]), volcano_jobs=jobs), spec()).verdict is Verdict.RECOMMENDED


def test_an_owner_that_is_being_deleted_recreates_nothing() -> None:
    jobs = {("team", n): VolcanoJob("team", n, (), {}, 3, 0, deleting=True) for n in ("p0", "p1")}
    found = evaluate(replace(layout([4, 2]), volcano_jobs=jobs), spec())
    assert {r.code for r in found.stays.values()} == {Code.OWNER_NOT_FOUND}


@pytest.mark.parametrize(
    ("change", "code"),
    [({"deleting": True}, Code.POD_GROUP_NOT_FOUND), ({"unsupported": ("networkTopology",)}, Code.UNSUPPORTED_CONSTRAINT)],
)
def test_groups_that_are_deleted_or_bound_to_a_topology_do_not_move(change: dict[str, object], code: Code) -> None:
    base = layout([4, 2])
    groups = {key: replace(group, **change) for key, group in base.pod_groups.items()}  # type: ignore[arg-type]
    assert {r.code for r in evaluate(replace(base, pod_groups=groups), spec()).stays.values()} == {code}


def test_a_scope_that_matches_no_group_is_said() -> None:

    scope = Scope(pod_groups=PodGroupScope(include=PodGroupSet(selector=Selector(match_labels={"no": "such"}))))
    assert any("matches no PodGroup at all" in w for w in evaluate(layout([4, 2]), spec(scope=scope)).warnings)
