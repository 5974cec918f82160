"""What every part of one execution works with."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.kube.interface import Cluster
from repack_gitops.workflow.clock import Clock
from repack_gitops.workflow.execution.journal import Journal
from repack_gitops.workflow.execution.lock import ExecutorLock
from repack_gitops.workflow.execution.settings import Settings


@dataclass(frozen=True, slots=True)
class Session:
    """One run under execution: the cluster, the time, the lease, the journal, the policy's numbers."""

    cluster: Cluster
    clock: Clock
    lock: ExecutorLock
    journal: Journal
    settings: Settings
