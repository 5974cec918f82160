"""Safety options: which pods stay where they are because somebody said so, whatever the scheduler could do with them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from repack_gitops.errors import InvalidInput
from repack_gitops.model.cluster import Owner, Pod, PodGroup
from repack_gitops.model.moments import aware_moment
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.safeguards import Safeguards, Workload, pod_group_workload, workload


class SafetyRules:
    """Decides for the pods of one planning call; raises InvalidInput where ``created_before`` is no time."""

    def __init__(self, safeguards: Safeguards) -> None:
        self._safeguards = safeguards
        self._created_before = _limit(safeguards.created_before)

    def why_not(self, pod: Pod, group: PodGroup) -> Reason | None:
        """Return why ``pod``, a member of ``group``, is left alone, or None; protection first, then option by option."""
        return protection(pod, group) or self._age(pod) or self._priority(pod) or self._storage(pod) or self._moved(pod, group)

    def _age(self, pod: Pod) -> Reason | None:
        if self._created_before is None:
            return None
        created = aware_moment(pod.created)
        if created is None:
            return Reason(Code.TOO_YOUNG, f"{_name(pod)} does not say when it was created, and minPodAge asks")
        if created > self._created_before:
            limit = self._safeguards.created_before
            return Reason(Code.TOO_YOUNG, f"{_name(pod)} was created at {pod.created}, minPodAge asks for {limit} or before")
        return None

    def _priority(self, pod: Pod) -> Reason | None:
        most = self._safeguards.max_priority
        if most is None or pod.priority <= most:
            return None
        return Reason(Code.PRIORITY_TOO_HIGH, f"{_name(pod)} has priority {pod.priority}, maxPriority is {most}")

    def _storage(self, pod: Pod) -> Reason | None:
        if self._safeguards.allow_local_storage or not pod.local_volumes:
            return None
        return Reason(Code.LOCAL_STORAGE, f"{_name(pod)} has {', '.join(pod.local_volumes)}, and localStorage is Forbid")

    def _moved(self, pod: Pod, group: PodGroup) -> Reason | None:
        moved = self._safeguards.recently_moved
        found = next((w for w in _workloads(pod, group) if w in moved), None) if moved else None
        if found is None:
            return None
        namespace, kind, name = found
        return Reason(Code.RECENTLY_MOVED, f"{kind} {namespace}/{name} was moved not long ago, and recentlyMoved lets it rest")


def protection(pod: Pod, group: PodGroup) -> Reason | None:
    """Return the annotation on ``pod`` or on its ``group`` that forbids to disrupt it, or None."""
    if pod.do_not_disrupt:
        return Reason(Code.DO_NOT_DISRUPT, f"{_name(pod)} has the annotation {pod.do_not_disrupt}")
    if group.do_not_disrupt:
        return Reason(Code.DO_NOT_DISRUPT, f"PodGroup {group.namespace}/{group.name} has the annotation {group.do_not_disrupt}")
    return None


def _workloads(pod: Pod, group: PodGroup) -> Iterator[Workload]:
    yield pod_group_workload(group.namespace, group.name)
    for owner in dict.fromkeys((group.owner, pod.owner)):
        if owner is not None:
            yield owner_workload(pod.namespace, owner)


def owner_workload(namespace: str, owner: Owner) -> Workload:
    """Return ``owner`` as a workload."""
    return workload(namespace, owner.api_version, owner.kind, owner.name)


def _limit(text: str | None) -> datetime | None:
    moment = None if text is None else aware_moment(text)
    if text is not None and moment is None:
        raise InvalidInput(f"created_before is {text[:40]!r}", hint="It must be an RFC 3339 time with a zone.")
    return moment


def _name(pod: Pod) -> str:
    return f"pod {pod.namespace}/{pod.name}"
