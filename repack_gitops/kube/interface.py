"""The cluster port: what this project ever asks of Kubernetes, one method per verb and object.

Expected refusals are values, so that callers ``match`` on them; anything else (unreachable, malformed, a missing
permission where none was expected) raises a RepackError. Every call is bounded in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from repack_gitops.model.cluster import Node, Pod, PodDisruptionBudget
from repack_gitops.model.kubernetes import Wire
from repack_gitops.model.run import RepackRun


# ---- eviction ----
@dataclass(frozen=True, slots=True)
class Evicted:
    """201: accepted; the pod is only asked to leave, it is not gone."""


@dataclass(frozen=True, slots=True)
class BudgetRefused:
    """429 with cause DisruptionBudget: a PDB does not allow it now. ``retry_after`` in seconds, 0 when not said.

    The API server asks the budget before it looks at the UID: another pod may bear the name by now.
    """

    message: str
    retry_after: int = 0


@dataclass(frozen=True, slots=True)
class Throttled:
    """429 without that cause: API priority and fairness."""

    message: str
    retry_after: int = 0


@dataclass(frozen=True, slots=True)
class PodGone:
    """404, or 409 because another UID bears the name: the victim no longer exists."""

    message: str


@dataclass(frozen=True, slots=True)
class PermanentRefusal:
    """Several PDBs select the pod (500), no permission (403), or an invalid request (422): no retry helps."""

    message: str


@dataclass(frozen=True, slots=True)
class TransientRefusal:
    """Another 500, 503, 504, a conflict, a webhook's refusal or a broken connection: try again, bounded."""

    message: str


EvictionAnswer = Evicted | BudgetRefused | Throttled | PodGone | PermanentRefusal | TransientRefusal


# ---- nomination ----
@dataclass(frozen=True, slots=True)
class Nominated:
    """The pod carries the nomination."""


@dataclass(frozen=True, slots=True)
class NotNominated:
    """The pod is bound, gone or another one; or the write was refused. Nominations are hints: nobody retries for ever."""

    message: str
    transient: bool = False


# ---- watching ----
@dataclass(frozen=True, slots=True)
class PodEvent:
    """One change of a pod; ``resource_version`` is where a next watch goes on."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    pod: Pod
    resource_version: str


@dataclass(frozen=True, slots=True)
class PodList:
    """All pods at one resourceVersion."""

    pods: tuple[Pod, ...]
    resource_version: str


class WatchExpired(Exception):
    """410: the resourceVersion is too old; list again."""


# ---- writes with compare-and-swap ----
@dataclass(frozen=True, slots=True)
class Conflict:
    """The object changed, exists already or is gone since it was read: read again, decide again."""

    message: str


@dataclass(frozen=True, slots=True)
class Lease:
    """A coordination.k8s.io Lease. Times are RFC 3339 with microseconds."""

    namespace: str
    name: str
    holder: str = ""
    duration_seconds: int = 60
    acquire_time: str = ""
    renew_time: str = ""
    transitions: int = 0
    annotations: Mapping[str, str] = field(default_factory=dict)
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class JobState:
    """What a dispatcher needs to know of a Job."""

    namespace: str
    name: str
    active: bool
    succeeded: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class Access:
    """One permission, as SelfSubjectAccessReview asks for it; an empty namespace means all namespaces."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        group = f".{self.group}" if self.group else ""
        return f"{self.verb} {resource}{group}" + (f" in namespace {self.namespace}" if self.namespace else "")


class Cluster(Protocol):
    """A Kubernetes cluster with Volcano."""

    def list_objects(self) -> Iterable[Wire]:
        """Yield every object a snapshot consists of: each kind paged at one resourceVersion, or an error.

        A kind whose CRD is not installed yields nothing (PodGroups: an error, since Volcano is not there).
        """

    def list_nodes(self) -> tuple[Node, ...]:
        """Return all nodes, sorted by name."""

    def list_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """Return all PodDisruptionBudgets, sorted by namespace and name."""

    def list_pods(self) -> PodList:
        """Return all pods of all namespaces, paged at one resourceVersion."""

    def watch_pods(self, resource_version: str, seconds: int) -> Iterator[PodEvent]:
        """Yield changes since ``resource_version`` for at most ``seconds``; bookmarks are consumed inside.

        A connection that breaks ends the iteration as its time does: watch again from the last event's version.

        Raises
        ------
        WatchExpired
            The server no longer knows that version.
        """

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        """Return the pod, or None when there is none."""

    def evict(self, namespace: str, name: str, uid: str, *, grace_period_seconds: int | None, dry_run: bool) -> EvictionAnswer:
        """POST pods/eviction (policy/v1) with ``uid`` as precondition."""

    def nominate(self, namespace: str, name: str, uid: str, node: str | None) -> Nominated | NotNominated:
        """PATCH pods/status nominatedNodeName if the pod still has ``uid``; None clears the nomination."""

    def get_run(self, name: str) -> RepackRun | None:
        """Return the RepackRun, or None."""

    def list_runs(self) -> tuple[RepackRun, ...]:
        """Return all RepackRuns, sorted by name."""

    def create_run(self, run: RepackRun) -> RepackRun | Conflict:
        """Create the RepackRun (metadata and spec; the status is written by ``update_run_status``)."""

    def update_run_status(self, run: RepackRun) -> RepackRun | Conflict:
        """PUT the status with the resourceVersion it was read at; returns the object as stored."""

    def delete_run(self, name: str, uid: str) -> None:
        """Delete the RepackRun if it still has ``uid``; absent is fine."""

    def get_lease(self, namespace: str, name: str) -> Lease | None:
        """Return the Lease, or None."""

    def put_lease(self, lease: Lease) -> Lease | Conflict:
        """Create the Lease (empty resource_version) or update it with compare-and-swap."""

    def get_config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        """Return the ConfigMap's data, or None."""

    def create_job(self, namespace: str, manifest: Mapping[str, Any]) -> JobState | Conflict:
        """Create a batch/v1 Job; Conflict when the name is taken."""

    def get_job(self, namespace: str, name: str) -> JobState | None:
        """Return the Job's state, or None."""

    def allowed(self, access: Access) -> bool:
        """SelfSubjectAccessReview."""
