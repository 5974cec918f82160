"""Controllers of pods, from what kubectl prints to facts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.kubernetes import KINDS
from repack_gitops.model.owners import (
    BatchJob,
    ExitCodes,
    JobSet,
    JobSetRule,
    LeaderWorkerSet,
    ModelServing,
    Owners,
    PodFailureRule,
    RayCluster,
)

Object = dict[str, Any]
KEY = ("team", "x")


def owners(api_version: str, kind: str, meta: Object | None = None, **parts: Object) -> Owners:
    item = {"metadata": {"name": "x", "namespace": "team", **(meta or {})}, **parts}
    return build_snapshot([msgspec.convert(item, KINDS[api_version, kind])]).owners


class TestBatchJob:
    def job(self, spec: Object | None = None, status: Object | None = None, **meta: object) -> BatchJob:
        return owners("batch/v1", "Job", meta, spec=spec or {}, status=status or {}).batch_jobs[KEY]

    def test_defaults_are_those_of_the_api(self) -> None:
        assert self.job() == BatchJob("team", "x", 6, None, (), 0)

    def test_everything(self) -> None:
        rules = [
            {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}},
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        ]
        spec = {"backoffLimit": 3, "backoffLimitPerIndex": 1, "podFailurePolicy": {"rules": rules}, "template": {}}
        owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set", "controller": True}
        labels = {"jobset.sigs.k8s.io/replicatedjob-name": "workers"}
        found = self.job(spec, {"failed": 2}, ownerReferences=[owner], labels=labels)
        codes = PodFailureRule("FailJob", ExitCodes("In", frozenset({42})))
        disrupted = PodFailureRule("Ignore", None, frozenset({("DisruptionTarget", "True")}))
        assert found == BatchJob("team", "x", 3, 1, (codes, disrupted), 2, "", "set", "workers")

    @pytest.mark.parametrize("kind", ["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"])
    def test_one_that_has_ended(self, kind: str) -> None:
        true, false = ({"conditions": [{"type": kind, "status": status}]} for status in ("True", "False"))
        assert self.job(status=true).idle == f"has ended ({kind})"
        assert self.job(status=false).idle == ""

    def test_one_that_creates_no_pods_for_other_reasons(self) -> None:
        assert self.job({"suspend": True}).idle == "is suspended"
        assert self.job({"suspend": True}, deletionTimestamp="2026-01-01T00:00:00Z").idle == "is being deleted"

    @pytest.mark.parametrize(
        "owner",
        [
            {"apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "controller": True},
            {"apiVersion": "example.com/v1", "kind": "JobSet", "name": "c", "controller": True},
            {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "c"},
        ],
    )
    def test_other_owners_are_no_job_sets(self, owner: Object) -> None:
        assert self.job(ownerReferences=[owner]).job_set == ""


class TestJobSet:
    def job_set(self, spec: Object, status: Object | None = None) -> JobSet:
        return owners("jobset.x-k8s.io/v1alpha2", "JobSet", spec=spec, status=status or {}).job_sets[KEY]

    def test_without_a_failure_policy(self) -> None:
        assert self.job_set({}) == JobSet("team", "x", None, (), 0)

    def test_everything(self) -> None:
        rule = {"action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"], "targetReplicatedJobs": ["driver"]}
        found = self.job_set(
            {"failurePolicy": {"maxRestarts": 4, "rules": [rule]}}, {"restarts": 3, "restartsCountTowardsMax": 2}
        )
        rules = (JobSetRule("FailJobSet", frozenset({"PodFailurePolicy"}), frozenset({"driver"})),)
        assert found == JobSet("team", "x", 4, rules, 2)

    def test_old_releases_count_all_restarts(self) -> None:
        assert self.job_set({"failurePolicy": {"maxRestarts": 4}}, {"restarts": 3}).restarts == 3

    def test_one_at_its_end(self) -> None:
        assert self.job_set({}, {"terminalState": "Failed"}).idle == "has ended (Failed)"
        assert self.job_set({"suspend": True}).idle == "is suspended"


def test_leader_worker_sets() -> None:
    kind = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert owners(*kind).leader_worker_sets[KEY] == LeaderWorkerSet("team", "x", "RecreateGroupOnPodRestart")
    spec = {"replicas": 2, "leaderWorkerTemplate": {"restartPolicy": "None", "size": 4}}
    assert owners(*kind, spec=spec).leader_worker_sets[KEY].restart_policy == "None"


def test_model_servings() -> None:
    kind = ("workload.serving.volcano.sh/v1alpha1", "ModelServing")
    assert owners(*kind).model_servings[KEY] == ModelServing("team", "x", "RoleRecreate")
    assert owners(*kind, spec={"recoveryPolicy": "None"}).model_servings[KEY].recovery_policy == "None"


def test_ray_clusters() -> None:
    spec = {"workerGroupSpecs": [{"groupName": "a"}, {"groupName": "b", "numOfHosts": 4}], "headGroupSpec": {}}
    found = owners("ray.io/v1", "RayCluster", spec=spec).ray_clusters[KEY]
    assert found == RayCluster("team", "x", {"a": 1, "b": 4})
    assert owners("ray.io/v1", "RayCluster", spec={"suspend": True}).ray_clusters[KEY].idle == "is suspended"


def test_the_same_controller_twice_and_one_without_a_name() -> None:
    def item(name: str) -> Any:
        return msgspec.convert({"metadata": {"name": name, "namespace": "team"}}, KINDS["batch/v1", "Job"])

    with pytest.raises(InvalidInput, match=r"Job\.batch team/x occurs twice"):
        build_snapshot([item("x"), item("x")])
    with pytest.raises(InvalidInput, match=r"a Job\.batch without metadata\.name"):
        build_snapshot([item("")])
