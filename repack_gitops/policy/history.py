"""What past runs moved, as their recorded results tell; so that the same workload is not moved night after night."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from repack_gitops.model.moments import aware_moment
from repack_gitops.model.run import Relocation, RepackRun, RunStatus
from repack_gitops.model.safeguards import Workload, pod_group_workload, workload
from repack_gitops.policy.ending import REMOVED

_COMPLETION_TIME = re.compile(rb"^ *completionTime: *[\"']?([^\s\"']+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PastMove:
    """A workload that a run moved; ``ended`` is when that run ended (aware), None where its result does not say."""

    workload: Workload
    ended: datetime | None


def past_moves(result: RepackRun) -> frozenset[PastMove]:
    """Return the workloads of which ``result`` removed a pod: PodGroups, the ones replacements joined, and their owners."""
    status = result.status
    if status is None:
        return frozenset()
    ended, removed = aware_moment(status.completion_time), [r for r in status.relocations if r.eviction.phase in REMOVED]
    return frozenset(PastMove(w, ended) for w in (*_groups(removed), *_owners(status, removed)))


def ended_before(content: bytes, since: datetime) -> bool:
    """Tell whether result.yaml, as we write it, says that its run ended before ``since`` (aware).

    A look at one line instead of a second's parsing: most results are old. When in doubt, no.
    """
    found = _COMPLETION_TIME.findall(content)
    moment = aware_moment(found[0].decode("utf-8", "replace")) if len(found) == 1 else None
    return moment is not None and moment < since


def moved_since(past: Iterable[PastMove], since: datetime) -> frozenset[Workload]:
    """Return the workloads moved by a run that ended after ``since`` (aware), or at a time that nobody knows."""
    return frozenset(m.workload for m in past if m.ended is None or m.ended > since)


def _groups(removed: Iterable[Relocation]) -> Iterator[Workload]:
    for relocation in removed:
        for name in (relocation.pod_group_name, relocation.replacement_pod_group_name):
            if name:
                yield pod_group_workload(relocation.namespace, name)


def _owners(status: RunStatus, removed: Iterable[Relocation]) -> Iterator[Workload]:
    touched = {(r.namespace, r.pod_group_name) for r in removed}
    for move in status.plan.moves if status.plan else ():
        if move.owner is not None and (move.namespace, move.pod_group_name) in touched:
            yield workload(move.namespace, move.owner.api_version, move.owner.kind, move.owner.name)
