"""What planning answers: an Evaluation, with a plan or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from repack_gitops.model.budget_forecast import BudgetForecast
from repack_gitops.model.change import Change
from repack_gitops.model.cluster import Key, Owner
from repack_gitops.model.impact import Disruption, GroupImpact, WorkloadRestart


class Verdict(StrEnum):
    """The Complete condition's reason for an evaluation; all three are normal answers."""

    RECOMMENDED = "RepackRecommended"
    NO_FRAGMENTATION = "NoFragmentation"
    INSUFFICIENT = "InsufficientImprovement"


class Code(StrEnum):
    """Why a pod does not move, a node is not emptied, or a node does not receive."""

    # a pod that may not move
    OTHER_SCHEDULER = "OtherScheduler"
    NO_POD_GROUP = "NoPodGroup"
    POD_GROUP_NOT_FOUND = "PodGroupNotFound"
    POD_GROUP_OUT_OF_SCOPE = "PodGroupOutOfScope"
    NO_CONTROLLER = "NoController"
    UNKNOWN_CONTROLLER = "UnknownController"
    OWNER_NOT_FOUND = "OwnerNotFound"
    DAEMON_SET = "DaemonSet"
    MIRROR_POD = "MirrorPod"
    TERMINATING = "Terminating"
    FATAL_POLICY = "FatalPolicy"
    CASCADING_POLICY = "CascadingPolicy"
    LAST_RETRY = "LastRetry"
    OWNER_WAITS = "OwnerWaits"
    GANG_INCOMPLETE = "GangIncomplete"
    VOLUME_SHARED = "VolumeShared"
    UNKNOWN_POLICY = "UnknownPolicy"
    UNSUPPORTED_CONSTRAINT = "UnsupportedConstraint"
    QUEUE_CLOSED = "QueueClosed"
    QUEUE_OVER_CAPABILITY = "QueueOverCapability"
    # a pod that is left alone (safety options)
    DO_NOT_DISRUPT = "DoNotDisrupt"
    TOO_YOUNG = "TooYoung"
    PRIORITY_TOO_HIGH = "PriorityTooHigh"
    LOCAL_STORAGE = "LocalStorage"
    RECENTLY_MOVED = "RecentlyMoved"
    SEVERAL_DISRUPTION_BUDGETS = "SeveralDisruptionBudgets"
    DISRUPTION_BUDGET_FORBIDS = "DisruptionBudgetForbids"
    # a node that may not be emptied
    NODE_OUT_OF_SCOPE = "NodeOutOfScope"
    NO_RECEIVER = "NoReceiver"
    BUDGET_EXCEEDED = "BudgetExceeded"
    NAMESPACE_CAP_EXCEEDED = "NamespaceCapExceeded"
    OWNER_CAP_EXCEEDED = "OwnerCapExceeded"
    DISRUPTION_BUDGET_EXCEEDED = "DisruptionBudgetExceeded"
    RECEIVES = "Receives"
    BELOW_THRESHOLD = "BelowThreshold"
    SEARCH_STOPPED = "SearchStopped"
    # a node that may not receive
    NODE_NOT_READY = "NodeNotReady"
    NODE_UNSCHEDULABLE = "NodeUnschedulable"
    TAINT_TOLERATION = "TaintToleration"
    NODE_AFFINITY = "NodeAffinity"
    NODE_PORTS = "NodePorts"
    NODE_RESOURCES = "NodeResourcesFit"
    INTER_POD_AFFINITY = "InterPodAffinity"
    POD_TOPOLOGY_SPREAD = "PodTopologySpread"
    VOLUME_BINDING = "VolumeBinding"
    STORAGE_NOT_FOUND = "StorageNotFound"
    VOLUME_ZONE = "VolumeZone"
    VOLUME_RESTRICTIONS = "VolumeRestrictions"
    NODE_VOLUME_LIMITS = "NodeVolumeLimits"
    NODE_GROUP = "NodeGroup"
    SIBLING_DEVICES = "SiblingDevices"
    NOT_OCCUPIED = "NotOccupied"


