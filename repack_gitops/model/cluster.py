"""A cluster as the planner sees it: one frozen object, whichever door it came through.

All amounts are integers in thousandths (``model.quantity``). Tuples are sorted by name, so that equal clusters are equal
objects whatever the order of the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from repack_gitops.model.affinity import AffinityTerm, Namespaces, SpreadConstraint
from repack_gitops.model.labels import LabelSelector
from repack_gitops.model.node_terms import NodeTerm, PreferredTerm
from repack_gitops.model.owners import Owners
from repack_gitops.model.storage import ClaimUse, Storage

#: Resource name -> thousandths; entries of zero are left out.
Amounts = Mapping[str, int]
#: (namespace, name)
Key = tuple[str, str]

TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's toleration."""

    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Taint) -> bool:
        """Tell whether this toleration covers ``taint``, by Kubernetes' rules."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return bool(self.key) and self.operator in ("", "Equal") and self.value == taint.value


@dataclass(frozen=True, slots=True, order=True)
class HostPort:
    """A port a pod takes on its node; ``0.0.0.0`` stands for all addresses."""

    port: int
    protocol: str
    address: str

    def conflicts(self, other: HostPort) -> bool:
        """Tell whether both cannot be on one node."""
        same = self.port == other.port and self.protocol == other.protocol
        return same and (self.address == other.address or "0.0.0.0" in (self.address, other.address))  # noqa: S104


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a pod demands of its node beyond resources; equal templates share one object.

    ``node_terms`` is None without required node affinity, and an OR of terms with it (no term matches nothing).
    """

    node_selector: tuple[tuple[str, str], ...] = ()
    node_terms: tuple[NodeTerm, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    host_ports: tuple[HostPort, ...] = ()


@dataclass(frozen=True, slots=True)
class Relations:
    """What a pod demands of other pods; equal demands share one object."""

    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.affinity or self.anti_affinity or self.spread)


@dataclass(frozen=True, slots=True)
class Owner:
    """A controlling owner, as ownerReferences name it."""

    api_version: str
    kind: str
    name: str
    uid: str = ""

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def qualified_kind(self) -> str:
        """The kind as kubectl tells it from others of its name: ``Job.batch.volcano.sh``; alone in the core group."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


@dataclass(frozen=True, slots=True)
class Node:
    """A node.

    Attributes
    ----------
    ready
        False only where the Ready condition says so.
    do_not_disrupt
        The annotation that keeps it from being emptied, as ``name=value``; empty without one.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Amounts
    unschedulable: bool = False
    ready: bool = True
    do_not_disrupt: str = ""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod.

    Attributes
    ----------
    requests
        What it is charged on its node, as Volcano charges it (in-place resize included).
    template
        What its replacement will ask for: the same from the spec alone, or what it holds where that is more.
    preferred
        Its preferred node affinity; no filter reads it.
    gated
        It has scheduling gates, so no scheduler looks at it yet.
    unsupported
        Constraints of the spec that no filter of ours decides yet, by field name.
    do_not_disrupt
        The annotation that protects it, as ``name=value``; empty without one.
    local_volumes
        Its hostPath and disk-backed emptyDir volumes, as ``hostPath(name)`` and ``emptyDir(name)``.
    """

    namespace: str
    name: str
    uid: str
    labels: Mapping[str, str]
    node: str | None
    phase: str
    scheduler_name: str
    pod_group: str | None
    owner: Owner | None
    requests: Amounts
    template: Amounts
    constraints: Constraints
    unsupported: tuple[str, ...] = ()
    relations: Relations = Relations()
    claims: tuple[ClaimUse, ...] = ()
    preferred: tuple[PreferredTerm, ...] = ()
    nominated_node: str | None = None
    terminating: bool = False
    gated: bool = False
    mirror: bool = False
    ready: bool = True
    priority: int = 0
    grace_seconds: int | None = None
    created: str = ""
    do_not_disrupt: str = ""
    local_volumes: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return (self.namespace, self.name)

    @property
    def active(self) -> bool:
        """Whether it still holds resources: neither Succeeded nor Failed."""
        return self.phase not in TERMINAL_PHASES


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A Volcano PodGroup.

    Attributes
    ----------
    unsupported
        Constraints of its own that no filter of ours decides yet.
    do_not_disrupt
        The annotation that protects its members, as ``name=value``; empty without one.
    """

    namespace: str
    name: str
    uid: str
    labels: Mapping[str, str]
    min_member: int
    owner: Owner | None = None
    deleting: bool = False
    unsupported: tuple[str, ...] = ()
    queue: str = ""
    do_not_disrupt: str = ""

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return (self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class NodeGroupAffinity:
    """A queue's rules for node groups, names of groups each."""

    required: frozenset[str] = frozenset()
    preferred: frozenset[str] = frozenset()
    anti_required: frozenset[str] = frozenset()
    anti_preferred: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.required or self.preferred or self.anti_required or self.anti_preferred)

    def admits(self, group: str) -> bool:
        """Tell whether Volcano's nodegroup plugin lets the queue's pods onto nodes of ``group``."""
        wanted = group in self.required or group in self.preferred
        return (wanted and group not in self.anti_required) or group in self.anti_preferred


