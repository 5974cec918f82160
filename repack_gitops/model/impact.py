"""Whom a plan disturbs: groups whose pods move, and workloads that restart."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.model.cluster import Key, Owner


@dataclass(frozen=True, slots=True)
class Disruption:
    """The five dimensions of spec 2.3 over a whole plan."""

    pod_groups: int = 0
    breaches: int = 0
    damaged_cards: int = 0
    moved_cards: int = 0
    moved_pods: int = 0


@dataclass(frozen=True, slots=True)
class GroupImpact:
    """What a plan does to one PodGroup."""

    key: Key
    owner: Owner | None
    running: int
    min_available: int
    moved_pods: int
    moved_cards: int
    footprint_cards: int

    @property
    def slack(self) -> int:
        """Members that may be missing: max(running - minAvailable, 0)."""
        return max(self.running - self.min_available, 0)

    @property
    def breached(self) -> bool:
        """Whether more members move than the slack allows."""
        return self.moved_pods > self.slack


@dataclass(frozen=True, slots=True)
class WorkloadRestart:
    """What a plan makes restart of one workload, where that is more than its own moves, or where evictions are counted.

    Attributes
    ----------
    unit
        The largest unit that is created again: Pod, Partition, Task, Role, Group, Job or JobSet.
    restarting_pods
        Pods that restart in all, those that move among them.
    outside_moves
        Pods that restart though no move of the plan names them.
    retries_left
        Evictions the workload survives after the plan; None where nothing counts them.
    """

    namespace: str
    owner: Owner
    unit: str
    moved_pods: int
    restarting_pods: int
    outside_moves: int
    retries_left: int | None = None

    @property
    def last_retry(self) -> bool:
        """Whether the next eviction or failure after the plan would end the workload."""
        return self.retries_left is not None and self.retries_left <= 0
