"""What one eviction does to the workload of its victim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from repack_gitops.model.cluster import Key, Owner, Pod
from repack_gitops.model.plan import Code, Reason

#: (kind, namespace, name) of what counts retries.
Counter = tuple[str, str, str]


class Unit(StrEnum):
    """What is created again, from the smallest to the largest."""

    POD = "Pod"
    PARTITION = "Partition"
    ROLE = "Role"
    GROUP = "Group"
    TASK = "Task"
    JOB = "Job"
    JOB_SET = "JobSet"


@dataclass(frozen=True, slots=True)
class Retries:
    """A limit on evictions.

    Attributes
    ----------
    counter
        Who counts; evictions of pods with the same counter add up.
    left
        Evictions the workload survives from now on; negative where it would not survive what is under way.
    cost
        What this eviction counts.
    """

    counter: Counter
    left: int
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Forecast:
    """The consequences of evicting one pod.

    Attributes
    ----------
    owner
        The controller whose rules decide; it may stand above the pod's own.
    unit, restarts
        What is created again, and the pods that this takes, the victim among them.
    retries
        What the eviction counts against, where anything counts.
    refusal
        Why the pod must not be evicted whatever the options: it would not come back, the workload would end, or nobody
        knows.
    why
        The rules that react, for people.
    """

    owner: Owner
    unit: Unit
    restarts: frozenset[Key]
    retries: Retries | None = None
    refusal: Reason | None = None
    why: str = ""

    @property
    def cascades(self) -> bool:
        """Whether more than the victim restarts."""
        return len(self.restarts) > 1


def only(pod: Pod, owner: Owner, retries: Retries | None = None, why: str = "") -> Forecast:
    """Return the forecast that ``pod`` alone is created again."""
    return Forecast(owner, Unit.POD, frozenset({pod.key}), retries, why=why)


def refused(pod: Pod, owner: Owner, code: Code, detail: str) -> Forecast:
    """Return the forecast that ``pod`` must not be evicted."""
    return Forecast(owner, Unit.POD, frozenset({pod.key}), refusal=Reason(code, detail))


def missing(pod: Pod, owner: Owner) -> Forecast:
    """Return the forecast for an ``owner`` that is not in the snapshot: its rules are unknown."""
    return refused(pod, owner, Code.OWNER_NOT_FOUND, f"{title(pod, owner)} is not in the snapshot")


def idle(pod: Pod, owner: Owner, why: str) -> Forecast:
    """Return the forecast for an ``owner`` that creates no pods any more."""
    return refused(pod, owner, Code.OWNER_NOT_FOUND, f"{title(pod, owner)} {why} and recreates nothing")


def title(pod: Pod, owner: Owner) -> str:
    """Return what people call ``owner``, with its group: ``Job.batch.volcano.sh team/train``."""
    return f"{owner.qualified_kind} {pod.namespace}/{owner.name}"
