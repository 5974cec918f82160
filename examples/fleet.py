"""What the example clusters are made of: machines, workloads, and the pods that a history leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
#: Hours before the snapshot was taken; 0 is the moment itself.
Hour = float

JOB = "Job"
DEPLOYMENT = "Deployment"
STATEFUL_SET = "StatefulSet"
MODEL_SERVING = "ModelServing"


@dataclass(frozen=True)
class Machine:
    """A node; memory in GiB. ``cordoned`` and ``lost`` say since when it takes no pods, or is NotReady."""

    name: str
    pool: str
    zone: str
    cards: int
    cpu: int
    memory: int
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    cordoned: Hour | None = None
    lost: Hour | None = None
    architecture: str = "amd64"

    def closed_at(self, hour: Hour) -> bool:
        """Tell whether it took no pods ``hour`` hours before the snapshot."""
        return any(since is not None and hour <= since for since in (self.cordoned, self.lost))


@dataclass(frozen=True)
class Template:
    """What the pods of one task look like; cpu and memory (GiB) per pod."""

    image: str
    cards: int
    cpu: int
    memory: int
    pools: tuple[str, ...] = ()
    tolerations: tuple[Mapping[str, str], ...] = ()
    port: int | None = None
    command: tuple[str, ...] = ()
    volumes: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Task:
    """A role within a workload."""

    name: str
    replicas: int
    template: Template


@dataclass(frozen=True, eq=False)
class Workload:
    """A workload with its life: started, scaled, and ended, in hours before the snapshot.

    ``minimum`` is the gang's minAvailable; ``scaled`` lists (hour, replicas of the first task).
    """

    kind: str
    namespace: str
    name: str
    tasks: tuple[Task, ...]
    start: Hour
    end: Hour | None = None
    minimum: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)
    scaled: tuple[tuple[Hour, int], ...] = ()
    policies: tuple[Mapping[str, str], ...] = ()
    scheduler: str = "volcano"
    keeps_available: int | None = None
    kept_when_done: bool = False
    grace: int = 30


@dataclass(frozen=True)
class Replica:
    """A pod as the history leaves it: of which task, which index, where, since when; ``node`` is None while it waits."""

    workload: Workload
    task: Task
    index: int
    node: str | None
    since: Hour
    done: bool = False


@dataclass(frozen=True)
class Daemon:
    """A DaemonSet on every machine of ``pools``, or on those in ``only``; ``cards`` of the accelerator for each pod."""

    namespace: str
    name: str
    image: str
    cpu: str
    memory: str
    pools: tuple[str, ...]
    cards: int = 0
    only: tuple[str, ...] = ()

    def runs_on(self, machine: Machine) -> bool:
        """Tell whether it has a pod on ``machine``."""
        return machine.pool in self.pools and (not self.only or machine.name in self.only)
