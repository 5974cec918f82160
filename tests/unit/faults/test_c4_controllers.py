"""What gangs, jobs and serving controllers make of an eviction (table C4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.faults.manifests import (
    VCJOB,
    Object,
    after,
    anchor,
    moves,
    node,
    other,
    owner,
    plan,
    pod,
    pod_group,
    stage,
    subject,
    told,
    vcjob,
    why,
)

EVICTED = {"event": "PodEvicted"}


def job_pod(**more: Any) -> Object:
    return subject(owner=owner("Job", "train", VCJOB), annotations={"volcano.sh/task-spec": "worker"}, **more)


def train(*policies: Object, tasks: Sequence[Object] = ()) -> list[Object]:
    """Return the stage with a pod of the VCJob ``train`` that has ``policies``."""
    return [*stage(job_pod()), vcjob("train", policies, tasks)]


@pytest.mark.parametrize("action", ["RestartTask", "RestartPartition", "RestartJob"])
def test_fault_56_a_policy_that_restarts_more_than_the_pod(action: str) -> None:
    """B 56, volcano#4814: evicting one of three members restarts them all, and again and again; none is evicted."""
    fields = {"group": "train", "owner": owner("Job", "train", VCJOB), "annotations": {"volcano.sh/task-spec": "worker"}}
    labels = {"volcano.sh/task-spec": "worker", "volcano.sh/job-name": "train", "volcano.sh/partition-id": "0"}
    gang = [pod(f"train-{i}", "source" if i == 0 else "target", 1, labels=labels, **fields) for i in range(3)]
    worker = {"name": "worker", "replicas": 3}
    restarts = {**worker, "policies": [{**EVICTED, "action": action}]}
    assert moves(*stage(*gang), vcjob("train", tasks=[worker])) == {"train-0": "target"}
    assert action in why(*stage(*gang), vcjob("train", tasks=[restarts]))


def test_fault_58_a_restart_that_turns_into_a_termination() -> None:
    """P 58, volcano#5885: a killed container may also raise PodFailed, which ends the job; such a pod stays."""
    restart = {**EVICTED, "action": "RestartJob"}
    assert "TerminateJob" in why(*train(restart, {"event": "PodFailed", "action": "TerminateJob"}))


@pytest.mark.parametrize("action", ["TerminateJob", "AbortJob", "CompleteJob"])
@pytest.mark.parametrize("of_task", [False, True])
def test_fault_59_a_policy_that_ends_the_job(action: str, of_task: bool) -> None:
    """P 59, volcano#3770: no pod of such a job is evicted, whether the job or its task says so."""
    policy = {**EVICTED, "action": action}
    task = {"name": "worker", "replicas": 1, "policies": [policy]}
    cluster = train(tasks=[task]) if of_task else train(policy)
    assert action in why(*cluster)


def test_fault_61_a_gang_that_can_spare_a_member_goes_first() -> None:
    """B 61, volcano#5805: of two nodes alike, the one is emptied whose gang keeps its minimum."""
    tight = [pod("tight-0", "a", 2, group="tight"), pod("tight-1", "target", 1, group="tight", schedulerName="other")]
    loose = [pod("loose-0", "b", 2, group="loose"), pod("loose-1", "target", 1, group="loose", schedulerName="other")]
    groups = [pod_group("tight", 2), pod_group("loose", 1)]
    cluster = [node("a"), node("b"), node("target", 4), *tight, *loose, *groups]
    found = plan(*cluster)
    assert found.freed_nodes == ("b",)
    assert not found.disruption.breaches


def test_fault_61_pods_that_wait_for_the_same_devices_are_counted() -> None:
    """B 61, volcano#5805: a waiting pod may take the room that a gang's member just left, so the plan says it waits."""
    gang = [pod(f"gang-{i}", "source", 1, group="gang") for i in range(2)]
    cluster = [*stage(*gang), pod_group("gang", 2)]
    said = "1 pending pod"
    assert not any(said in w for w in plan(*cluster).warnings)
    assert any(said in w for w in plan(*cluster, pod("filler", None, 1)).warnings)


