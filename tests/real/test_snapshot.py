"""Both doors of a ClusterSnapshot, on a real control plane: what kubectl prints, what we write, and the live API."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from repack_gitops.files.snapshot import read_objects, read_snapshot, write_snapshot
from repack_gitops.kube.client import LiveCluster, connect
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from tests.testbed.cluster import Cluster
from tests.testbed.control_plane import ControlPlane
from tests.testbed.nodes import Object, fake_node
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real

KINDS = (
    "nodes,pods,podgroups.scheduling.volcano.sh,queues.scheduling.volcano.sh,jobs.batch.volcano.sh,jobs.batch,poddisruptionbudgets,"
    "namespaces,persistentvolumeclaims,persistentvolumes,storageclasses,csidrivers,csinodes,volumeattachments"
)
GPU = "nvidia.com/gpu"
#: More than one page of 500.
LOOSE_PODS = 520


def container(cards: int = 1) -> Object:
    return {"name": "work", "image": "x", "resources": {"limits": {GPU: str(cards)}, "requests": {"cpu": "250m"}}}


def named(api_version: str, kind: str, name: str, spec: Object, **meta: object) -> Object:
    metadata = {"name": name, "namespace": "default", **meta}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def workloads() -> list[Object]:
    labels = {"app": "web"}
    anti = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    template = {
        "metadata": {"labels": labels, "annotations": {"note": "dropped"}},
        "spec": {
            "schedulerName": "volcano",
            "containers": [container()],
            "initContainers": [{**container(2), "name": "first"}, {**container(0), "name": "side", "restartPolicy": "Always"}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}},
        },
    }
    task = {
        "name": "worker",
        "replicas": 4,
        "policies": [{"event": "PodEvicted", "action": "RestartTask"}],
        "template": {"metadata": {"labels": {"job": "train"}}, "spec": {"containers": [container(2)]}},
    }
    return [
        named("apps/v1", "Deployment", "web", {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}),
        named("policy/v1", "PodDisruptionBudget", "web", {"minAvailable": "50%", "selector": {"matchLabels": labels}}),
        named("policy/v1", "PodDisruptionBudget", "train", {"minAvailable": 3, "selector": {"matchLabels": {"job": "train"}}}),
        named(
            "batch.volcano.sh/v1alpha1",
            "Job",
            "train",
            {"schedulerName": "volcano", "minAvailable": 4, "queue": "default", "maxRetry": 5, "tasks": [task]},
        ),
        named("v1", "Pod", "waiting", {"schedulerName": "nobody", "containers": [container(8)]}),
    ]


def loose_pod(index: int) -> Object:
    spec = {"nodeName": f"node-{index % 6}", "containers": [{"name": "work", "image": "x"}]}
    return named("v1", "Pod", f"loose-{index:03}", spec)


def fill(plane: Cluster) -> None:
    plane.apply(*(fake_node(f"node-{i}", {GPU: 8}, labels={"zone": f"z{i % 2}"}) for i in range(6)))
    plane.apply(*workloads(), *map(loose_pod, range(LOOSE_PODS)))
    wait_for("all pods to run", lambda: settled(plane), 120)


def settled(plane: Cluster) -> bool:
    """Say whether nothing will change any more."""
    phases = plane.kubectl("get", "pods", "-o", "jsonpath={.items[*].status.phase}").split()
    allowed = plane.kubectl("get", "pdb", "-o", "jsonpath={.items[*].status.disruptionsAllowed}").split()
    return phases.count("Running") == LOOSE_PODS + 6 and allowed == ["1", "1"]


@pytest.fixture
def plane(own_control_plane: Callable[..., ControlPlane]) -> ControlPlane:
    started = own_control_plane()
    fill(started)
    return started


def live(cluster: LiveCluster) -> ClusterSnapshot:
    return build_snapshot(cluster.list_objects())


def test_both_doors_give_one_snapshot(plane: ControlPlane, tmp_path: Path) -> None:
    with connect(plane.kubeconfig) as cluster:
        before = live(cluster)
        files = [*printed_by_kubectl(plane, tmp_path), *written_by_us(cluster, tmp_path)]
        assert live(cluster) == before  # nothing moved meanwhile
        by_name = {pod.name: pod for pod in cluster.list_pods().pods}
    for file in files:
        assert read_snapshot(file) == before, file.name
    assert by_name == {pod.name: pod for pod in before.pods}
    check(before)
    assert b"dropped" not in b"".join(f.read_bytes() for f in files if f.name.startswith("ours"))


def printed_by_kubectl(plane: ControlPlane, folder: Path) -> list[Path]:
    files = []
    for layout in ("json", "yaml"):
        text = plane.kubectl("get", KINDS, "-A", "-o", layout).encode()
        plain, packed = folder / f"kubectl.{layout}", folder / f"kubectl.{layout}.gz"
        plain.write_bytes(text)
        packed.write_bytes(gzip.compress(text))
        files += [plain, packed]
    return files


def written_by_us(cluster: LiveCluster, folder: Path) -> list[Path]:
    objects = list(cluster.list_objects())
    files = [folder / f"ours.{suffix}" for suffix in ("json", "yaml", "json.gz", "yaml.gz")]
    for file in files:
        write_snapshot(file, objects)
    assert list(read_objects(files[0])) == list(read_objects(files[1]))
    return files


def check(snapshot: ClusterSnapshot) -> None:
    """Look at what every door must have seen."""
    assert [node.name for node in snapshot.nodes] == [f"node-{i}" for i in range(6)]
    assert all(node.ready and node.allocatable[GPU] == 8000 for node in snapshot.nodes)
    assert len(snapshot.pods) == LOOSE_PODS + 7
    pods = {pod.name: pod for pod in snapshot.pods}
    worker = pods["train-worker-0"]
    assert (worker.pod_group in {key[1] for key in snapshot.pod_groups}, worker.requests[GPU], worker.ready) == (
        True,
        2000,
        True,
    )
    assert worker.owner is not None
    assert (worker.owner.kind, worker.owner.group) == ("Job", "batch.volcano.sh")
    web = next(pod for name, pod in pods.items() if name.startswith("web-"))
    assert (web.requests[GPU], web.pod_group is not None, len(web.relations.anti_affinity)) == (2000, True, 1)
    assert (pods["waiting"].node, pods["waiting"].phase) == (None, "Pending")
    assert {b.name: b.disruptions_allowed for b in snapshot.budgets} == {"train": 1, "web": 1}
    job = snapshot.volcano_jobs["default", "train"]
    assert (job.max_retry, job.task_policies["worker"][0].action) == (5, "RestartTask")


def test_other_kinds_that_kubectl_prints_are_counted(control_plane: Cluster, namespace: str, tmp_path: Path) -> None:
    file = tmp_path / "printed.yaml"
    file.write_text(control_plane.kubectl("get", "configmaps,serviceaccounts", "-n", namespace, "-o", "yaml"))
    skipped: Counter[str] = Counter()
    assert read_snapshot(file, skipped=skipped).pods == ()
    assert skipped == {"ConfigMap": 1, "ServiceAccount": 1}


def test_a_raw_typed_list_is_read(control_plane: Cluster, namespace: str, tmp_path: Path) -> None:
    control_plane.apply({**loose_pod(0), "metadata": {"name": "a", "namespace": namespace}})
    file = tmp_path / "raw.json"
    file.write_text(control_plane.kubectl("get", "--raw", f"/api/v1/namespaces/{namespace}/pods"))
    assert [o.metadata.name for o in read_objects(file)] == ["a"]  # type: ignore[attr-defined]


def test_a_raw_first_page_is_refused(control_plane: Cluster, namespace: str, tmp_path: Path) -> None:
    pods = [{**loose_pod(i), "metadata": {"name": f"p{i}", "namespace": namespace}} for i in range(2)]
    control_plane.apply(*pods)
    file = tmp_path / "raw.json"
    file.write_text(control_plane.kubectl("get", "--raw", f"/api/v1/namespaces/{namespace}/pods?limit=1"))
    with pytest.raises(Exception, match="only the first page of a longer one"):
        read_snapshot(file)
