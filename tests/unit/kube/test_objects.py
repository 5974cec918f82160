"""Single objects: runs, Leases, Jobs, ConfigMaps and permissions, with their conflicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.errors import ClusterUnavailable, Forbidden, InvalidInput
from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import Access, Conflict, JobState, Lease
from repack_gitops.model.run import Goal, RepackRun, RunMetadata, RunSpec, RunStatus, new_run
from tests.unit.kube.fake_api import FakeApi, Reply, refusal

RUNS = "/apis/repack.volcano.sh/v1alpha1/repackruns"
SPEC = {"mode": "Execute", "goals": [{"resource": "nvidia.com/gpu"}]}
NOT_SERVED = Reply(404, b"404 page not found\n")


def stored(name: str = "r1", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": "u1", "resourceVersion": "5", "generation": 1, "managedFields": [{"manager": "x"}]}
    return {"apiVersion": "repack.volcano.sh/v1alpha1", "kind": "RepackRun", "metadata": metadata, "spec": SPEC, **more}


def run(**metadata: Any) -> RepackRun:
    spec = RunSpec(mode="Execute", goals=[Goal(resource="nvidia.com/gpu")])
    return new_run(RunMetadata(name="r1", labels={"a": "b"}, **metadata), spec, RunStatus(phase="Running"))


def test_a_run_is_read_without_what_only_the_server_needs(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, stored()))
    found = cluster.get_run("r1")
    assert found is not None
    assert found.metadata == RunMetadata(name="r1", uid="u1", resource_version="5", generation=1)
    assert fake.seen[0].path == f"{RUNS}/r1"


def test_unknown_fields_of_a_status_are_left_out_at_any_depth(cluster: LiveCluster, fake: FakeApi) -> None:
    """A later release, or Volcano's own engine, may write more than we know."""
    summary = {
        "fragBeforePercent": 9,
        "fragAfterPercent": 1,
        "freedNodeCount": 1,
        "movedCardCount": 2,
        "resolvedScope": {"podGroupCount": 1, "nodeCount": 2, "new": 1},
        "new": 1,
    }
    condition = {"type": "Complete", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "t", "new": 1}
    status = {"phase": "Succeeded", "new": {}, "plan": {"summary": summary, "new": 1}, "conditions": [condition]}
    fake.answer(Reply(200, stored(status=status)))
    found = cluster.get_run("r1")
    assert found is not None
    assert found.status is not None
    assert found.status.plan is not None
    assert (found.status.plan.summary.moved_card_count, found.status.conditions[0].reason) == (2, "R")


def test_an_unknown_field_of_a_spec_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, stored(spec={**SPEC, "limit": 3})))
    with pytest.raises(InvalidInput, match=r"RepackRun r1 in the cluster is not readable: .*limit"):
        cluster.get_run("r1")


def test_runs_are_listed_by_name_and_typed_lists_need_no_kind(cluster: LiveCluster, fake: FakeApi) -> None:
    items = [{k: v for k, v in stored(name).items() if k not in ("kind", "apiVersion")} for name in ("b", "a")]
    fake.answer(Reply(200, {"metadata": {"resourceVersion": "1"}, "items": items}))
    assert [r.metadata.name for r in cluster.list_runs()] == ["a", "b"]


