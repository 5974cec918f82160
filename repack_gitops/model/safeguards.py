"""What a planning call leaves alone beyond scope and feasibility; computed from a policy and a moment by the caller."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.model.cluster import Owner

#: (namespace, kind, name) of a PodGroup or of an owner; an owner's kind carries its API group: Job.batch.volcano.sh.
Workload = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Safeguards:
    """Options that keep workloads where they are; the defaults restrict nothing.

    Attributes
    ----------
    created_before
        RFC 3339 with a zone: pods created later stay. An instant, not an age, so that planning needs no clock.
    max_priority
        Pods with a higher priority stay.
    pods_per_namespace, pods_per_owner
        Most pods of one namespace, and of one owner, that a plan moves.
    allow_local_storage
        Whether pods with hostPath or disk-backed emptyDir volumes may move.
    recently_moved
        Workloads that stay because they were moved not long ago.
    """

    created_before: str | None = None
    max_priority: int | None = None
    pods_per_namespace: int | None = None
    pods_per_owner: int | None = None
    allow_local_storage: bool = True
    recently_moved: frozenset[Workload] = frozenset()


def workload(namespace: str, api_version: str, kind: str, name: str) -> Workload:
    """Return the workload that an owner reference in ``namespace`` names."""
    return (namespace, Owner(api_version, kind, name).qualified_kind, name)


def pod_group_workload(namespace: str, name: str) -> Workload:
    """Return a PodGroup as a workload."""
    return workload(namespace, "scheduling.volcano.sh/v1beta1", "PodGroup", name)
