"""Safety options: who is left alone though the scheduler could place it elsewhere, one test per rule.

Rows are those of the reference's tables: feature table 32 (minimum age), 34 (priority), 35 (opt-out per pod); faults
25 (do-not-disrupt), 124 (the same pod moved every cycle), 130 (no total cap), 131 (an opt-out of moves alone).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.model.cluster import ClusterSnapshot, Owner, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Evaluation
from repack_gitops.model.protection import CLUSTER_AUTOSCALER, KARPENTER, OURS
from repack_gitops.model.safeguards import Safeguards, pod_group_workload, workload
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from tests.unit.planner.build import cluster, node, plan, pod, spec

SUBJECT = pod("subject", "a", 1)
JOB = ("batch.volcano.sh/v1alpha1", "Job")


def guarded(**fields: object) -> PlannerOptions:
    return PlannerOptions(safeguards=Safeguards(**fields))  # type: ignore[arg-type]


def with_other(subject: Pod) -> ClusterSnapshot:
    """Return a cluster in which ``subject``, alone on node a, would move to node b if it may; b cannot be emptied."""
    return cluster([node("a"), node("b")], [subject, pod("other", "b", 4, owner=None)])


def stays(snapshot: ClusterSnapshot, options: PlannerOptions | None = None) -> tuple[Code, str] | None:
    """Return why node a stays; None if it is freed."""
    evaluation = plan(snapshot, spec(), options)
    if "a" in evaluation.freed_nodes:
        return None
    reason = evaluation.stays["a"]
    return reason.code, reason.detail


def test_nothing_is_guarded_unless_somebody_says_so() -> None:
    odd = replace(SUBJECT, created="", priority=2_000_000_000, local_volumes=("hostPath(data)",))
    assert stays(with_other(odd)) is None


# ---- rows 25, 35 and 131: opting out ----
@pytest.mark.parametrize("said", [f"{OURS}=true", f"{KARPENTER}=true", f"{CLUSTER_AUTOSCALER}=false"])
def test_row_25_and_35_a_protected_pod_stays_and_the_annotation_is_named(said: str) -> None:
    assert stays(with_other(replace(SUBJECT, do_not_disrupt=said))) == (
        Code.DO_NOT_DISRUPT,
        f"pod team/subject has the annotation {said}",
    )


def test_row_131_a_protected_pod_group_keeps_all_its_members_though_they_are_preemptible() -> None:
    snapshot = with_other(SUBJECT)
    key = ("team", "pg-subject")
    groups = {**snapshot.pod_groups, key: replace(snapshot.pod_groups[key], do_not_disrupt=f"{OURS}=true")}
    assert stays(replace(snapshot, pod_groups=groups)) == (
        Code.DO_NOT_DISRUPT,
        f"PodGroup team/pg-subject has the annotation {OURS}=true",
    )


def test_a_protected_node_is_not_emptied_but_still_receives() -> None:
    snapshot = cluster([node("a", do_not_disrupt=f"{KARPENTER}=true"), node("b", 4)], [pod("p", "a", 1), pod("q", "b", 2)])
    evaluation = plan(snapshot)
    assert evaluation.freed_nodes == ("b",)
    assert [m.to_node for m in evaluation.moves] == ["a"]


def test_a_protected_node_says_why_it_stays() -> None:
    snapshot = with_other(SUBJECT)
    nodes = tuple(replace(n, do_not_disrupt=f"{OURS}=true") for n in snapshot.nodes)
    assert stays(replace(snapshot, nodes=nodes)) == (Code.DO_NOT_DISRUPT, f"the node has the annotation {OURS}=true")


def test_a_protected_pod_without_cards_does_not_matter() -> None:
    bystander = pod("bystander", "a", 0, do_not_disrupt=f"{OURS}=true")
    snapshot = cluster([node("a"), node("b")], [SUBJECT, bystander, pod("other", "b", 4, owner=None)])
    assert stays(snapshot) is None


# ---- row 32: minimum pod age ----
@pytest.mark.parametrize(
    ("created", "moves"),
    [
        ("2026-01-01T11:59:59Z", True),
        ("2026-01-01T12:00:00Z", True),
        ("2026-01-01T12:00:01Z", False),
        ("2026-01-01T13:00:00+02:00", True),  # 11:00 in UTC
        ("2026-01-01T11:30:00-02:00", False),  # 13:30 in UTC
        ("", False),
        ("yesterday", False),
        ("2026-01-01T00:00:00", False),  # no zone: it could be any time
    ],
)
def test_row_32_pods_younger_than_the_minimum_age_stay(created: str, moves: bool) -> None:
    found = stays(with_other(replace(SUBJECT, created=created)), guarded(created_before="2026-01-01T12:00:00Z"))
    assert (found is None) == moves
    assert moves or (found is not None and found[0] is Code.TOO_YOUNG)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-01T00:00:00"])
def test_row_32_a_limit_that_is_no_time_is_refused_and_not_ignored(text: str) -> None:
    with pytest.raises(InvalidInput, match="created_before"):
        evaluate(with_other(SUBJECT), spec(), guarded(created_before=text))


# ---- row 34: priority ----
@pytest.mark.parametrize(("priority", "most", "moves"), [(5, 5, True), (6, 5, False), (0, -1, False), (-1, -1, True)])
def test_row_34_pods_above_the_highest_priority_stay(priority: int, most: int, moves: bool) -> None:
    found = stays(with_other(replace(SUBJECT, priority=priority)), guarded(max_priority=most))
    expected = (Code.PRIORITY_TOO_HIGH, f"pod team/subject has priority {priority}, maxPriority is {most}")
    assert found == (None if moves else expected)


# ---- local storage ----
def test_local_storage_forbidden_names_the_volumes() -> None:
    odd = replace(SUBJECT, local_volumes=("hostPath(data)", "emptyDir(scratch)"))
    found = stays(with_other(odd), guarded(allow_local_storage=False))
    assert found is not None
    assert found[0] is Code.LOCAL_STORAGE
    assert "hostPath(data), emptyDir(scratch)" in found[1]
    assert stays(with_other(SUBJECT), guarded(allow_local_storage=False)) is None


# ---- row 124: recently moved ----
@pytest.mark.parametrize(
    "moved",
    [
        pod_group_workload("team", "pg-subject"),
        workload("team", *JOB, "subject"),  # as the pod's controller and as the PodGroup's
    ],
)
def test_row_124_a_workload_moved_not_long_ago_rests(moved: tuple[str, str, str]) -> None:
    found = stays(with_other(SUBJECT), guarded(recently_moved=frozenset({moved})))
    assert found is not None
    assert found[0] is Code.RECENTLY_MOVED
    assert f"{moved[1]} team/{moved[2]} was moved" in found[1]


def test_row_124_the_owner_of_the_pod_group_counts_too() -> None:
    # a Deployment's pods belong to a ReplicaSet each rollout makes anew; the PodGroup may belong to what is above it
    snapshot = with_other(replace(SUBJECT, owner=Owner("apps/v1", "ReplicaSet", "web-1")))
    key = ("team", "pg-subject")
    owned = replace(snapshot.pod_groups[key], owner=Owner("example.com/v1", "Service", "web"))
    snapshot = replace(snapshot, pod_groups={**snapshot.pod_groups, key: owned})
    for moved in (("team", "Service.example.com", "web"), ("team", "ReplicaSet.apps", "web-1")):
        found = stays(snapshot, guarded(recently_moved=frozenset({moved})))
        assert found is not None
        assert found[0] is Code.RECENTLY_MOVED


@pytest.mark.parametrize(
    "moved",
    [
        ("other", "Job.batch.volcano.sh", "subject"),
        ("team", "Job.batch", "subject"),
        ("team", "Job.batch.volcano.sh", "other"),
    ],
)
def test_namesakes_elsewhere_do_not_count(moved: tuple[str, str, str]) -> None:
    assert stays(with_other(SUBJECT), guarded(recently_moved=frozenset({moved}))) is None


# ---- row 130: caps ----
def ten() -> ClusterSnapshot:
    """Ten full candidates of a pod each and a big node that stays; 0 to 4 in namespace team, 5 to 9 in lab, two per job."""
    pods = [
        pod(f"p{i}", f"n{i}", 1, namespace="team" if i < 5 else "lab", owner=Owner(*JOB, f"job-{i // 2}")) for i in range(10)
    ]
    nodes = [node(f"n{i}", 1) for i in range(10)]
    return cluster([*nodes, node("r", 64)], [*pods, pod("stays", "r", 1, owner=None)])


def of_namespace(evaluation: Evaluation) -> tuple[int, int]:
    names = [m.namespace for m in evaluation.moves]
    return names.count("team"), names.count("lab")


@pytest.mark.parametrize(("limit", "moved"), [(None, 5), (0, 0), (1, 1), (3, 3), (5, 5), (9, 5)])
def test_row_130_cap_per_namespace(limit: int | None, moved: int) -> None:
    evaluation = plan(ten(), spec(), guarded(pods_per_namespace=limit))
    assert of_namespace(evaluation) == (moved, moved)
    if moved < 5:
        reason = next(r for n, r in evaluation.stays.items() if n != "r")
        assert reason.code is Code.NAMESPACE_CAP_EXCEEDED
        assert f"maxPodsPerNamespace of team: {limit} left, {moved} taken by nodes before it, 1 needed here" in reason.detail


@pytest.mark.parametrize(("limit", "moved"), [(None, 10), (0, 0), (1, 6), (2, 10)])
def test_row_130_cap_per_owner(limit: int | None, moved: int) -> None:
    # job-2 has a pod in either namespace: these are two jobs of one name, so with a cap of 1 six pods move, not five
    evaluation = plan(ten(), spec(), guarded(pods_per_owner=limit))
    assert len(evaluation.moves) == moved
    if moved < 10:
        reasons = {r.code for n, r in evaluation.stays.items() if n != "r"}
        assert reasons == {Code.OWNER_CAP_EXCEEDED}


def test_row_130_all_caps_and_the_budget_hold_at_once() -> None:
    options = guarded(pods_per_namespace=2, pods_per_owner=1)
    assert of_namespace(plan(ten(), spec(), options)) == (2, 2)
    assert len(plan(ten(), spec(cards=3), options).moves) == 3
    assert len(plan(ten(), spec(pod_groups=1), options).moves) == 1


def test_a_node_that_alone_exceeds_a_cap_does_not_stop_the_others() -> None:
    pods = [pod("p", "a", 1, owner=Owner(*JOB, "x")), pod("q", "a", 1, owner=Owner(*JOB, "x")), pod("z", "b", 3)]
    snapshot = cluster([node("a", 2), node("b"), node("r", 64)], [*pods, pod("stays", "r", 1, owner=None)])
    evaluation = plan(snapshot, spec(), guarded(pods_per_owner=1))
    assert evaluation.freed_nodes == ("b",)
    assert evaluation.stays["a"].code is Code.OWNER_CAP_EXCEEDED


def test_the_owner_is_the_pod_groups_as_the_plan_shows_it() -> None:
    # two ReplicaSets in PodGroups of one owner above them: together they count as that owner's
    pods = [pod(f"p{i}", f"n{i}", 1, owner=Owner("apps/v1", "ReplicaSet", f"rs-{i}")) for i in range(2)]
    snapshot = cluster([node("n0"), node("n1"), node("r", 64)], [*pods, pod("stays", "r", 1, owner=None)])
    top = Owner("example.com/v1", "Service", "web")
    groups = {k: replace(g, owner=top) if k[1] != "pg-stays" else g for k, g in snapshot.pod_groups.items()}
    evaluation = plan(replace(snapshot, pod_groups=groups), spec(), guarded(pods_per_owner=1))
    assert len(evaluation.moves) == 1
    assert {m.owner for m in evaluation.moves} == {top}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"pods_per_namespace": 4}, "5 pods of namespace lab move, 4 may"),
        ({"pods_per_owner": 1}, "2 pods of Job.batch.volcano.sh team/job-0 move, 1 may"),
        ({"max_priority": -1}, "PriorityTooHigh"),
        ({"created_before": "2000-01-01T00:00:00Z"}, "TooYoung"),
        ({"recently_moved": frozenset({("team", "Job.batch.volcano.sh", "job-0")})}, "RecentlyMoved"),
    ],
)
def test_the_judge_knows_every_option(fields: dict[str, object], said: str) -> None:
    evaluation = evaluate(ten(), spec())
    assert verify(ten(), spec(), evaluation) == ()
    assert any(said in problem for problem in verify(ten(), spec(), evaluation, guarded(**fields)))