def test_without_the_crd_there_are_no_runs(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(NOT_SERVED)
    assert cluster.get_run("r1") is None
    assert cluster.list_runs() == ()


def test_without_the_crd_a_run_cannot_be_created(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(NOT_SERVED)
    with pytest.raises(ClusterUnavailable, match=r"cannot create repackruns.repack.volcano.sh r1") as caught:
        cluster.create_run(run())
    assert "schemas/repack.volcano.sh_repackruns.yaml" in caught.value.hint


def test_a_run_is_created_without_status_and_what_the_server_assigns(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(201, stored()))
    created = cluster.create_run(run(uid="old", resource_version="1", generation=4))
    assert isinstance(created, RepackRun)
    assert created.metadata.uid == "u1"
    (seen,) = fake.seen
    assert (seen.method, seen.path) == ("POST", RUNS)
    assert seen.body["metadata"] == {"name": "r1", "labels": {"a": "b"}}
    assert set(seen.body) == {"apiVersion", "kind", "metadata", "spec"}


def test_a_taken_name_is_a_conflict(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(409, 'repackruns "r1" already exists', "AlreadyExists"))
    assert cluster.create_run(run()) == Conflict('repackruns "r1" already exists')


def test_a_status_is_replaced_at_the_version_it_was_read_at(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, stored(status={"phase": "Running"})))
    written = cluster.update_run_status(run(uid="u1", resource_version="5"))
    assert isinstance(written, RepackRun)
    (seen,) = fake.seen
    assert (seen.method, seen.path) == ("PUT", f"{RUNS}/r1/status")
    assert seen.body["metadata"] == {"name": "r1", "labels": {"a": "b"}, "uid": "u1", "resourceVersion": "5"}
    assert seen.body["status"] == {"phase": "Running"}


@pytest.mark.parametrize("code", [404, 409])
def test_a_run_that_changed_or_is_gone_is_a_conflict(cluster: LiveCluster, fake: FakeApi, code: int) -> None:
    fake.answer(refusal(code, "changed"))
    assert cluster.update_run_status(run(uid="u1", resource_version="5")) == Conflict("changed")


def test_a_run_that_was_never_read_is_not_written(cluster: LiveCluster, fake: FakeApi) -> None:
    """Without a resourceVersion the API server would overwrite whatever is there."""
    assert isinstance(cluster.update_run_status(run()), Conflict)
    assert fake.seen == []


@pytest.mark.parametrize("code", [200, 202, 404, 409])
def test_a_run_is_deleted_by_uid_and_may_be_gone(cluster: LiveCluster, fake: FakeApi, code: int) -> None:
    fake.answer(refusal(code))
    cluster.delete_run("r1", "u1")
    assert fake.seen[0].body["preconditions"] == {"uid": "u1"}


def test_a_refused_deletion_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(403, "forbidden"))
    with pytest.raises(Forbidden, match="not allowed to delete"):
        cluster.delete_run("r1", "u1")


@pytest.mark.parametrize("code", [429, 500, 503])
def test_writes_are_never_repeated(cluster: LiveCluster, fake: FakeApi, code: int) -> None:
    fake.answer(refusal(code, "busy"))
    with pytest.raises(ClusterUnavailable, match=f"busy .HTTP {code}"):
        cluster.create_run(run())
    assert len(fake.seen) == 1


LEASE = Lease("ops", "lock", holder="job/1", acquire_time="t1", renew_time="t2", transitions=3, annotations={"a": "b"})
STORED_LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"namespace": "ops", "name": "lock", "resourceVersion": "8", "labels": {"team": "x"}},
    "spec": {"holderIdentity": "job/0", "preferredHolder": "kept"},
}


def test_a_lease_is_created(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(201, STORED_LEASE))
    assert isinstance(cluster.put_lease(LEASE), Lease)
    (seen,) = fake.seen
    assert (seen.method, seen.path) == ("POST", "/apis/coordination.k8s.io/v1/namespaces/ops/leases")
    assert seen.body["metadata"] == {"namespace": "ops", "name": "lock", "annotations": {"a": "b"}}
    assert seen.body["spec"] == {
        "holderIdentity": "job/1",
        "leaseDurationSeconds": 60,
        "acquireTime": "t1",
        "renewTime": "t2",
        "leaseTransitions": 3,
    }


def test_a_lease_is_replaced_and_strangers_fields_stay(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, STORED_LEASE), Reply(200, STORED_LEASE))
    cluster.put_lease(replace(LEASE, resource_version="8", holder=""))
    put = fake.seen[1]
    assert (put.method, put.path) == ("PUT", "/apis/coordination.k8s.io/v1/namespaces/ops/leases/lock")
    assert put.body["metadata"]["labels"] == {"team": "x"}
    assert put.body["metadata"]["resourceVersion"] == "8"
    assert (put.body["spec"]["holderIdentity"], put.body["spec"]["preferredHolder"]) == (None, "kept")