def test_fault_61_pods_that_cannot_take_the_room_do_not_count() -> None:
    """B 61, volcano#5805: nominated elsewhere, gated, ended, on their way out, or waiting for something else."""
    harmless = [
        pod("nominated", None, 1, status={"nominatedNodeName": "target"}),
        pod("gated", None, 1, schedulingGates=[{"name": "example.com/hold"}]),
        pod("ended", None, 1, phase="Failed"),
        pod("leaving", None, 1, deletionTimestamp="2026-01-01T00:00:00Z"),
        pod("plain", None, 0),
    ]
    assert not plan(*stage(subject()), *harmless).warnings


def test_fault_62_a_deployment_that_is_being_rolled_out() -> None:
    """P 62, volcano#4739: its new PodGroup waits for a minimum that never comes; its pods stay, or the plan warns."""

    def replica_set(name: str) -> Object:
        reference = owner("Deployment", "web")
        return other("apps/v1", "ReplicaSet", name, {"replicas": 2}, ownerReferences=[reference])

    old = subject(group="pg-old", owner=owner(name="web-old"), labels={"app": "web", "pod-template-hash": "old"})
    new = pod("new", None, 1, group="pg-new", owner=owner(name="web-new"), labels={"app": "web", "pod-template-hash": "new"})
    sets = [replica_set("web-old"), replica_set("web-new")]
    found = plan(*stage(old, new), *sets, pod_group("pg-old", 1), pod_group("pg-new", 2))
    assert not found.moves or any("pg-old" in w or "web" in w for w in found.warnings)


def test_fault_64_members_that_succeeded_still_count() -> None:
    """P 64, volcano#457: eight tasks, six needed, four done and four running: two may go without a breach."""
    done = [pod(f"done-{i}", "gone", 1, group="gang", phase="Succeeded") for i in range(4)]
    running = [pod(f"runs-{i}", "source" if i < 2 else "target", 1, group="gang") for i in range(4)]
    cluster = [*stage(*done, *running), node("gone"), pod_group("gang", 6)]
    found = plan(*cluster)
    assert found.freed_nodes == ("source",)
    (impact,) = found.impacts
    assert (impact.running, impact.slack, impact.breached) == (8, 2, False)


@pytest.mark.parametrize("minimum", [None, 0])
def test_fault_65_a_pod_group_without_a_minimum(minimum: int | None) -> None:
    """P 65, volcano#5075: minResources alone keeps nobody; no member is missed, and nothing is divided by zero."""
    group = pod_group("pg-subject", minimum, minResources={"cpu": "4"})
    found = plan(*stage(subject()), group)
    assert found.freed_nodes == ("source",)
    assert (found.impacts[0].min_available, found.disruption.breaches) == (0, 0)


@pytest.mark.parametrize("layout", [(1, 1, 1), (4, 2, 2, 6), (5, 3, 3, 1), (2, 2, 2, 2), (7, 1, 1, 6, 3)])
def test_fault_68_what_moved_does_not_move_back(layout: tuple[int, ...]) -> None:
    """P 68, volcano#377: planning again after the plan ends soon, and no pod ever returns to a node it left."""
    cluster = [item for i, n in enumerate(layout) for item in (node(f"n{i}"), pod(f"p{i}", f"n{i}", n))]
    left: set[tuple[str, str]] = set()
    occupied = len(layout)
    while found := plan(*cluster).moves:
        assert not left & {(m.pod, m.to_node) for m in found}
        left |= {(m.pod, m.from_node) for m in found}
        cluster = after(cluster, plan(*cluster))
        assert plan(*cluster).before.occupied < occupied
        occupied = plan(*cluster).before.occupied
    assert plan(*cluster).moves == ()


@pytest.mark.parametrize("layout", [(1, 1, 1), (2, 2, 2, 2), (4, 4)])
def test_fault_68_a_second_plan_is_empty(layout: tuple[int, ...]) -> None:
    """P 68, volcano#377: where the first plan reached the fewest nodes, the second has nothing to say."""
    cluster = [item for i, n in enumerate(layout) for item in (node(f"n{i}"), pod(f"p{i}", f"n{i}", n))]
    first = plan(*cluster)
    assert first.after.occupied == 1
    again = plan(*after(cluster, first))
    assert again.moves == ()
    assert again.verdict.value == "NoFragmentation"


