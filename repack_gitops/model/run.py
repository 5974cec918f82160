"""RepackRun, the contract of spec 01: one definition for reading, writing, the JSON Schema and the CRD.

The structs forbid unknown fields. Their annotations (``model.fields``) are the published schema's limits and
descriptions, so a rule is written once (``model.schema`` turns them into schemas).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType, field

from repack_gitops.model.budget_status import DisruptionBudgetStatus
from repack_gitops.model.document import Document
from repack_gitops.model.fields import (
    UNIQUE,
    Annotations,
    Count,
    LabelKey,
    Labels,
    LabelValue,
    Name,
    Percent,
    PodGroupName,
    Resource,
    Seconds,
    Timestamp,
)
from repack_gitops.model.frontier_status import FrontierStatus
from repack_gitops.model.optimality_status import OptimalityStatus
from repack_gitops.model.restart_status import OwnerRef, RestartStatus

API_VERSION: Final = "repack.volcano.sh/v1alpha1"
KIND: Final = "RepackRun"


class SelectorRequirement(Document, frozen=True):
    """One entry of matchExpressions."""

    key: Annotated[LabelKey, Meta(description="The label's key.")]
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Annotated[
        list[LabelValue],
        Meta(
            max_length=256, description="In and NotIn need values; Exists and DoesNotExist take none.", extra_json_schema=UNIQUE
        ),
    ] = field(default_factory=list)


class Selector(Document, frozen=True):
    """A Kubernetes LabelSelector."""

    match_labels: Annotated[Labels, Meta(max_length=64, description="Labels that must all be equal.")] = field(
        default_factory=dict
    )
    match_expressions: Annotated[
        list[SelectorRequirement], Meta(max_length=64, description="Requirements that must all hold.")
    ] = field(default_factory=list)


class PodGroupSet(Document, frozen=True):
    """PodGroups by label or by name; both together are a union."""

    selector: Annotated[Selector | None, Meta(description="Matches the PodGroup's own labels.")] = None
    names: Annotated[
        list[PodGroupName],
        Meta(max_length=1024, description="namespace/name of PodGroups.", extra_json_schema=UNIQUE),
    ] = field(default_factory=list)


class NodeSet(Document, frozen=True):
    """Nodes by label or by name; both together are a union."""

    selector: Annotated[Selector | None, Meta(description="Matches the node's labels.")] = None
    names: Annotated[list[Name], Meta(max_length=1024, description="Names of nodes.", extra_json_schema=UNIQUE)] = field(
        default_factory=list
    )


class PodGroupScope(Document, frozen=True):
    """Which workloads may be evicted."""

    include: Annotated[PodGroupSet | None, Meta(description="Empty or absent means all.")] = None
    exclude: Annotated[PodGroupSet | None, Meta(description="Beats include.")] = None


class NodeScope(Document, frozen=True):
    """Which nodes may be emptied; never restricts where pods may go."""

    include: Annotated[NodeSet | None, Meta(description="Empty or absent means all.")] = None
    exclude: Annotated[NodeSet | None, Meta(description="Beats include.")] = None


class Scope(Document, frozen=True):
    """What may be touched; an absent axis does not restrict."""

    pod_groups: Annotated[PodGroupScope | None, Meta(description="Which workloads may be evicted.")] = None
    nodes: Annotated[NodeScope | None, Meta(description="Which nodes may be emptied.")] = None


class Goal(Document, frozen=True):
    """What one run is for."""

    resource: Resource
    min_frag_improvement_percent: Annotated[
        Percent, Meta(description="Least gain in percentage points of the fragmentation rate; 0 means any gain.")
    ] = 0


class MaxPerRun(Document, frozen=True):
    """The run's budget; an absent entry is no cap, 0 means none may move."""

    pod_groups: Annotated[Count | None, Meta(description="Most distinct PodGroups touched.")] = None
    resources: Annotated[dict[Resource, Count], Meta(max_length=16, description="Most whole devices moved, by resource.")] = (
        field(default_factory=dict)
    )


