"""maxPodsPerNamespace and maxPodsPerOwner: how many pods of one namespace, and of one owner, a whole plan moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod
from repack_gitops.model.plan import Code, PodMove
from repack_gitops.model.safeguards import Safeguards, Workload
from repack_gitops.planner.disruption import group_owner
from repack_gitops.planner.quotas import Quota, QuotaRule
from repack_gitops.planner.safety import owner_workload


def cap_rules(snapshot: ClusterSnapshot, safeguards: Safeguards) -> tuple[QuotaRule, ...]:
    """Return the caps in force, as rules in the sense of ``planner.quotas``."""
    rules: list[QuotaRule] = []
    if safeguards.pods_per_namespace is not None:
        rules.append(_per_namespace(safeguards.pods_per_namespace))
    if safeguards.pods_per_owner is not None:
        rules.append(_per_owner(snapshot, safeguards.pods_per_owner))
    return tuple(rules)


def _per_namespace(limit: int) -> QuotaRule:
    return lambda pod: (Quota(f"maxPodsPerNamespace of {pod.namespace}", limit, Code.NAMESPACE_CAP_EXCEEDED),)


def _per_owner(snapshot: ClusterSnapshot, limit: int) -> QuotaRule:
    """The owner is the one that the plan shows: the PodGroup's, else the pod's controller."""

    @cache
    def owner_of(group: Key) -> Owner | None:
        return group_owner(snapshot, group) if group in snapshot.pod_groups else None

    def rule(pod: Pod) -> tuple[Quota, ...]:
        owner = (owner_of((pod.namespace, pod.pod_group)) if pod.pod_group else None) or pod.owner
        if owner is None:
            return ()
        return (Quota(f"maxPodsPerOwner of {_told(owner_workload(pod.namespace, owner))}", limit, Code.OWNER_CAP_EXCEEDED),)

    return rule


def over_caps(moves: Iterable[PodMove], pods: Mapping[Key, Pod], safeguards: Safeguards) -> Iterator[str]:
    """Yield what exceeds a cap, for the judge: counted from the moves and the owners that they show, without quotas."""
    namespaces: dict[str, int] = {}
    owners: dict[Workload, int] = {}
    for move in moves:
        namespaces[move.namespace] = namespaces.get(move.namespace, 0) + 1
        pod = pods.get((move.namespace, move.pod))
        owner = move.owner or (pod.owner if pod else None)
        if owner is not None:
            key = owner_workload(move.namespace, owner)
            owners[key] = owners.get(key, 0) + 1
    for name, count in sorted(namespaces.items()):
        if safeguards.pods_per_namespace is not None and count > safeguards.pods_per_namespace:
            yield f"{count} pods of namespace {name} move, {safeguards.pods_per_namespace} may"
    for key, count in sorted(owners.items()):
        if safeguards.pods_per_owner is not None and count > safeguards.pods_per_owner:
            yield f"{count} pods of {_told(key)} move, {safeguards.pods_per_owner} may"


def _told(found: Workload) -> str:
    namespace, kind, name = found
    return f"{kind} {namespace}/{name}"
