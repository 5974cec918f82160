"""From the wire to a ClusterSnapshot: what is refused, what is kept; rows are those of the list of known faults."""

from __future__ import annotations

import gc
import random
from typing import Any

import msgspec
import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.affinity import AffinityTerm, SpreadConstraint
from repack_gitops.model.cluster import HostPort, JobPolicy, Owner
from repack_gitops.model.decode import build_snapshot, decode_pod
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm
from repack_gitops.model.storage import ClaimUse

GPU = "nvidia.com/gpu"
ANY = "0.0.0.0"  # noqa: S104 - how Kubernetes writes every address of a host


def node(name: str = "n1", status: Any = None, **spec: Any) -> wire.Node:
    body = {"metadata": {"name": name}, "spec": spec, "status": status or {"allocatable": {GPU: "8", "pods": "3"}}}
    return msgspec.convert(body, wire.Node)


def pod(name: str = "p", on: str | None = "n1", cards: Any = 1, meta: Any = None, status: Any = None, **spec: Any) -> wire.Pod:
    resources = {"requests": {GPU: cards}} if cards else {}
    body = {
        "metadata": {"name": name, "namespace": "t", "uid": f"u-{name}", **(meta or {})},
        "spec": {"containers": [{"name": "c", "resources": resources}], "schedulerName": "volcano", **spec},
        "status": {"phase": "Running", **(status or {})},
    }
    if on:
        body["spec"]["nodeName"] = on
    return msgspec.convert(body, wire.Pod)


def convert(struct: Any, **spec: Any) -> Any:
    status = spec.pop("status", {})
    return msgspec.convert({"metadata": {"name": "x", "namespace": "t"}, "spec": spec, "status": status}, struct)


def test_the_order_of_the_input_does_not_matter() -> None:
    objects = [node(f"n{i}") for i in range(5)] + [pod(f"p{i}", f"n{i % 5}") for i in range(20)]
    shuffled = random.Random(1).sample(objects, len(objects))
    assert build_snapshot(objects) == build_snapshot(shuffled)
    assert repr(build_snapshot(objects)) == repr(build_snapshot(shuffled))


def test_equal_templates_are_one_object() -> None:
    first, second = build_snapshot([node(), pod("a"), pod("b")]).pods
    assert first.template is second.template
    assert first.requests is first.template
    assert first.constraints is second.constraints


def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    build_snapshot([])
    with pytest.raises(InvalidInput):
        build_snapshot([pod()])
    assert gc.isenabled()


def test_what_a_pod_is() -> None:
    meta = {
        "labels": {"b": "2", "a": "1"},
        "annotations": {"scheduling.k8s.io/group-name": "g", "kubernetes.io/config.mirror": "x"},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Other", "name": "o"},
            {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j", "uid": "uj", "controller": True},
        ],
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "creationTimestamp": "2025-01-01T00:00:00Z",
    }
    status = {"nominatedNodeName": "n9", "conditions": [{"type": "Ready", "status": "True"}]}
    found = decode_pod(pod("p", meta=meta, status=status, priority=7, terminationGracePeriodSeconds=30))
    assert (found.key, found.uid, found.node, found.phase) == (("t", "p"), "u-p", "n1", "Running")
    assert list(found.labels) == ["a", "b"]
    assert found.owner == Owner("batch.volcano.sh/v1alpha1", "Job", "j", "uj")
    assert (found.pod_group, found.scheduler_name, found.nominated_node) == ("g", "volcano", "n9")
    assert (found.terminating, found.mirror, found.ready) == (True, True, True)
    assert (found.priority, found.grace_seconds, found.created) == (7, 30, "2025-01-01T00:00:00Z")


def test_what_a_pod_is_not_unless_it_says_so() -> None:
    found = decode_pod(pod(on=None, cards=0, meta={"ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n"}]}))
    assert (found.node, found.owner, found.pod_group, found.nominated_node) == (None, None, None, None)
    assert (found.terminating, found.mirror, found.ready, found.grace_seconds) == (False, False, False, None)