CONFLICTS = {
    "taken": ("", [refusal(409, "already exists")]),
    "changed": ("7", [Reply(200, STORED_LEASE)]),
    "gone": ("8", [refusal(404)]),
    "changed just now": ("8", [Reply(200, STORED_LEASE), refusal(409, "modified")]),
    "gone just now": ("8", [Reply(200, STORED_LEASE), refusal(404, "not found")]),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_a_lost_race_for_a_lease_is_a_conflict(cluster: LiveCluster, fake: FakeApi, case: str) -> None:
    version, replies = CONFLICTS[case]
    fake.answer(*replies)
    assert isinstance(cluster.put_lease(replace(LEASE, resource_version=version)), Conflict)


def test_a_lease_is_read(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, STORED_LEASE))
    expected = Lease("ops", "lock", holder="job/0", duration_seconds=0, resource_version="8")
    assert cluster.get_lease("ops", "lock") == expected
    fake.answer(refusal(404))
    assert cluster.get_lease("ops", "lock") is None


def job(*conditions: tuple[str, str]) -> dict[str, Any]:
    status = {"conditions": [{"type": t, "status": s} for t, s in conditions]}
    return {"metadata": {"namespace": "ops", "name": "run-1"}, "status": status}


ACTIVE, SUCCEEDED, FAILED = (True, False, False), (False, True, False), (False, False, True)


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ([], ACTIVE),
        ([("SuccessCriteriaMet", "True")], ACTIVE),
        ([("FailureTarget", "True"), ("Failed", "False")], ACTIVE),
        ([("Suspended", "True")], ACTIVE),
        ([("SuccessCriteriaMet", "True"), ("Complete", "True")], SUCCEEDED),
        ([("Failed", "True")], FAILED),
    ],
)
def test_a_job_is_active_until_a_condition_ends_it(
    cluster: LiveCluster, fake: FakeApi, conditions: list[tuple[str, str]], state: tuple[bool, bool, bool]
) -> None:
    fake.answer(Reply(200, job(*conditions)))
    assert cluster.get_job("ops", "run-1") == JobState("ops", "run-1", *state)


def test_a_second_dispatch_is_a_conflict(cluster: LiveCluster, fake: FakeApi) -> None:
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run-1"}}
    fake.answer(Reply(201, job()), refusal(409, "already exists", "AlreadyExists"), refusal(404))
    assert cluster.create_job("ops", manifest) == JobState("ops", "run-1", True, False, False)
    assert cluster.create_job("ops", manifest) == Conflict("already exists")
    assert cluster.get_job("ops", "run-1") is None


def test_a_job_in_a_namespace_that_is_not_there_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(404, 'namespaces "ops" not found', "NotFound"))
    with pytest.raises(ClusterUnavailable, match='namespaces "ops" not found'):
        cluster.create_job("ops", {"metadata": {"name": "run-1"}})


def test_config_maps(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, {"data": {"a": "1"}}), Reply(200, {"metadata": {}}), refusal(404))
    assert cluster.get_config_map("ops", "c") == {"a": "1"}
    assert cluster.get_config_map("ops", "c") == {}
    assert cluster.get_config_map("ops", "c") is None


@pytest.mark.parametrize(
    ("status", "expected"), [({"allowed": True}, True), ({"allowed": False, "denied": True}, False), ({}, False), (None, False)]
)
def test_a_permission_is_there_only_if_the_server_says_so(
    cluster: LiveCluster, fake: FakeApi, status: Any, expected: bool
) -> None:
    fake.answer(Reply(201, {"kind": "SelfSubjectAccessReview", "status": status}))
    assert cluster.allowed(Access("create", "", "pods", "eviction", "team")) is expected
    assert fake.seen[0].body["spec"]["resourceAttributes"] == {
        "verb": "create",
        "group": "",
        "resource": "pods",
        "subresource": "eviction",
        "namespace": "team",
        "name": "",
    }
