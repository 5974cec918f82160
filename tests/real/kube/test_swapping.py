"""Leases and RepackRuns on a real API server: whoever comes second loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import Conflict, Lease
from repack_gitops.model.run import Goal, RepackRun, RunMetadata, RunSpec, RunStatus, new_run
from tests.testbed.cluster import Cluster
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real

CRD = Path(__file__).parents[3] / "schemas/repack.volcano.sh_repackruns.yaml"


def test_a_lease_has_one_holder(control_plane: Cluster, cluster: LiveCluster, namespace: str) -> None:
    wanted = Lease(
        namespace,
        "repack",
        holder="job/1",
        acquire_time="2026-01-01T00:00:00.000000Z",
        renew_time="2026-01-01T00:00:00.123456Z",
        transitions=1,
        annotations={"last-run": "r1"},
    )
    first = cluster.put_lease(wanted)
    assert isinstance(first, Lease)
    assert replace(first, resource_version="") == wanted
    assert isinstance(cluster.put_lease(wanted), Conflict)
    second = cluster.put_lease(replace(first, holder="job/2", annotations={"last-run": "r2"}))
    assert isinstance(second, Lease)
    assert isinstance(cluster.put_lease(first), Conflict)
    assert cluster.get_lease(namespace, "repack") == second
    released = cluster.put_lease(replace(second, holder=""))
    assert isinstance(released, Lease)
    assert (released.holder, released.annotations) == ("", {"last-run": "r2"})
    control_plane.kubectl("delete", "lease", "repack", "-n", namespace)
    assert isinstance(cluster.put_lease(released), Conflict)
    assert cluster.get_lease(namespace, "repack") is None


def test_an_administrators_labels_of_a_lease_stay(control_plane: Cluster, cluster: LiveCluster, namespace: str) -> None:
    metadata = {"name": "repack", "namespace": namespace, "labels": {"team": "a"}}
    control_plane.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata})
    found = cluster.get_lease(namespace, "repack")
    assert found is not None
    assert isinstance(cluster.put_lease(replace(found, holder="me", duration_seconds=60)), Lease)
    path = "jsonpath={.metadata.labels.team} {.spec.holderIdentity}"
    assert control_plane.kubectl("get", "lease", "repack", "-n", namespace, "-o", path) == "a me"


@pytest.fixture
def run(control_plane: Cluster, namespace: str) -> Iterator[RepackRun]:
    """A RepackRun named like the namespace."""
    control_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(CRD))
    control_plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(CRD))
    spec = RunSpec(mode="Execute", goals=[Goal(resource="nvidia.com/gpu")])
    yield new_run(RunMetadata(name=namespace, labels={"policy": "a"}), spec, RunStatus(phase="Pending"))
    control_plane.kubectl("delete", "repackrun", namespace, "--ignore-not-found")


def test_a_run_is_a_journal_with_one_writer(cluster: LiveCluster, run: RepackRun) -> None:
    name = run.metadata.name
    assert cluster.get_run(name) is None
    created = cluster.create_run(run)
    assert isinstance(created, RepackRun)
    assert (created.spec, created.metadata.labels, created.status) == (run.spec, {"policy": "a"}, None)
    assert isinstance(cluster.create_run(run), Conflict)

    running_run = cluster.update_run_status(replaced(created, RunStatus(phase="Running", message="one")))
    assert isinstance(running_run, RepackRun)
    assert running_run.status == RunStatus(phase="Running", message="one")
    assert isinstance(cluster.update_run_status(replaced(created, RunStatus(phase="Failed"))), Conflict)
    assert cluster.get_run(name) == running_run
    assert running_run in cluster.list_runs()

    cluster.delete_run(name, "another")
    assert cluster.get_run(name) == running_run
    cluster.delete_run(name, running_run.metadata.uid)
    wait_for("the run to go", lambda: cluster.get_run(name) is None)
    cluster.delete_run(name, running_run.metadata.uid)
    assert isinstance(cluster.update_run_status(running_run), Conflict)


def test_a_run_made_again_under_the_same_name_is_another_run(cluster: LiveCluster, run: RepackRun) -> None:
    first = cluster.create_run(run)
    assert isinstance(first, RepackRun)
    cluster.delete_run(run.metadata.name, first.metadata.uid)
    second = wait_for("the name to be free", lambda: _created(cluster.create_run(run)))
    assert second.metadata.uid != first.metadata.uid
    assert isinstance(cluster.update_run_status(replaced(first, RunStatus(phase="Running"))), Conflict)


def _created(answer: RepackRun | Conflict) -> RepackRun | None:
    return answer if isinstance(answer, RepackRun) else None


def replaced(run: RepackRun, status: RunStatus) -> RepackRun:
    return new_run(run.metadata, run.spec, status)