class Eviction(Document, frozen=True):
    """How pods are evicted."""

    grace_period_seconds: Annotated[
        Seconds | None, Meta(description="Passed to the Eviction API; absent means each pod's own; 0 is immediate.")
    ] = None


class RunTemplateSpec(Document, frozen=True):
    """A RepackRun's spec without its mode, as policies hold it."""

    goals: Annotated[list[Goal], Meta(min_length=1, max_length=1, description="Exactly one goal.")]
    scope: Annotated[Scope | None, Meta(description="What may be touched; absent means everything.")] = None
    max_per_run: Annotated[MaxPerRun | None, Meta(description="The run's budget.")] = None
    eviction: Annotated[Eviction | None, Meta(description="How pods are evicted; ignored by DryRun.")] = None
    ttl_seconds_after_finished: Annotated[
        Seconds | None, Meta(description="The in-cluster object is deleted that long after completionTime.")
    ] = None


class RunSpec(RunTemplateSpec, frozen=True, kw_only=True):
    """A RepackRun's spec; immutable once in the cluster."""

    mode: Annotated[Literal["DryRun", "Execute"], Meta(description="DryRun only plans; Execute evicts.")]


class MovedPod(Document, frozen=True):
    """A planned move of one pod."""

    name: str
    from_node: str
    to_node: str
    cards: Count


class Move(Document, frozen=True):
    """The planned moves of one PodGroup."""

    namespace: str
    pod_group_name: str
    cards: Count
    pods: list[MovedPod]
    owner: OwnerRef | None = None


class ResolvedScope(Document, frozen=True):
    """How much the scope covers now."""

    pod_group_count: Count
    node_count: Count


class PlanSummary(Document, frozen=True):
    """The plan in six numbers."""

    frag_before_percent: Percent
    frag_after_percent: Percent
    freed_node_count: Count
    moved_card_count: Count
    resolved_scope: ResolvedScope


class DisruptionStatus(Document, frozen=True):
    """The five dimensions of spec 2.3 over the whole plan."""

    pod_groups: Annotated[Count, Meta(description="PodGroups affected.")]
    breaches: Annotated[Count, Meta(description="PodGroups moved beyond their slack (running - minAvailable).")]
    damaged_cards: Annotated[Count, Meta(description="Cards moved within slack, plus whole footprints beyond it.")]
    moved_cards: Count
    moved_pods: Count


class StayingNodes(Document, frozen=True):
    """Occupied nodes that are not freed, grouped by the reason."""

    reason: str
    message: str
    node_count: Count
    nodes: Annotated[list[str], Meta(description="Names, at most 20 of them.")] = field(default_factory=list)


class PlanStatus(Document, frozen=True):
    """What the planner saw and proposes; never rewritten."""

    summary: PlanSummary
    moves: list[Move] = field(default_factory=list)
    freed_nodes: Annotated[list[str], Meta(description="In the order of execution.")] = field(default_factory=list)
    strategy: str = ""
    exact: Annotated[bool | None, Meta(description="Whether the optimum behind the rate is exact.")] = None
    disruption: DisruptionStatus | None = None
    staying_nodes: list[StayingNodes] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    disruption_budgets: Annotated[
        list[DisruptionBudgetStatus], Meta(description="Every PodDisruptionBudget that selects a pod of the plan.")
    ] = field(default_factory=list)
    restarts: list[RestartStatus] = field(default_factory=list)
    optimality: Annotated[OptimalityStatus | None, Meta(description="Only where the strategy proves something.")] = None
    frontier: Annotated[FrontierStatus | None, Meta(description="What less disruption frees; only where asked for.")] = None


