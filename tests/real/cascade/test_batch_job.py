"""What the Job controller of Kubernetes does when a pod of a batch/v1 Job is evicted, beside what we forecast.

The test plays the kubelet: it reports an evicted pod as Failed, with an exit code, while the controller's finalizer holds
it. KWOK would remove that finalizer, so it only starts the pods; then the node is replaced by one that it leaves alone.
Replacements come after the controller's back-off of 10 and then 20 s, which is why there are only two rounds.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from repack_gitops.kube.client import connect
from repack_gitops.model.cluster import Pod
from repack_gitops.model.plan import Code
from tests.real.cascade.rounds import Namespace, Seen
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object, fake_node
from tests.testbed.waiting import wait_for

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("cascade-batch-job")]

DISRUPTED: Object = {"onPodConditions": [{"type": "DisruptionTarget"}]}


def rules(*found: Object) -> Object:
    return {"podFailurePolicy": {"rules": list(found)}}


def codes(action: str, operator: str, *values: int) -> Object:
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(values)}}


@dataclass(frozen=True)
class Row:
    """A Job of two pods, of which one is evicted and ends with ``exit_code``.

    Attributes
    ----------
    lives, failed
        Round by round: whether the Job goes on, and how many failures it has counted if so.
    """

    name: str
    spec: Object
    lives: tuple[bool, ...]
    failed: tuple[int, ...]
    refusal: Code | None = None
    exit_code: int = 143


INDEXED: Object = {"completionMode": "Indexed"}
ROWS = (
    Row("limit-0", {"backoffLimit": 0}, (False,), (0,)),
    Row("limit-1", {"backoffLimit": 1}, (True, False), (1, 0)),
    Row("limit-6", {}, (True, True), (1, 2)),
    Row("ignored", {"backoffLimit": 0, **rules({"action": "Ignore", **DISRUPTED})}, (True, True), (0, 0)),
    Row("counted", {"backoffLimit": 1, **rules({"action": "Count", **DISRUPTED})}, (True, False), (1, 0)),
    Row("failing", {**rules({"action": "FailJob", **DISRUPTED})}, (False,), (0,), Code.FATAL_POLICY),
    Row(
        "code-first",
        rules(codes("FailJob", "In", 143), {"action": "Ignore", **DISRUPTED}),
        (False,),
        (0,),
        Code.FATAL_POLICY,
    ),
    Row(
        "other-code", {"backoffLimit": 0, **rules(codes("FailJob", "In", 42), {"action": "Ignore", **DISRUPTED})}, (True,), (0,)
    ),
    Row("index-0", {**INDEXED, "backoffLimitPerIndex": 0}, (True,), (1,), Code.LAST_RETRY),
    Row("index-1", {**INDEXED, "backoffLimitPerIndex": 1}, (True,), (1,)),
    Row(
        "fail-index",
        {**INDEXED, "backoffLimitPerIndex": 3, **rules({"action": "FailIndex", **DISRUPTED})},
        (True,),
        (1,),
        Code.FATAL_POLICY,
    ),
)
BY_NAME = {row.name: row for row in ROWS}


def job(row: Row, namespace: str) -> Object:
    """Return the Job of ``row``."""
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    pod = {
        "schedulerName": "volcano",
        "restartPolicy": "Never",
        "nodeSelector": {"cascade": namespace},
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    spec = {"parallelism": 2, "completions": 2, **row.spec, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": row.name, "namespace": namespace}, "spec": spec}


def living(space: Namespace) -> dict[str, list[Pod]]:
    """Return the pods of every Job that are neither finished nor going, by the Job's name."""
    found: dict[str, list[Pod]] = {}
    for pod in space.snapshot().pods:
        if pod.owner and pod.active and not pod.terminating:
            found.setdefault(pod.owner.name, []).append(pod)
    return found


@pytest.fixture(scope="module")
def seen(control_plane: Cluster) -> Iterator[list[dict[str, Seen]]]:
    """What each round did to each Job that was to be alive before it."""
    name = f"cascade-job-{uuid.uuid4().hex[:6]}"
    control_plane.create_namespace(name)
    control_plane.apply(fake_node(f"node-{name}", {}, cpu="1000", labels={"cascade": name}))
    with connect(control_plane.kubeconfig) as cluster:
        space = Namespace(control_plane, cluster, name, "jobs.batch")
        control_plane.apply(*(job(row, name) for row in ROWS))
        wait_for("all Jobs to run", lambda: _running(space) == 2 * len(ROWS), 90, 1)
        _leave_alone(control_plane, name)
        yield [_round(space, number) for number in range(2)]
    control_plane.kubectl("delete", "namespace", name, "--wait=false")
    control_plane.kubectl("delete", "node", f"node-{name}", "--wait=false")


def _running(space: Namespace) -> int:
    return sum(p.phase == "Running" for pods in living(space).values() for p in pods)


def _leave_alone(plane: Cluster, name: str) -> None:
    """Put a node of the same name in the place of KWOK's."""
    node = fake_node(f"node-{name}", {}, cpu="1000", labels={"cascade": name})
    del node["metadata"]["annotations"]
    plane.kubectl("delete", "node", f"node-{name}")
    plane.apply(node)


def _round(space: Namespace, number: int) -> dict[str, Seen]:
    rows = [row for row in ROWS if len(row.lives) > number]
    pods = {name: [p for p in found if p.phase == "Running"] for name, found in living(space).items()}

    def evict(pod: Pod) -> None:
        space.evict(pod)
        space.fail(pod, BY_NAME[pod.owner.name if pod.owner else ""].exit_code)

    def replaced() -> bool:
        """Every Job that is to live has its two pods again, but those that gave an index up."""
        alive = [r for r in rows if r.lives[number] and r.name not in ("index-0", "fail-index")]
        now = living(space)
        return all(len(now.get(r.name, ())) == 2 for r in alive)

    victims = {row.name: min(pods[row.name], key=lambda p: p.name).name for row in rows}
    return space.round(victims, evict, replaced)


def ended(found: Seen) -> bool:
    conditions = found.after["status"].get("conditions", ())
    return any(c["type"] == "Failed" and c["status"] == "True" for c in conditions)


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_how_a_job_ends(seen: list[dict[str, Seen]], row: Row) -> None:
    """What the table says is what happens, and what happens is what the forecast says."""
    for number, lives in enumerate(row.lives):
        found = seen[number][row.name]
        assert ended(found) is not lives
        assert not lives or found.after["status"].get("failed", 0) == row.failed[number]
        told = found.forecast.retries
        if row.refusal is not None:
            assert found.forecast.refusal is not None
            assert found.forecast.refusal.code is row.refusal
        else:
            assert found.forecast.refusal is None
            assert lives is (told is None or told.cost <= told.left)


@pytest.mark.parametrize("name", ["index-0", "fail-index"])
def test_an_index_that_is_given_up_does_not_come_back(seen: list[dict[str, Seen]], name: str) -> None:
    found = seen[0][name]
    assert found.after["status"]["failedIndexes"] == "0"
    assert found.alive == 1


@pytest.mark.parametrize("name", ["ignored", "limit-6", "index-1"])
def test_only_the_victim_is_replaced(seen: list[dict[str, Seen]], name: str) -> None:
    found = seen[0][name]
    assert found.restarted == {pod for _, pod in found.forecast.restarts}
    assert found.alive == 2
