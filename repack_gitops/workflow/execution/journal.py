"""The RepackRun's status as journal: compare-and-swap, every entry durable before the next step (spec 4.2)."""

from __future__ import annotations

import msgspec

from repack_gitops.errors import TryAgain
from repack_gitops.kube.interface import Cluster, Conflict
from repack_gitops.model.run import EvictionStatus, PlacementStatus, PlanStatus, Relocation, RepackRun, RunStatus

_ATTEMPTS = 5


class JournalLost(TryAgain):
    """Somebody else wrote the journal; this executor stops at once."""


class Journal:
    """The status of one RepackRun in the cluster; ``status`` is what is stored there now."""

    def __init__(self, cluster: Cluster, run: RepackRun) -> None:
        self._cluster = cluster
        self._run = run

    @property
    def run(self) -> RepackRun:
        """The object as last stored."""
        return self._run

    @property
    def status(self) -> RunStatus:
        """The status as last stored."""
        return self._run.status or RunStatus(phase="Pending")

    @property
    def ended(self) -> bool:
        """Whether the run came to its end."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def relocations(self) -> list[Relocation]:
        """The relocations as last stored, in execution order."""
        return self.status.relocations

    @property
    def plan(self) -> PlanStatus:
        """The plan as stored; it precedes every relocation."""
        if self.status.plan is None:
            raise JournalLost(f"RepackRun {self._run.metadata.name} has relocations but no plan", hint="Its status was edited.")
        return self.status.plan

    def reload(self) -> None:
        """Read the object again: who waited for the lease may have read it before somebody else worked on it."""
        self._run = self._stored()

    def write(self, status: RunStatus) -> None:
        """Store ``status``; returns only when it is durable.

        A conflict in which only metadata changed (somebody set a label) is retried on the new version; a status that
        is not the one we wrote last belongs to another executor.
        """
        if self._run.status == status:
            return
        for _ in range(_ATTEMPTS):
            answer = self._cluster.update_run_status(msgspec.structs.replace(self._run, status=status))
            if isinstance(answer, RepackRun):
                self._run = answer
                return
            self._resolve(answer, status)
            if self._run.status == status:
                return
        raise JournalLost(f"the journal of {self._run.metadata.name} cannot be written", hint="The Job restarts and goes on.")

    def update(self, index: int, *, eviction: EvictionStatus | None = None, placement: PlacementStatus | None = None) -> None:
        """Store one relocation's new eviction or placement."""
        relocations = list(self.relocations)
        old = relocations[index]
        relocations[index] = msgspec.structs.replace(
            old, eviction=eviction or old.eviction, placement=placement or old.placement
        )
        self.write(msgspec.structs.replace(self.status, relocations=relocations))

    def _resolve(self, conflict: Conflict, status: RunStatus) -> None:
        """Read the object again after a conflict; a write of ours whose answer was lost is fine."""
        stored = self._stored()
        if stored.status not in (self._run.status, status):
            raise JournalLost(
                f"another executor writes RepackRun {stored.metadata.name}: {conflict.message}",
                hint="The Job restarts; whoever gets the lease goes on.",
            )
        self._run = stored

    def _stored(self) -> RepackRun:
        stored = self._cluster.get_run(self._run.metadata.name)
        if stored is None or stored.metadata.uid != self._run.metadata.uid:
            raise JournalLost(
                f"RepackRun {self._run.metadata.name} was deleted while it was executed",
                hint="What it had evicted so far is in the log of this Job.",
            )
        return stored
