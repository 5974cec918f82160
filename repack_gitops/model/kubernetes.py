"""Kubernetes objects on the wire: only the fields that planning needs, under their own names.

Both doors to a ClusterSnapshot (live API and file) decode into these structs, and ``repack snapshot`` encodes them, so a
snapshot file never holds environment variables, commands or managed fields. Field names are Kubernetes'; ``msgspec``
renames them to camelCase. An unknown field is skipped here: these are other people's objects.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import field

from repack_gitops.model.kubernetes_base import (
    UNREADABLE,
    LabelSelector,
    ObjectMeta,
    OwnerReference,
    Quantity,
    SelectorRequirement,
    Wire,
)
from repack_gitops.model.protection import PROTECTING

#: Names of kubernetes_base that are names of this module too; its own need no list.
__all__ = ["UNREADABLE", "LabelSelector", "ObjectMeta", "OwnerReference", "Quantity", "SelectorRequirement", "Wire"]


class Taint(Wire, frozen=True):
    key: str
    effect: str
    value: str | None = None


class NodeSpec(Wire, frozen=True):
    unschedulable: bool = False
    taints: list[Taint] | None = None


class Condition(Wire, frozen=True):
    type: str
    status: str
    reason: str | None = None


class NodeStatus(Wire, frozen=True):
    allocatable: dict[str, Quantity] | None = None
    conditions: list[Condition] | None = None


class Node(Wire, frozen=True):
    metadata: ObjectMeta
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)


class Namespace(Wire, frozen=True):
    metadata: ObjectMeta


class ResourceClaim(Wire, frozen=True):
    name: str


class Resources(Wire, frozen=True):
    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None
    claims: list[ResourceClaim] | None = None


class ContainerPort(Wire, frozen=True):
    container_port: int = 0
    host_port: int = 0
    protocol: str = "TCP"
    host_ip: str = field(default="", name="hostIP")


class Container(Wire, frozen=True):
    name: str
    resources: Resources | None = None
    ports: list[ContainerPort] | None = None
    restart_policy: str | None = None


class Toleration(Wire, frozen=True):
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class NodeSelectorTerm(Wire, frozen=True):
    match_expressions: list[SelectorRequirement] | None = None
    match_fields: list[SelectorRequirement] | None = None


class NodeSelector(Wire, frozen=True):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class PreferredSchedulingTerm(Wire, frozen=True):
    weight: int = 0
    preference: NodeSelectorTerm = field(default_factory=NodeSelectorTerm)


class NodeAffinity(Wire, frozen=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] | None = None


class PodAffinityTerm(Wire, frozen=True):
    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class PodAffinity(Wire, frozen=True):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] | None = None


class Affinity(Wire, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Wire, frozen=True):
    topology_key: str
    when_unsatisfiable: str
    max_skew: int = 1
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    match_label_keys: list[str] | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


class ClaimSource(Wire, frozen=True):
    claim_name: str


class EphemeralClaimSpec(Wire, frozen=True):
    storage_class_name: str | None = None


class EphemeralClaimTemplate(Wire, frozen=True):
    spec: EphemeralClaimSpec = field(default_factory=EphemeralClaimSpec)


class EphemeralVolume(Wire, frozen=True):
    volume_claim_template: EphemeralClaimTemplate = field(default_factory=EphemeralClaimTemplate)


class Volume(Wire, frozen=True):
    """A volume; the sources that Kubernetes translates to CSI are only known to be there."""

    name: str
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralVolume | None = None
    csi: dict[str, Any] | None = None
    host_path: dict[str, Any] | None = None
    empty_dir: dict[str, Any] | None = None
    aws_elastic_block_store: dict[str, Any] | None = None
    azure_disk: dict[str, Any] | None = None
    cinder: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    portworx_volume: dict[str, Any] | None = None
    vsphere_volume: dict[str, Any] | None = None


class PodResourceClaim(Wire, frozen=True):
    name: str


class PodSpec(Wire, frozen=True):
    containers: list[Container]
    node_name: str | None = None
    scheduler_name: str = "default-scheduler"
    priority: int | None = None
    priority_class_name: str | None = None
    runtime_class_name: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    init_containers: list[Container] | None = None
    overhead: dict[str, Quantity] | None = None
    resources: Resources | None = None
    host_network: bool = False
    volumes: list[Volume] | None = None
    resource_claims: list[PodResourceClaim] | None = None
    scheduling_gates: list[dict[str, str]] | None = None
    termination_grace_period_seconds: int | None = None


class ContainerStatus(Wire, frozen=True):
    name: str
    resources: Resources | None = None
    allocated_resources: dict[str, Quantity] | None = None


class PodStatus(Wire, frozen=True):
    phase: str = "Pending"
    nominated_node_name: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    extended_resource_claim_status: dict[str, Any] | None = None
    resources: Resources | None = None
    allocated_resources: dict[str, Quantity] | None = None


class Pod(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PodSpec
    status: PodStatus = field(default_factory=PodStatus)


class NetworkTopology(Wire, frozen=True):
    mode: str = "hard"


class SubGroupPolicy(Wire, frozen=True):
    network_topology: NetworkTopology | None = None


class NodeGroupTerms(Wire, frozen=True):
    """nodeGroupAffinity or nodeGroupAntiAffinity: names of node groups."""

    required_during_scheduling_ignored_during_execution: list[str] | None = None
    preferred_during_scheduling_ignored_during_execution: list[str] | None = None


class QueueAffinity(Wire, frozen=True):
    node_group_affinity: NodeGroupTerms | None = None
    node_group_anti_affinity: NodeGroupTerms | None = None


class QueueSpec(Wire, frozen=True):
    parent: str = ""
    affinity: QueueAffinity | None = None
    capability: dict[str, Quantity] | None = None


class QueueStatus(Wire, frozen=True):
    state: str = ""


class Queue(Wire, frozen=True):
    metadata: ObjectMeta
    spec: QueueSpec = field(default_factory=QueueSpec)
    status: QueueStatus = field(default_factory=QueueStatus)


class PodGroupSpec(Wire, frozen=True):
    min_member: int = 0
    queue: str | None = None
    network_topology: NetworkTopology | None = None
    sub_group_policy: list[SubGroupPolicy] | None = None


class PodGroup(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PodGroupSpec = field(default_factory=PodGroupSpec)


class PodDisruptionBudgetSpec(Wire, frozen=True):
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetCondition(Wire, frozen=True):
    type: str
    status: str
    reason: str = ""
    message: str = ""


class PodDisruptionBudgetStatus(Wire, frozen=True):
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    observed_generation: int = 0
    conditions: list[PodDisruptionBudgetCondition] | None = None


class PodDisruptionBudget(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PodDisruptionBudgetSpec = field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = field(default_factory=PodDisruptionBudgetStatus)


class LifecyclePolicy(Wire, frozen=True):
    action: str | None = None
    event: str | None = None
    events: list[str] | None = None
    exit_code: int | None = None


class TaskSpec(Wire, frozen=True):
    name: str = ""
    replicas: int = 0
    policies: list[LifecyclePolicy] | None = None


class VolcanoJobSpec(Wire, frozen=True):
    policies: list[LifecyclePolicy] | None = None
    tasks: list[TaskSpec] | None = None
    max_retry: int = 3
    min_available: int = 0


class VolcanoJobState(Wire, frozen=True):
    phase: str = ""


class VolcanoJobStatus(Wire, frozen=True):
    retry_count: int = 0
    state: VolcanoJobState = field(default_factory=VolcanoJobState)


class VolcanoJob(Wire, frozen=True):
    metadata: ObjectMeta
    spec: VolcanoJobSpec = field(default_factory=VolcanoJobSpec)
    status: VolcanoJobStatus = field(default_factory=VolcanoJobStatus)


#: Annotations that planning reads; all others are dropped, since people keep secrets and manifests in them.
KEPT_ANNOTATIONS = frozenset(
    {
        "scheduling.k8s.io/group-name",
        "kubernetes.io/config.mirror",
        "volcano.sh/task-spec",
        *PROTECTING,
    }
)


def keep_annotations(meta: ObjectMeta) -> None:
    """Drop every annotation of a freshly decoded object but KEPT_ANNOTATIONS."""
    if meta.annotations is not None:
        kept = {name: value for name, value in meta.annotations.items() if name in KEPT_ANNOTATIONS}
        msgspec.structs.force_setattr(meta, "annotations", kept or None)


class ListMeta(Wire, frozen=True):
    resource_version: str = ""
    continue_: str = field(default="", name="continue")
    remaining_item_count: int | None = None


class TypeMeta(Wire, frozen=True):
    """The two fields that tell what an item of a List is."""

    api_version: str = ""
    kind: str = ""
