"""The edges a story works on, chosen once by the command line's wiring."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.forge.interface import Forge
from repack_gitops.git.interface import Repository
from repack_gitops.kube.interface import Cluster
from repack_gitops.workflow.clock import Clock


@dataclass(frozen=True, slots=True)
class Ports:
    """A cluster, a repository with its forge, and the time."""

    cluster: Cluster
    repository: Repository
    forge: Forge
    clock: Clock
