"""What the cluster looks like after the last replacement: two lists apart must agree (spec 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repack_gitops.kube.interface import Cluster
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Fragmentation
from repack_gitops.planner.fragmentation import fragmentation
from repack_gitops.workflow.clock import Clock
from repack_gitops.workflow.execution.lock import ExecutorLock
from repack_gitops.workflow.execution.replanning import live_snapshot

APART_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Verified:
    """The planned nodes without the resource, whether both lists agreed, and the fragmentation then."""

    freed: tuple[str, ...]
    agreed: bool
    fragmentation: Fragmentation


def verify_result(cluster: Cluster, clock: Clock, lock: ExecutorLock, planned: Sequence[str], resource: str) -> Verified:
    """List twice, at least five seconds apart, and return what both say."""
    first = _free(live_snapshot(cluster, clock, lock), planned, resource)
    clock.sleep(APART_SECONDS)
    snapshot = live_snapshot(cluster, clock, lock)
    second = _free(snapshot, planned, resource)
    return Verified(tuple(n for n in planned if n in second), first == second, fragmentation(snapshot, resource))


def _free(snapshot: ClusterSnapshot, planned: Sequence[str], resource: str) -> frozenset[str]:
    """Ready planned nodes without the resource; terminating pods still hold it."""
    return frozenset(
        n for n in planned if n in snapshot.node_by_name and snapshot.node_by_name[n].ready and snapshot.used(n, resource) == 0
    )
