"""``spec.safety``: which workloads a policy's runs leave alone, and how much of each they may move."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from repack_gitops.model.document import Document
from repack_gitops.model.fields import Count, Pause, Priority


class Safety(Document, frozen=True):
    """Whom runs leave alone; annotations such as do-not-disrupt are honoured without any option.

    The defaults forbid only what can destroy work that nobody can see from the plan: cascades. PodDisruptionBudgets are
    asked by the executor in any case, so a plan warns of them by default. Local storage is allowed by default, since
    nearly every training pod has a scratch emptyDir: forbidding it would leave nothing to move.
    """

    disruption_budgets: Annotated[
        Literal["Warn", "Enforce"],
        Meta(description="Whether plans warn of PodDisruptionBudgets that will refuse, or never need more than they allow."),
    ] = "Warn"
    cascades: Annotated[
        Literal["Forbid", "Allow"],
        Meta(description="Whether pods may move whose eviction restarts more of their workload than themselves."),
    ] = "Forbid"
    min_pod_age: Annotated[Pause, Meta(description="Pods created less than that long before the plan stay; 0s is none.")] = "0s"
    max_priority: Annotated[Priority | None, Meta(description="Pods with a higher priority stay; absent is no limit.")] = None
    max_pods_per_namespace: Annotated[
        Count | None, Meta(description="Most pods of one namespace a run moves; absent is no limit, 0 is none.")
    ] = None
    max_pods_per_owner: Annotated[
        Count | None, Meta(description="Most pods of one owner, such as a job, a run moves; absent is no limit, 0 is none.")
    ] = None
    local_storage: Annotated[
        Literal["Allow", "Forbid"],
        Meta(description="Whether pods with hostPath volumes or emptyDir volumes on disk may move; what is in them is lost."),
    ] = "Allow"
    recently_moved: Annotated[
        Pause, Meta(description="Workloads moved by a run that ended less than that long ago stay; 0s is off.")
    ] = "0s"


class SafetyGuardrail(Safety, frozen=True):
    """The same for every policy: the stricter of both wins, and what is not said here restricts nothing."""

    cascades: Annotated[
        Literal["Forbid", "Allow"], Meta(description="Forbid: no policy may allow cascades. Allow leaves it to the policies.")
    ] = "Allow"
