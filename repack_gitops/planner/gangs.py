"""Gangs that lack members already: Volcano starts no pod of a PodGroup of which too few pods could ever run."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod, PodGroup
from repack_gitops.model.plan import Code, Reason


class Gangs:
    """Answers for the PodGroups of one snapshot; each is counted once."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._reasons: dict[Key, Reason | None] = {}

    def why_not(self, group: PodGroup) -> Reason | None:
        """Return why a replacement in ``group`` would stay Pending, or None.

        Volcano's gang plugin counts members that run, wait, or have succeeded, and passes the group over while these are
        fewer than minMember (job_info.go ``ValidTaskNum``). An eviction takes none away: the replacement waits.
        """
        if group.key not in self._reasons:
            self._reasons[group.key] = self._count(group)
        return self._reasons[group.key]

    def _count(self, group: PodGroup) -> Reason | None:
        members = self._snapshot.pods_by_group.get(group.key, ())
        valid = sum(1 for pod in members if _valid(pod))
        if valid >= group.min_member:
            return None
        name = f"PodGroup {group.namespace}/{group.name}"
        return Reason(Code.GANG_INCOMPLETE, f"{name} has {valid} pods and needs {group.min_member}: Volcano starts none of it")


def _valid(pod: Pod) -> bool:
    return pod.phase == "Succeeded" or (pod.phase != "Failed" and not pod.terminating)
