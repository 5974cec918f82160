"""One test per reason why a pod may not move (spec 2.2); the reason is what the report shows for its node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import ClusterSnapshot, JobPolicy, Owner, Pod, VolcanoJob
from repack_gitops.model.plan import Code
from repack_gitops.planner import Envelope, PlannerOptions
from repack_gitops.planner.cascade.cascades import ONE_FOR_ONE
from tests.unit.planner.build import cluster, node, plan, pod, spec, without_groups


def with_other(subject: Pod, **more: object) -> ClusterSnapshot:
    """Return a cluster in which ``subject``, alone on node a, would move to node b if it may."""
    return cluster([node("a"), node("b")], [subject, pod("other", "b", 4)], **more)


def why(snapshot: ClusterSnapshot, options: PlannerOptions | None = None, **run: object) -> Code | None:
    """Return why node a stays; None if it is freed."""
    evaluation = plan(snapshot, spec(**run), options)  # type: ignore[arg-type]
    return None if "a" in evaluation.freed_nodes else evaluation.stays["a"].code


SUBJECT = pod("subject", "a", 1)


def test_the_subject_moves_unless_something_forbids_it() -> None:
    assert why(with_other(SUBJECT)) is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"mirror": True}, Code.MIRROR_POD),
        ({"owner": Owner("apps/v1", "DaemonSet", "agent")}, Code.DAEMON_SET),
        ({"terminating": True}, Code.TERMINATING),
        ({"scheduler_name": "default-scheduler"}, Code.OTHER_SCHEDULER),
        ({"pod_group": None}, Code.NO_POD_GROUP),
        ({"owner": None}, Code.NO_CONTROLLER),
        ({"owner": Owner("postgresql.cnpg.io/v1", "Cluster", "db")}, Code.UNKNOWN_CONTROLLER),
        ({"owner": Owner("batch/v1", "Job", "once")}, Code.OWNER_NOT_FOUND),
        ({"owner": Owner("v1", "Node", "a")}, Code.UNKNOWN_CONTROLLER),
        ({"unsupported": ("topologySpreadConstraints",)}, Code.UNSUPPORTED_CONSTRAINT),
    ],
)
def test_pod_that_may_not_move(changes: dict[str, object], code: Code) -> None:
    snapshot = with_other(replace(SUBJECT, **changes))  # type: ignore[arg-type]
    assert why(snapshot) is code
    assert "team/" in plan(snapshot).stays["a"].detail or code is Code.UNKNOWN_CONTROLLER


def test_pod_group_that_is_not_in_the_snapshot() -> None:
    snapshot = with_other(SUBJECT)
    groups = {k: g for k, g in snapshot.pod_groups.items() if k != ("team", "pg-subject")}
    assert why(replace(snapshot, pod_groups=groups)) is Code.POD_GROUP_NOT_FOUND


def test_pod_group_of_another_namespace_is_not_the_pods_own() -> None:
    snapshot = with_other(SUBJECT)
    moved = {("other" if k[1] == "pg-subject" else k[0], k[1]): g for k, g in snapshot.pod_groups.items()}
    assert why(replace(snapshot, pod_groups=moved)) is Code.POD_GROUP_NOT_FOUND


def test_pod_group_out_of_scope() -> None:
    assert why(with_other(SUBJECT), scope=without_groups("pg-subject")) is Code.POD_GROUP_OUT_OF_SCOPE


def test_pod_group_that_the_approval_does_not_name() -> None:
    approved = PlannerOptions(envelope=Envelope(pod_groups=frozenset({("team", "pg-other")})))
    assert why(with_other(SUBJECT), approved) is Code.POD_GROUP_OUT_OF_SCOPE


def test_node_that_the_approval_does_not_name() -> None:
    approved = PlannerOptions(envelope=Envelope(nodes=frozenset({"b"})))
    assert why(with_other(SUBJECT), approved) is Code.NODE_OUT_OF_SCOPE


def test_guardrails_on_namespaces_and_owner_kinds() -> None:
    assert why(with_other(SUBJECT), PlannerOptions(forbidden_namespaces=frozenset({"team"}))) is Code.POD_GROUP_OUT_OF_SCOPE
    assert why(with_other(SUBJECT), PlannerOptions(forbidden_owner_kinds=frozenset({"Job"}))) is Code.POD_GROUP_OUT_OF_SCOPE
    assert why(with_other(SUBJECT), PlannerOptions(forbidden_namespaces=frozenset({"else"}))) is None


def test_scheduler_names_are_an_option() -> None:
    snapshot = with_other(replace(SUBJECT, scheduler_name="volcano-2"))
    assert why(snapshot) is Code.OTHER_SCHEDULER
    assert why(snapshot, PlannerOptions(scheduler_names=frozenset({"volcano", "volcano-2"}))) is None


@pytest.mark.parametrize(("group", "kind"), sorted(ONE_FOR_ONE))
def test_controllers_that_recreate(group: str, kind: str) -> None:
    api_version = f"{group}/v1" if group else "v1"
    assert why(with_other(replace(SUBJECT, owner=Owner(api_version, kind, "w")))) is None


def test_a_kind_is_known_only_with_its_group() -> None:
    assert why(with_other(replace(SUBJECT, owner=Owner("example.com/v1", "StatefulSet", "w")))) is Code.UNKNOWN_CONTROLLER


def test_node_not_ready_is_not_emptied() -> None:
    snapshot = cluster([node("a", ready=False), node("b")], [SUBJECT, pod("other", "b", 4, scheduler_name="x")])
    assert why(snapshot) is Code.NODE_NOT_READY


def test_one_immovable_pod_pins_its_node_and_no_other() -> None:
    pods = [pod("stuck", "a", 1, owner=None), pod("free", "a", 1), pod("other", "b", 2)]
    evaluation = plan(cluster([node("a"), node("b")], pods))
    assert evaluation.freed_nodes == ("b",)
    assert evaluation.stays["a"].code is Code.NO_CONTROLLER


@pytest.mark.parametrize(
    "bystander",
    [
        pod("cpu", "a", 0, owner=None, scheduler_name="default-scheduler", pod_group=None),
        pod("agent", "a", 0, owner=Owner("apps/v1", "DaemonSet", "cni")),
        pod("done", "a", 2, phase="Succeeded", owner=None),
        pod("broken", "a", 2, phase="Failed", mirror=True),
    ],
    ids=["cpu only", "DaemonSet without the resource", "succeeded", "failed"],
)
def test_pods_that_never_matter(bystander: Pod) -> None:
    snapshot = cluster([node("a"), node("b")], [SUBJECT, bystander, pod("other", "b", 4)])
    evaluation = plan(snapshot)
    assert evaluation.freed_nodes == ("a",)
    assert [m.pod for m in evaluation.moves] == ["subject"]


class TestVolcanoJobPolicies:
    """A VCJob whose policies end it or restart others is left alone (rows 56, 58 and 59 of the known faults)."""

    SECOND = replace(SUBJECT, name="second", node="b", uid="uid-second")

    def job(self, *policies: JobPolicy, tasks: dict[str, tuple[JobPolicy, ...]] | None = None) -> ClusterSnapshot:
        jobs = {
            ("team", name): VolcanoJob("team", name, policies if name == "subject" else (), tasks or {}, 3, 0)
            for name in ("subject", "other")
        }
        pods = [SUBJECT, self.SECOND, pod("other", "b", 4)]
        return cluster([node("a"), node("b")], pods, volcano_jobs=jobs)

    @pytest.mark.parametrize("action", ["AbortJob", "TerminateJob", "CompleteJob"])
    @pytest.mark.parametrize("event", ["PodEvicted", "PodFailed", "TaskFailed", "Unknown", "JobUnknown", "*"])
    def test_fatal(self, event: str, action: str) -> None:
        assert why(self.job(JobPolicy(frozenset({event}), action))) is Code.FATAL_POLICY

    @pytest.mark.parametrize("action", ["RestartJob", "RestartTask", "RestartPartition"])
    def test_cascading(self, action: str) -> None:
        assert why(self.job(JobPolicy(frozenset({"PodEvicted"}), action))) is Code.CASCADING_POLICY

    def test_policies_of_tasks_count_too(self) -> None:
        tasks = {"worker": (JobPolicy(frozenset({"PodEvicted"}), "RestartTask"),)}
        assert why(self.job(tasks=tasks)) is Code.CASCADING_POLICY

    def test_fatal_beats_cascading(self) -> None:
        both = (JobPolicy(frozenset({"PodEvicted"}), "RestartJob"), JobPolicy(frozenset({"PodFailed"}), "TerminateJob"))
        assert why(self.job(*both)) is Code.FATAL_POLICY

    def test_exit_codes_react_too(self) -> None:
        # exitCode: 137, action: AbortJob. Nobody knows with which code an evicted container ends, 137 and 143 most likely.
        snapshot = self.job(JobPolicy(frozenset(), "AbortJob"))
        assert why(snapshot) is Code.FATAL_POLICY
        assert plan(snapshot).stays["a"].detail == "Job.batch.volcano.sh team/subject would end: exitCode -> AbortJob"

    def test_the_reason_names_what_reacts(self) -> None:
        policies = (JobPolicy(frozenset({"PodFailed", "PodEvicted"}), "RestartJob"), JobPolicy(frozenset({"*"}), "RestartTask"))
        assert plan(self.job(*policies)).stays["a"].detail == (
            "Job.batch.volcano.sh team/subject would restart 2 pods: * -> RestartTask, PodEvicted/PodFailed -> RestartJob"
        )

    def test_other_events_do_not(self) -> None:
        assert why(self.job(JobPolicy(frozenset({"TaskCompleted"}), "CompleteJob"))) is None

    def test_a_job_that_is_missing_among_others(self) -> None:
        snapshot = self.job()
        jobs = {k: j for k, j in snapshot.volcano_jobs.items() if k[1] == "other"}
        assert why(replace(snapshot, volcano_jobs=jobs)) is Code.OWNER_NOT_FOUND

    def test_a_snapshot_without_any_job_is_warned_about(self) -> None:
        evaluation = plan(with_other(SUBJECT))
        assert evaluation.freed_nodes == ("a",)
        assert any("jobs.batch.volcano.sh" in w for w in evaluation.warnings)
        assert not plan(self.job()).warnings
