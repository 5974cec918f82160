"""What Volcano's own job controller restarts when a member of a VCJob is evicted, beside what we forecast.

Every row of the table is a job of its own; all are evicted at once, round by round, so that each policy costs no time.
KWOK removes pods without a word; where a row has an exit code, the test plays the kubelet and reports Failed before.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from repack_gitops.kube.client import connect
from repack_gitops.model.cluster import Pod
from repack_gitops.model.plan import Code
from tests.real.cascade.rounds import Namespace, Seen
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object, fake_node

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("cascade-vcjob")]

ROUNDS = 3
FATAL = {"AbortJob": "Aborted", "TerminateJob": "Terminated", "CompleteJob": "Completed"}


@dataclass(frozen=True)
class Row:
    """A VCJob of three workers and a parameter server, of which worker 0 is evicted.

    Attributes
    ----------
    exact
        Whether the forecast must be met to the pod; where it rests on events that may be raised and are not here, it may
        only name too much.
    exit_code
        With which code the kubelet reports the victim, if it does.
    """

    name: str
    job: tuple[Object, ...] = ()
    worker: tuple[Object, ...] = ()
    minimum: int = 4
    partitions: bool = False
    exact: bool = True
    exit_code: int | None = None
    spec: Object = field(default_factory=dict)


def on(event: str, action: str, **more: object) -> Object:
    return {"event": event, "action": action, **more}


ROWS = (
    Row("none"),
    Row("none-slack", minimum=2),
    Row("none-failed", exit_code=137),
    Row("evicted-pod", (on("PodEvicted", "RestartPod"),)),
    Row("evicted-pod-task", worker=(on("PodEvicted", "RestartPod"),)),
    Row("evicted-task", (on("PodEvicted", "RestartTask"),)),
    Row("evicted-partition", worker=(on("PodEvicted", "RestartPartition"),), partitions=True),
    Row("evicted-job", (on("PodEvicted", "RestartJob"),)),
    Row("any-job", (on("*", "RestartJob"),)),
    Row("unknown-job", (on("Unknown", "RestartJob"),), exact=False),
    Row("unknown-slack", (on("Unknown", "RestartJob"),), minimum=2, exact=False),
    Row("failed-job-silent", (on("PodFailed", "RestartJob"),), exact=False),
    Row("failed-job", (on("PodFailed", "RestartJob"),), exit_code=143),
    Row("failed-and-evicted", (on("PodEvicted", "RestartPod"), on("PodFailed", "RestartJob")), exit_code=143),
    Row("exit-code", ({"exitCode": 143, "action": "RestartJob"},), exit_code=143),
    Row("task-failed", (on("TaskFailed", "AbortJob"),), exact=False),
    Row("task-completed", (on("TaskCompleted", "CompleteJob"),)),
    Row("task-before-job", (on("PodEvicted", "AbortJob"),), worker=(on("PodEvicted", "RestartPod"),)),
    Row("other-task", (on("PodEvicted", "RestartTask"),), worker=(on("PodEvicted", "RestartPod"),)),
    Row("evicted-abort", (on("PodEvicted", "AbortJob"),)),
    Row("evicted-terminate", (on("PodEvicted", "TerminateJob"),)),
    Row("evicted-complete", (on("PodEvicted", "CompleteJob"),)),
    Row("restart-then-terminate", (on("PodEvicted", "RestartJob"), on("PodFailed", "TerminateJob")), exit_code=137),
    Row("one-retry", (on("PodEvicted", "RestartJob"),), spec={"maxRetry": 1}),
)


def volcano_job(row: Row, namespace: str) -> Object:
    """Return the VCJob of ``row``."""
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    template = {"spec": {"nodeSelector": {"cascade": namespace}, "containers": [container]}}
    replicas = 4 if row.partitions else 3
    worker: Object = {"name": "worker", "replicas": replicas, "template": template, "policies": list(row.worker)}
    if row.partitions:
        worker["partitionPolicy"] = {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 2}
    server: Object = {"name": "ps", "replicas": 1, "template": template}
    spec = {"schedulerName": "volcano", "minAvailable": row.minimum + row.partitions, "maxRetry": 3, **row.spec}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": row.name, "namespace": namespace},
        "spec": {**spec, "policies": list(row.job), "tasks": [worker, server]},
    }


def living(space: Namespace) -> set[str]:
    """Return the jobs of which all pods run."""
    return {
        name
        for name, job in space.workloads().items()
        if job.get("status", {}).get("running", 0) == sum(t["replicas"] for t in job["spec"]["tasks"])
    }


@pytest.fixture(scope="module")
def seen(control_plane: Cluster) -> Iterator[list[dict[str, Seen]]]:
    """What each round did to each job that was still alive before it."""
    name = f"cascade-vcjob-{uuid.uuid4().hex[:6]}"
    control_plane.create_namespace(name)
    control_plane.apply(fake_node(f"node-{name}", {}, cpu="1000", labels={"cascade": name}))
    with connect(control_plane.kubeconfig) as cluster:
        space = Namespace(control_plane, cluster, name, "jobs.batch.volcano.sh")
        control_plane.apply(*(volcano_job(row, name) for row in ROWS))
        space.settled(lambda: len(living(space)) == len(ROWS))
        yield [_round(space) for _ in range(ROUNDS)]
    control_plane.kubectl("delete", "namespace", name, "--wait=false")
    control_plane.kubectl("delete", "node", f"node-{name}", "--wait=false")


def _round(space: Namespace) -> dict[str, Seen]:
    codes = {row.name: row.exit_code for row in ROWS}

    def evict(pod: Pod) -> None:
        code = codes[pod.owner.name] if pod.owner else None
        if code is not None:
            space.fail(pod, code)
        space.evict(pod)

    return space.round({name: f"{name}-worker-0" for name in sorted(living(space))}, evict)


def names(found: Seen) -> frozenset[str]:
    return frozenset(name for _, name in found.forecast.restarts)


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_what_restarts(seen: list[dict[str, Seen]], row: Row) -> None:
    found = seen[0][row.name]
    assert f"{row.name}-worker-0" in found.restarted
    if found.forecast.refusal is not None and row.exact:
        assert found.forecast.refusal.code is Code.FATAL_POLICY
        assert phase(found.after) in FATAL.values()
        assert found.alive == 0
    elif row.name == "one-retry":
        assert phase(found.after) == "Failed"
    else:
        assert phase(found.after) == "Running"
        assert found.restarted <= names(found) or found.forecast.refusal is not None
        assert found.restarted == names(found) or not row.exact


def phase(job: Object) -> str:
    return str(job["status"]["state"]["phase"])


def retries(job: Object) -> int:
    return int(job["status"].get("retryCount", 0))


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_what_counts(seen: list[dict[str, Seen]], row: Row) -> None:
    """Never more than forecast, and just that where the forecast is exact; nobody dies who was to survive."""
    for found in (r[row.name] for r in seen if row.name in r):
        counted, told = retries(found.after) - retries(found.before), found.forecast.retries
        if found.forecast.refusal is not None:
            continue
        cost = told.cost if told else 0
        assert counted == cost or (counted < cost and not row.exact)
        if told is None or told.cost <= told.left:
            assert phase(found.after) == "Running"
        elif row.exact:
            assert phase(found.after) == "Failed"
            assert found.alive == 0


def test_the_third_restart_of_three_ends_a_job(seen: list[dict[str, Seen]]) -> None:
    for name in ("evicted-pod", "evicted-job", "any-job", "evicted-task"):
        lasts = [r[name].forecast.retries for r in seen]
        assert [r.left for r in lasts if r] == [2, 1, 0]
        assert [phase(r[name].after) for r in seen] == ["Running", "Running", "Failed"]


def test_a_job_without_policies_counts_nothing(seen: list[dict[str, Seen]]) -> None:
    assert [retries(r["none"].after) for r in seen] == [0, 0, 0]