@dataclass(frozen=True, slots=True)
class Reason:
    """A typed "no" with the detail a reader needs; the value that decided is the value that is shown."""

    code: Code
    detail: str

    def __str__(self) -> str:
        return f"{self.code.value}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """How many receivers one filter closes; ``what`` is the resource that falls short, or the taint."""

    code: Code
    what: str
    count: int

    def __str__(self) -> str:
        if self.code is Code.NODE_RESOURCES:
            return f"{self.count:,} lack {self.what}"
        return f"{self.count:,} {self.code.value}" + (f" ({self.what})" if self.what else "")


@dataclass(frozen=True, slots=True)
class Stay:
    """Why an occupied node is not freed.

    Attributes
    ----------
    reason
        What decided.
    receivers
        For NoReceiver with a pod that fits nowhere: how many other nodes could receive at all; else 0.
    refusals
        What closes each of them to that pod, the largest first; the counts add up to ``receivers``.
    nearest
        What would remove the reason; several changes only where all of them are needed, none where nothing would.
    """

    reason: Reason
    receivers: int = 0
    refusals: tuple[Refusal, ...] = ()
    nearest: tuple[Change, ...] = ()

    @property
    def code(self) -> Code:
        """The reason's code."""
        return self.reason.code

    @property
    def detail(self) -> str:
        """The reason's detail."""
        return self.reason.detail

    @property
    def remedy(self) -> str:
        """What would change it, in words; empty where nothing would."""
        more = len(self.nearest) - 2
        return " and ".join([*map(str, self.nearest[:2]), *([f"{more:,} more"] if more > 0 else [])])


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """Spec 2.1 for one resource over the whole cluster."""

    providing: int
    occupied: int
    optimal: int
    exact: bool

    @property
    def rate(self) -> Fraction:
        """(occupied - optimal) / providing; 0 where nothing provides the resource."""
        return Fraction(self.occupied - self.optimal, self.providing) if self.providing else Fraction(0)

    @property
    def percent(self) -> int:
        """The rate as people see it: an integer percentage, rounded half up."""
        return int(self.rate * 100 + Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class PodMove:
    """One pod, from where, to where; ``cards`` are whole devices of the target resource."""

    namespace: str
    pod: str
    uid: str
    pod_group: str
    owner: Owner | None
    from_node: str
    to_node: str
    cards: int

    @property
    def group_key(self) -> Key:
        """Namespace and name of the PodGroup."""
        return (self.namespace, self.pod_group)


@dataclass(frozen=True, slots=True)
class Step:
    """One node emptied: the unit of execution."""

    node: str
    moves: tuple[PodMove, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The best plan that one strategy found, whether or not it is the one shown."""

    strategy: str
    freed: int
    disruption: Disruption


class BoundKind(StrEnum):
    """Where an upper bound comes from."""

    #: The optimum of a model in which whatever a plan may do is possible.
    MODEL = "Model"
    #: The same, not to its end: a limit on the solver's work cut the search.
    WORK_LIMIT = "WorkLimit"


@dataclass(frozen=True, slots=True)
class Optimality:
    """How good a plan is; valid for plans in which only pods of freed nodes move.

    Attributes
    ----------
    strategy
        Whose plan is the best one found.
    freed
        Nodes that it frees, also where it gains too little to be recommended.
    upper_bound
        No plan frees more.
    proven
        No plan frees more, and none that frees as many disturbs less.
    reproducible
        Whether the same input gives the same plan again; not so where whoever waited ended the search.
    found
        What each strategy found.
    settled
        Levels of the objective, in its order, in which no plan is better: "freedNodes", "podGroups", "breaches",
        "damagedCards", "movedCards", "movedPods"; all of them where ``proven``.
    """

    strategy: str
    freed: int
    upper_bound: int
    proven: bool
    bound_kind: BoundKind
    reproducible: bool = True
    found: tuple[Found, ...] = ()
    settled: tuple[str, ...] = ()

    @property
    def gap(self) -> int:
        """Nodes between the plan and the bound."""
        return self.upper_bound - self.freed


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """What one limit on disruption buys.

    Attributes
    ----------
    limit
        Most PodGroups, or most cards, that a plan may move.
    freed
        Nodes that the best plan found within the limit frees; all its moves pass the real filters.
    upper_bound
        No plan within the limit frees more.
    disruption
        What that plan does.
    """

    limit: int
    freed: int
    upper_bound: int
    disruption: Disruption

    @property
    def proven(self) -> bool:
        """Whether no plan within the limit frees more."""
        return self.freed == self.upper_bound


@dataclass(frozen=True, slots=True)
class Frontier:
    """Nodes freed against disruption: what one unit more of it buys.

    Attributes
    ----------
    pod_groups
        By a limit on the PodGroups moved, ascending; the last one is where a higher limit frees no more.
    cards
        The same by a limit on the cards moved.
    """

    pod_groups: tuple[FrontierPoint, ...] = ()
    cards: tuple[FrontierPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The planner's whole answer.

    Attributes
    ----------
    steps
        The plan in execution order; empty unless the verdict is RepackRecommended.
    stays
        Every occupied node that is not freed, with the reason, sorted by node.
    improvement
        Percentage points the best plan found would gain, as an exact fraction; shown when it did not suffice.
    disruption_budgets
        What the plan asks of every PodDisruptionBudget that selects a moved pod, sorted by namespace and name.
    optimality
        How good the plan is; None where the strategy proves nothing, or there was nothing to search for.
    frontier
        What less disruption would free; None unless asked for, or where there was nothing to search for.
    reproducible
        Whether the same input gives the same answer again; not so where whoever waited ended the search.
    """

    resource: str
    strategy: str
    verdict: Verdict
    before: Fragmentation
    after: Fragmentation
    steps: tuple[Step, ...]
    disruption: Disruption
    impacts: tuple[GroupImpact, ...]
    stays: Mapping[str, Stay]
    scope_pod_groups: int
    scope_nodes: int
    improvement: Fraction = Fraction(0)
    warnings: tuple[str, ...] = ()
    disruption_budgets: tuple[BudgetForecast, ...] = ()
    restarts: tuple[WorkloadRestart, ...] = ()
    optimality: Optimality | None = None
    frontier: Frontier | None = None
    reproducible: bool = True

    @property
    def moves(self) -> tuple[PodMove, ...]:
        """All moves in execution order."""
        return tuple(m for s in self.steps for m in s.moves)

    @property
    def freed_nodes(self) -> tuple[str, ...]:
        """The nodes freed, in execution order."""
        return tuple(s.node for s in self.steps)
