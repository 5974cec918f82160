"""What status.plan says of owners and of what restarts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from repack_gitops.model.document import Document
from repack_gitops.model.fields import Count
from repack_gitops.model.impact import WorkloadRestart


class OwnerRef(Document, frozen=True):
    """The direct workload controller of a PodGroup."""

    api_version: str
    kind: str
    name: str


class RestartStatus(Document, frozen=True):
    """What restarts of one workload, where that is more than its moves, or where its controller counts evictions."""

    namespace: str
    owner: OwnerRef
    unit: Annotated[str, Meta(description="Created again as a whole: Pod, Partition, Task, Role, Group, Job or JobSet.")]
    moved_pods: Count
    restarting_pods: Annotated[Count, Meta(description="All pods that restart, moved ones among them.")]
    outside_moves: Annotated[Count, Meta(description="Pods that restart though no move names them.")] = 0
    retries_left: Annotated[Count | None, Meta(description="Evictions it survives after the plan; absent: not counted.")] = None
    last_retry: Annotated[bool, Meta(description="Whether the next eviction or failure ends the workload.")] = False


def restart_status(restart: WorkloadRestart) -> RestartStatus:
    """Return ``restart`` as an entry of status.plan.restarts."""
    owner = restart.owner
    return RestartStatus(
        namespace=restart.namespace,
        owner=OwnerRef(api_version=owner.api_version, kind=owner.kind, name=owner.name),
        unit=restart.unit,
        moved_pods=restart.moved_pods,
        restarting_pods=restart.restarting_pods,
        outside_moves=restart.outside_moves,
        retries_left=restart.retries_left,
        last_retry=restart.last_retry,
    )