@dataclass(frozen=True, slots=True)
class Queue:
    """A Volcano queue; ``state`` is empty until Volcano wrote it; a resource without capability has no limit."""

    name: str
    parent: str = ""
    state: str = ""
    capability: Amounts = field(default_factory=dict)
    node_groups: NodeGroupAffinity = NodeGroupAffinity()


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """A PodDisruptionBudget with the status its controller last wrote.

    Attributes
    ----------
    observed
        Whether that status is about the present spec.
    min_available, max_unavailable
        As the spec has them: a number of pods, or text such as ``"50%"``.
    expected_pods
        What the controller counts as all of its pods.
    sync_failure
        Why the controller could not compute the status, if it could not.
    """

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int
    current_healthy: int
    desired_healthy: int
    unhealthy_policy: str
    observed: bool
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    expected_pods: int = 0
    sync_failure: str = ""

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return (self.namespace, self.name)

    def selects(self, pod: Pod) -> bool:
        """Tell whether this budget counts ``pod``."""
        return self.selector is not None and pod.namespace == self.namespace and self.selector.matches(pod.labels)


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """One lifecycle policy of a VCJob: on any of ``events``, do ``action``; without events it goes by an exit code."""

    events: frozenset[str]
    action: str


@dataclass(frozen=True, slots=True)
class VolcanoJob:
    """What a VCJob does when a member is evicted; task policies stand by task name, in the order that Volcano reads them."""

    namespace: str
    name: str
    policies: tuple[JobPolicy, ...]
    task_policies: Mapping[str, tuple[JobPolicy, ...]]
    max_retry: int
    retry_count: int
    deleting: bool = False
    phase: str = ""


@dataclass(frozen=True)
class ClusterSnapshot:
    """Everything a plan depends on, at one moment."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    pod_groups: Mapping[Key, PodGroup] = field(default_factory=dict)
    budgets: tuple[PodDisruptionBudget, ...] = ()
    volcano_jobs: Mapping[Key, VolcanoJob] = field(default_factory=dict)
    namespaces: Namespaces = field(default_factory=dict)
    queues: Mapping[str, Queue] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)
    owners: Owners = field(default_factory=Owners)

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return {n.name: n for n in self.nodes}

    @cached_property
    def pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """Active pods by the node they are bound to, sorted by key; every node has an entry."""
        found: dict[str, list[Pod]] = {n.name: [] for n in self.nodes}
        for pod in self.pods:
            if pod.active and pod.node in found:
                found[pod.node].append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    @cached_property
    def pods_by_group(self) -> Mapping[Key, tuple[Pod, ...]]:
        """Pods by the PodGroup they name, whatever their phase."""
        found: dict[Key, list[Pod]] = {}
        for pod in self.pods:
            if pod.pod_group is not None:
                found.setdefault((pod.namespace, pod.pod_group), []).append(pod)
        return {key: tuple(pods) for key, pods in found.items()}

    def used(self, node: str, resource: str) -> int:
        """Return what active pods on ``node`` are charged of ``resource``, in thousandths; O(pods on the node)."""
        return sum(p.requests.get(resource, 0) for p in self.pods_by_node[node])