REFUSED: dict[str, tuple[list[wire.Wire], str]] = {
    "two nodes": ([node(), node()], "Node n1 occurs twice"),
    "two pods": ([node(), pod(), pod()], "Pod t/p occurs twice"),
    "a pod on an absent node": ([pod()], "Pod t/p runs on node n1, which is not in the snapshot"),
    "a node without name": ([node("")], "a Node without metadata.name"),
    "a pod without name": ([node(), pod("")], "a Pod without metadata.name or metadata.namespace"),
    "negative devices of a node": (
        [node(status={"allocatable": {GPU: "-8"}})],
        "Node n1: allocatable nvidia.com/gpu.*negative",
    ),
    "a fraction of a node's device": ([node(status={"allocatable": {GPU: "1500m"}})], "Node n1: .*not a whole number"),
    "negative devices of a pod": ([node(), pod(cards="-1")], "Pod t/p: request of nvidia.com/gpu: '-1' is negative"),
    "a fraction of a pod's device": ([node(), pod(cards="0.5")], "Pod t/p: .*not a whole number of devices"),
    "no quantity": ([node(), pod(cards="many")], "Pod t/p: request of nvidia.com/gpu: 'many' is not a quantity"),
    "an unknown label operator": (
        [convert(wire.PodDisruptionBudget, selector={"matchExpressions": [{"key": "a", "operator": "Like", "values": ["b"]}]})],
        "PodDisruptionBudget t/x: a label selector has the unknown operator 'Like'",
    ),
    "an unknown node operator": (
        [
            pod(
                on=None,
                affinity={
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Like"}]}]
                        }
                    }
                },
            )
        ],
        "Pod t/p: node affinity has the unknown operator 'Like'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_inconsistent_cluster_is_refused(case: str) -> None:
    objects, message = REFUSED[case]
    with pytest.raises(InvalidInput, match=message):
        build_snapshot(objects)


def test_an_object_of_another_kind_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="ListMeta is no part of a snapshot"):
        build_snapshot([wire.ListMeta()])


@pytest.mark.parametrize(
    ("meta", "phase"), [({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "Running"), ({}, "Succeeded"), ({}, "Failed")]
)
def test_a_pod_that_is_over_may_outlive_its_node(meta: Any, phase: str) -> None:
    assert len(build_snapshot([pod(meta=meta, status={"phase": phase})]).pods) == 1


def test_rows_82_and_100_finished_pods_hold_nothing_and_terminating_ones_do() -> None:
    snapshot = build_snapshot(
        [
            node(),
            pod("done", status={"phase": "Succeeded"}),
            pod("refused", status={"phase": "Failed", "reason": "UnexpectedAdmissionError"}),
            pod("leaving", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            pod("running"),
            pod("unknown", status={"phase": "Unknown"}),
        ]
    )
    assert [p.name for p in snapshot.pods_by_node["n1"]] == ["leaving", "running", "unknown"]
    assert (snapshot.used("n1", GPU), snapshot.used("n1", "pods")) == (3000, 3000)


def test_row_94_a_node_whose_device_plug_in_is_gone_offers_nothing_and_is_used() -> None:
    snapshot = build_snapshot([node(status={"allocatable": {"cpu": "8", GPU: "0"}}), pod(cards=8)])
    assert GPU not in snapshot.nodes[0].allocatable
    assert snapshot.used("n1", GPU) == 8000


def test_row_106_pods_of_every_scheduler_are_charged() -> None:
    snapshot = build_snapshot([node(), pod("v"), pod("d", schedulerName="default-scheduler")])
    assert snapshot.used("n1", GPU) == 2000


SHARES = [
    "nvidia.com/gpumem",
    "nvidia.com/gpucores",
    "nvidia.com/gpumem-percentage",
    "volcano.sh/vgpu-memory",
    "volcano.sh/vgpu-number",
    "volcano.sh/gpu-memory",
    "aliyun.com/gpu-mem",
    "koordinator.sh/gpu-memory-ratio",
    "huawei.com/Ascend910B-memory",
    "tencent.com/vcuda-core",
    "cambricon.com/mlu.smlu.vmemory",
    "metax-tech.com/vcore",
]


@pytest.mark.parametrize("resource", SHARES)
def test_row_97_a_share_of_a_card_is_not_decided_by_counting(resource: str) -> None:
    found = decode_pod(pod(containers=[{"name": "c", "resources": {"limits": {resource: "12"}}}]))
    assert found.unsupported == (f"resources({resource})",)


@pytest.mark.parametrize(
    "resource", [GPU, "nvidia.com/mig-1g.10gb", "huawei.com/ascend-1980", "aws.amazon.com/neuroncore", "memory", "rdma/hca"]
)
def test_rows_97_and_101_whole_devices_are(resource: str) -> None:
    assert decode_pod(pod(containers=[{"name": "c", "resources": {"limits": {resource: "1"}}}])).unsupported == ()


@pytest.mark.parametrize(
    "extra",
    [
        {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]},
        {"containers": [{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}]},
        {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "x"}}},
    ],
    ids=["of the pod", "of a container", "behind an extended resource"],
)
def test_rows_103_and_104_devices_that_claims_serve_are_not_decided_by_counting(extra: dict[str, Any]) -> None:
    (field,) = decode_pod(pod(**extra)).unsupported
    assert field in ("resourceClaims", "extendedResourceClaimStatus")


