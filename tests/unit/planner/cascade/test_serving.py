"""LeaderWorkerSets, ModelServings and RayClusters: groups that live and die together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.owners import LeaderWorkerSet, ModelServing, Owners, RayCluster
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Unit
from tests.unit.planner.cascade.workloads import RAY, SERVING, foretold, member, names, view


def refusal(forecast: Forecast) -> Code | None:
    return forecast.refusal.code if forecast.refusal else None


class TestLeaderWorkerSet:
    def pod(self, group: int, index: int) -> Pod:
        """Leaders belong to a StatefulSet named as the set, workers to one named as their leader."""
        owner = Owner("apps/v1", "StatefulSet", "llm" if index == 0 else f"llm-{group}")
        labels = {"name": "llm", "group-index": str(group), "worker-index": str(index)}
        return member(f"llm-{group}-{index}", owner, {f"leaderworkerset.sigs.k8s.io/{k}": v for k, v in labels.items()})

    def told(self, victim: str, policy: str = "RecreateGroupOnPodRestart", idle: str = "") -> Forecast:
        pods = [self.pod(group, index) for group in (0, 1) for index in range(3)]
        owners = Owners(leader_worker_sets={("team", "llm"): LeaderWorkerSet("team", "llm", policy, idle)})
        return foretold(view(*pods, owners=owners), victim)

    @pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "Something"])
    @pytest.mark.parametrize("victim", ["llm-0-0", "llm-0-2"])
    def test_the_group_goes_as_a_whole(self, policy: str, victim: str) -> None:
        forecast = self.told(victim, policy)
        assert (forecast.unit, names(forecast)) == (Unit.GROUP, {"llm-0-0", "llm-0-1", "llm-0-2"})
        assert (forecast.owner.kind, forecast.retries) == ("LeaderWorkerSet", None)

    def test_with_policy_none_a_worker_goes_alone_and_a_leader_takes_its_group(self) -> None:
        assert names(self.told("llm-1-2", "None")) == {"llm-1-2"}
        assert names(self.told("llm-1-0", "None")) == {"llm-1-0", "llm-1-1", "llm-1-2"}

    def test_one_that_is_going_or_not_there(self) -> None:
        assert refusal(self.told("llm-0-0", idle="is being deleted")) is Code.OWNER_NOT_FOUND
        assert refusal(foretold(view(self.pod(0, 0)), "llm-0-0")) is Code.OWNER_NOT_FOUND

    def test_a_stateful_set_of_its_own_is_not_concerned(self) -> None:
        plain = replace(self.pod(0, 0), labels={})
        assert names(foretold(view(plain, self.pod(0, 1)), "llm-0-0")) == {"llm-0-0"}


class TestModelServing:
    def pod(self, group: int, role: str, index: int) -> Pod:
        labels = {"name": "chat", "group-name": f"chat-{group}", "role": role, "role-id": f"{role}-0"}
        return member(f"chat-{group}-{role}-{index}", SERVING, {f"modelserving.volcano.sh/{k}": v for k, v in labels.items()})

    def told(self, policy: str, **changes: object) -> Forecast:
        pods = [self.pod(group, role, index) for group in (0, 1) for role in ("prefill", "decode") for index in range(2)]
        serving = replace(ModelServing("team", "chat", policy), **changes)  # type: ignore[arg-type]
        return foretold(view(*pods, owners=Owners(model_servings={("team", "chat"): serving})), "chat-0-decode-1")

    def test_role_recreate(self) -> None:
        forecast = self.told("RoleRecreate")
        assert (forecast.unit, names(forecast)) == (Unit.ROLE, {"chat-0-decode-0", "chat-0-decode-1"})

    def test_serving_group_recreate(self) -> None:
        forecast = self.told("ServingGroupRecreate")
        assert forecast.unit is Unit.GROUP
        assert names(forecast) == {f"chat-0-{r}-{i}" for r in ("prefill", "decode") for i in range(2)}

    def test_p70_recovery_policy_none_may_leave_the_replica_missing(self) -> None:
        forecast = self.told("None")
        assert refusal(forecast) is Code.FATAL_POLICY
        assert forecast.refusal is not None
        assert "recoveryPolicy None" in forecast.refusal.detail

    def test_policies_of_later_releases_and_servings_that_go(self) -> None:
        assert refusal(self.told("Wonder")) is Code.UNKNOWN_POLICY
        assert refusal(self.told("RoleRecreate", idle="is being deleted")) is Code.OWNER_NOT_FOUND
        assert refusal(foretold(view(self.pod(0, "decode", 0)), "chat-0-decode-0")) is Code.OWNER_NOT_FOUND

    def test_a_role_of_one_pod_is_no_cascade(self) -> None:
        serving = ModelServing("team", "chat", "RoleRecreate")
        pods = [self.pod(0, "prefill", 0), self.pod(0, "decode", 0)]
        forecast = foretold(view(*pods, owners=Owners(model_servings={("team", "chat"): serving})), "chat-0-decode-0")
        assert not forecast.cascades

    def test_without_labels_everything_may_restart(self) -> None:
        bare = replace(self.pod(0, "decode", 0), labels={})
        serving = ModelServing("team", "chat", "RoleRecreate")
        owners = Owners(model_servings={("team", "chat"): serving})
        assert len(names(foretold(view(bare, self.pod(1, "decode", 0), owners=owners), "chat-0-decode-0"))) == 2


class TestRayCluster:
    def pod(self, name: str, kind: str | None, group: str = "gpu", replica: str | None = None) -> Pod:
        labels = {"node-type": kind, "cluster": "ray", "group": group, "worker-group-replica-name": replica}
        return member(name, RAY, {f"ray.io/{k}": v for k, v in labels.items() if v})

    def told(self, victim: str, hosts: int = 1, replicas: bool = True, idle: str = "") -> Forecast:
        pods = [self.pod("head", "head"), self.pod("odd", None)]
        pods += [self.pod(f"w{i}", "worker", replica=f"r{i // 2}" if replicas else None) for i in range(4)]
        found = RayCluster("team", "ray", {"gpu": hosts}, idle)
        return foretold(view(*pods, owners=Owners(ray_clusters={("team", "ray"): found})), victim)

    def test_a_worker_is_replaced(self) -> None:
        assert names(self.told("w0")) == {"w0"}

    @pytest.mark.parametrize("victim", ["head", "odd"])
    def test_the_head_is_not_evicted(self, victim: str) -> None:
        assert refusal(self.told(victim)) is Code.FATAL_POLICY

    def test_a_replica_of_several_hosts_goes_as_a_whole(self) -> None:
        assert names(self.told("w0", hosts=2)) == {"w0", "w1"}

    def test_where_pods_do_not_tell_their_replica_the_group_stands_for_it(self) -> None:
        assert {"w0", "w1", "w2", "w3"} <= names(self.told("w0", hosts=2, replicas=False))

    def test_suspended_or_not_there(self) -> None:
        assert refusal(self.told("w0", idle="is suspended")) is Code.OWNER_NOT_FOUND
        assert refusal(foretold(view(self.pod("w0", "worker")), "w0")) is Code.OWNER_NOT_FOUND