class EvictionPhase(StrEnum):
    """How far the eviction of one victim got."""

    PENDING = "Pending"
    IN_PROGRESS = "InProgress"
    ACCEPTED = "Accepted"
    INDIRECTLY_REMOVED = "IndirectlyRemoved"
    REJECTED = "Rejected"


class PlacementPhase(StrEnum):
    """How far the replacement of one victim got."""

    WAITING_FOR_REPLACEMENT = "WaitingForReplacement"
    WAITING_FOR_NODE_SELECTION = "WaitingForNodeSelection"
    NOMINATED = "Nominated"
    PLACED = "Placed"
    TIMED_OUT = "TimedOut"


class EvictionStatus(Document, frozen=True):
    """Journal of one eviction."""

    phase: EvictionPhase
    message: str = ""
    accepted_time: Timestamp = ""


class PlacementStatus(Document, frozen=True):
    """Journal of one replacement."""

    phase: PlacementPhase
    selected_node_name: str = ""
    replacement_pod_name: str = ""
    replacement_pod_uid: str = field(default="", name="replacementPodUID")
    actual_node_name: str = ""
    expiration_time: Timestamp = ""


class Relocation(Document, frozen=True):
    """The durable record of one planned pod move."""

    namespace: str
    pod_group_name: str
    victim_pod_name: str
    planned_node_name: str
    eviction: EvictionStatus
    placement: PlacementStatus
    victim_pod_uid: str = field(default="", name="victimPodUID")
    source_node_name: str = ""
    cards: Count = 0
    replacement_pod_group_name: str = ""


class ResultStatus(Document, frozen=True):
    """What an Execute run really achieved."""

    frag_after_percent: Percent
    freed_node_count: Count
    moved_card_count: Count
    metrics_verified: bool
    freed_nodes: list[str] = field(default_factory=list)


class Condition(Document, frozen=True):
    """A standard Kubernetes condition; conditions are the authority."""

    type: Literal["Progressing", "Complete", "Failed"]
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str
    last_transition_time: Timestamp
    observed_generation: Annotated[int, Meta(ge=0)] = 0


class RunStatus(Document, frozen=True):
    """A RepackRun's status; ``phase`` is derived from the conditions."""

    phase: Literal["Pending", "Running", "Succeeded", "Failed"]
    message: str = ""
    start_time: Timestamp = ""
    completion_time: Timestamp = ""
    plan: PlanStatus | None = None
    result: ResultStatus | None = None
    relocations: list[Relocation] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)


class RunMetadata(Document, frozen=True):
    """Name, labels and annotations; a RepackRun has no namespace."""

    name: Name
    labels: Labels = field(default_factory=dict)
    annotations: Annotations = field(default_factory=dict)
    generate_name: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Annotated[int, Meta(ge=0)] = 0
    creation_timestamp: Timestamp = ""
    deletion_timestamp: Timestamp | None = None
    deletion_grace_period_seconds: Seconds | None = None
    managed_fields: Any | UnsetType = UNSET
    owner_references: Any | UnsetType = UNSET
    finalizers: list[str] = field(default_factory=list)


class RepackRun(Document, frozen=True, kw_only=True):
    """One repack: a file in git, and, while it executes, an object in the cluster."""

    api_version: Literal["repack.volcano.sh/v1alpha1"]
    kind: Literal["RepackRun"]
    metadata: RunMetadata
    spec: RunSpec
    status: RunStatus | None = None


def new_run(metadata: RunMetadata, spec: RunSpec, status: RunStatus | None = None) -> RepackRun:
    """Return a RepackRun with its fixed apiVersion and kind."""
    return RepackRun(api_version=API_VERSION, kind=KIND, metadata=metadata, spec=spec, status=status)


def run_spec(template: RunTemplateSpec, mode: Literal["DryRun", "Execute"]) -> RunSpec:
    """Return ``template`` as the spec of a run in ``mode``."""
    return RunSpec(mode=mode, **{name: getattr(template, name) for name in RunTemplateSpec.__struct_fields__})