def test_undecided_constraints_are_named_in_a_fixed_order() -> None:
    found = decode_pod(
        pod(
            resourceClaims=[{"name": "gpu"}],
            containers=[{"name": "c", "resources": {"limits": {"nvidia.com/gpumem": "1"}}}],
            volumes=[
                {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "c", "csi": {"driver": "x"}},
                {"name": "d", "cinder": {"volumeID": "v"}},
                {"name": "e", "emptyDir": {}},
            ],
        )
    )
    assert found.unsupported == ("volumes(d) of an in-tree type", "resourceClaims", "resources(nvidia.com/gpumem)")


def test_volumes_that_stand_for_claims() -> None:
    template = {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "b", "ephemeral": template},
        {"name": "c"},
    ]
    found = decode_pod(pod(volumes=volumes)).claims
    name = decode_pod(pod()).name
    assert found == (ClaimUse("a", "data"), ClaimUse("b", f"{name}-b", ephemeral=True, storage_class="fast"))


def test_constraints_of_a_template() -> None:
    term = {
        "matchExpressions": [{"key": "a", "operator": "Gt", "values": ["3"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
    }
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]
    sidecar = {"name": "s", "restartPolicy": "Always", "ports": [{"containerPort": 1, "hostPort": 1, "hostIP": "10.0.0.1"}]}
    init = {"name": "i", "ports": [{"containerPort": 2, "hostPort": 2}]}
    found = decode_pod(
        pod(
            nodeSelector={"b": "2", "a": "1"},
            affinity=affinity,
            tolerations=[{"key": "k", "operator": "Exists"}],
            containers=[{"name": "c", "ports": ports}],
            initContainers=[sidecar, init],
        )
    ).constraints
    assert found.node_selector == (("a", "1"), ("b", "2"))
    assert found.node_terms == (
        NodeTerm((NodeRequirement("a", "Gt", ("3",)),), (NodeRequirement("metadata.name", "In", ("n1",)),)),
    )
    assert [(t.key, t.operator, t.value, t.effect) for t in found.tolerations] == [("k", "Exists", "", "")]
    assert found.host_ports == (HostPort(1, "TCP", "10.0.0.1"), HostPort(8080, "TCP", ANY))


def test_with_the_hosts_network_every_port_is_the_hosts() -> None:
    found = decode_pod(pod(hostNetwork=True, containers=[{"name": "c", "ports": [{"containerPort": 80}]}]))
    assert found.constraints.host_ports == (HostPort(80, "TCP", ANY),)


def test_required_node_affinity_without_terms_matches_nothing() -> None:
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": None}}}
    assert decode_pod(pod(affinity=affinity)).constraints.node_terms == ()
    assert decode_pod(pod()).constraints.node_terms is None


A1 = Requirement("a", "In", ("1",))


@pytest.mark.parametrize(
    ("term", "namespaces", "selecting"),
    [
        ({}, {"t"}, None),
        ({"namespaces": ["a", "b"]}, {"a", "b"}, None),
        ({"namespaceSelector": {}, "namespaces": ["a"]}, {"a"}, LabelSelector()),
        ({"namespaceSelector": {"matchLabels": {"a": "1"}}}, set(), LabelSelector((A1,))),
    ],
)
@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_namespaces_of_a_term(kind: str, term: Any, namespaces: Any, selecting: Any) -> None:
    full = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "1"}}, **term}
    found = decode_pod(pod(affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [full]}})).relations
    expected = (AffinityTerm("zone", LabelSelector((A1,)), frozenset(namespaces), selecting),)
    assert (found.affinity, found.anti_affinity) == ((expected, ()) if kind == "podAffinity" else ((), expected))