SERVING = "workload.serving.volcano.sh/v1alpha1"


def serving(policy: str) -> list[Object]:
    member = subject(
        owner=owner("ModelServing", "llm", SERVING),
        labels={"modelserving.volcano.sh/name": "llm", "modelserving.volcano.sh/group-name": "llm-0"},
    )
    spec = {"replicas": 1, "recoveryPolicy": policy, "template": {"roles": [{"name": "decode", "replicas": 1}]}}
    return [*stage(member), other(SERVING, "ModelServing", "llm", spec)]


def test_fault_70_a_serving_group_that_does_not_recover() -> None:
    """P 70, kthena#1661: with recovery policy None the replica may be lost, so it stays, and the policy is named."""
    assert moves(*serving("RoleRecreate")) == {"subject": "target"}
    assert "recoveryPolicy" in why(*serving("None"))


BATCH, JOBSET = "batch/v1", "jobset.x-k8s.io/v1alpha2"


def job_set(restarts: int) -> list[Object]:
    member = subject(owner=owner("Job", "js-worker-0", BATCH), labels={"jobset.sigs.k8s.io/jobset-name": "js"})
    child = other(BATCH, "Job", "js-worker-0", {"backoffLimit": 0}, ownerReferences=[owner("JobSet", "js", JOBSET)])
    parent = other(JOBSET, "JobSet", "js", {"failurePolicy": {"maxRestarts": 3}}, {"restarts": restarts})
    return [*stage(member), child, parent]


def test_fault_73_a_job_set_without_a_restart_left_stays() -> None:
    """P 73, jobset#574: one more failure ends it, so its pods stay."""
    why(*job_set(3))


def test_fault_73_the_job_set_is_named() -> None:
    """P 73, jobset#574: the reason tells whose last restart it would be, and with restarts left the cascade is shown."""
    assert "JobSet" in why(*job_set(3))
    assert "JobSet" in told(plan(*job_set(0)))


def batch_job(**policy: Any) -> list[Object]:
    return [*stage(subject(owner=owner("Job", "crunch", BATCH))), other(BATCH, "Job", "crunch", {"backoffLimit": 0, **policy})]


IGNORE = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def test_fault_74_a_job_without_a_retry_left_stays() -> None:
    """B 74, kubernetes#130881: without a policy for disruptions the eviction is a failure, and the first one is fatal."""
    assert "Job" in why(*batch_job())


def test_fault_74_a_job_that_ignores_disruptions_may_move() -> None:
    """B 74, kubernetes#130881: an eviction does not count as a failure then."""
    assert moves(*batch_job(podFailurePolicy={"rules": [IGNORE]})) == {"subject": "target"}


def test_fault_76_an_unknown_operator() -> None:
    """P 76, descheduler#1689: nobody knows whether it recreates evicted pods; its kind is named and its pods stay."""
    cnpg = subject(owner=owner("Cluster", "pg", "postgresql.cnpg.io/v1"))
    assert "Cluster.postgresql.cnpg.io" in why(*stage(cnpg))
    assert moves(*stage(subject())) == {"subject": "target"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"owner": owner("DaemonSet", "plugin")}, "DaemonSet"),
        ({"owner": owner("Node", "source", "v1"), "annotations": {"kubernetes.io/config.mirror": "hash"}}, "MirrorPod"),
        ({"owner": None}, "NoController"),
    ],
)
def test_fault_80_pods_that_would_come_back_or_be_lost(fields: Object, code: str) -> None:
    """P 80, descheduler#378: each of them holds its node, and is named."""
    reason = why(*stage(subject(**fields)))
    assert reason.startswith(f"{code}: ")
    assert "team/subject" in reason


def test_fault_80_without_devices_they_do_not_matter() -> None:
    """P 80, descheduler#378: a node counts as freed when nobody on it holds the resource."""
    plugin = pod("plugin", "source", 0, owner=owner("DaemonSet", "plugin"), schedulerName="default-scheduler", group=None)
    assert moves(*stage(subject(), plugin)) == {"subject": "target"}
    assert moves(node("source"), node("target"), anchor(), subject(), plugin) == {"subject": "target"}