def test_label_keys_narrow_a_term_once() -> None:
    """matchLabelKeys take the pod's own value; what the API server merged already is not added again."""
    keys = {"matchLabelKeys": ["rev", "absent"], "mismatchLabelKeys": ["tenant"]}
    merged = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "rev", "operator": "In", "values": ["7"]}]}
    for selector in ({"matchLabels": {"a": "1"}}, merged):
        full = {"topologyKey": "zone", "labelSelector": selector, **keys}
        labels = {"a": "1", "rev": "7", "tenant": "x"}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [full]}}
        made = pod(meta={"labels": labels}, affinity=affinity)
        (found,) = decode_pod(made).relations.affinity
        assert found.selector == LabelSelector.of({"a": "1", "rev": "7"}, (Requirement("tenant", "NotIn", ("x",)),))


def test_topology_spread() -> None:
    hard = {
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "maxSkew": 2,
        "minDomains": 3,
        "labelSelector": {"matchLabels": {"a": "1"}},
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
    }
    plain = {"topologyKey": "host", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    soft = {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}
    found = decode_pod(pod(topologySpreadConstraints=[hard, plain, soft])).relations.spread
    assert found == (
        SpreadConstraint("zone", 2, 3, LabelSelector((A1,)), honor_node_affinity=False, honor_node_taints=True),
        SpreadConstraint("host", 1, 1, None),
    )


def test_what_a_node_is() -> None:
    taints = [{"key": "k", "effect": "NoSchedule"}, {"key": "l", "value": "v", "effect": "NoExecute"}]
    status = {"allocatable": {GPU: "8"}, "conditions": [{"type": "Ready", "status": "Unknown"}]}
    found = build_snapshot([node(status=status, unschedulable=True, taints=taints)]).nodes[0]
    assert [(t.key, t.value, t.effect) for t in found.taints] == [("k", "", "NoSchedule"), ("l", "v", "NoExecute")]
    assert (found.unschedulable, found.ready, found.allocatable) == (True, False, {GPU: 8000})


def test_row_65_a_pod_group_without_min_member_needs_none() -> None:
    groups = build_snapshot([convert(wire.PodGroup)]).pod_groups
    assert groups["t", "x"].min_member == 0


def test_what_a_budget_is() -> None:
    status = {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "observedGeneration": 0}
    budget = convert(wire.PodDisruptionBudget, status=status, selector={"matchLabels": {"a": "1"}})
    (found,) = build_snapshot([budget]).budgets
    assert (found.disruptions_allowed, found.current_healthy, found.desired_healthy) == (1, 3, 2)
    assert (found.unhealthy_policy, found.observed) == ("IfHealthyBudget", True)
    assert found.selects(decode_pod(pod(meta={"labels": {"a": "1"}})))
    assert not found.selects(decode_pod(pod(meta={"labels": {"a": "2"}})))


def test_what_a_budget_demands_and_why_its_controller_failed() -> None:
    failure = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "no such owner"}
    fine = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": ""}
    status = {"expectedPods": 4, "conditions": [failure]}
    (found,) = build_snapshot([convert(wire.PodDisruptionBudget, status=status, maxUnavailable="25%")]).budgets
    assert (found.key, found.min_available, found.max_unavailable) == (("t", "x"), None, "25%")
    assert (found.expected_pods, found.sync_failure) == (4, "no such owner")
    (found,) = build_snapshot([convert(wire.PodDisruptionBudget, status={"conditions": [fine]}, minAvailable=2)]).budgets
    assert (found.min_available, found.sync_failure) == (2, "")


def test_a_budget_without_selector_selects_nothing_and_an_empty_one_everything() -> None:
    (none,) = build_snapshot([convert(wire.PodDisruptionBudget)]).budgets
    (every,) = build_snapshot([convert(wire.PodDisruptionBudget, selector={})]).budgets
    assert (none.selects(decode_pod(pod())), every.selects(decode_pod(pod()))) == (False, True)


def test_what_a_vcjob_does_when_a_member_is_evicted() -> None:
    spec = {
        "policies": [{"event": "PodEvicted", "action": "RestartJob"}, {"exitCode": 3, "action": "AbortJob"}],
        "tasks": [{"name": "w", "policies": [{"events": ["PodFailed", "*"], "action": "RestartTask"}]}, {"name": "x"}],
        "maxRetry": 5,
    }
    job = build_snapshot([convert(wire.VolcanoJob, status={"retryCount": 2}, **spec)]).volcano_jobs["t", "x"]
    assert job.policies == (JobPolicy(frozenset({"PodEvicted"}), "RestartJob"), JobPolicy(frozenset(), "AbortJob"))
    assert job.task_policies == {"w": (JobPolicy(frozenset({"PodFailed", "*"}), "RestartTask"),)}
    assert (job.max_retry, job.retry_count) == (5, 2)
