"""Controllers of pods as the planner sees them: only what decides who restarts when a pod is evicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: (namespace, name)
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ExitCodes:
    """Exit codes that a rule asks for: one of ``values``, or, with operator NotIn, any other but 0."""

    operator: str
    values: frozenset[int]

    def match(self, code: int) -> bool:
        """Tell whether a container that ended with ``code`` is meant."""
        return code != 0 and (code in self.values) == (self.operator == "In")


@dataclass(frozen=True, slots=True)
class PodFailureRule:
    """One rule of a podFailurePolicy; ``conditions`` are (type, status), and ``exit_codes`` is None where they decide."""

    action: str
    exit_codes: ExitCodes | None
    conditions: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A batch/v1 Job.

    Attributes
    ----------
    failed
        Failures counted so far; one more than ``backoff_limit`` ends the Job.
    idle
        Why it creates no pods any more, empty where it does.
    job_set, replicated_job
        Names of the JobSet that controls it and of the template there; empty where none does.
    """

    namespace: str
    name: str
    backoff_limit: int
    backoff_limit_per_index: int | None
    rules: tuple[PodFailureRule, ...]
    failed: int
    idle: str = ""
    job_set: str = ""
    replicated_job: str = ""


@dataclass(frozen=True, slots=True)
class JobSetRule:
    """What a JobSet does when a Job of one of ``targets`` fails for one of ``reasons``; empty means any."""

    action: str
    reasons: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JobSet:
    """A JobSet; ``max_restarts`` is None without a failurePolicy: then the first Job that fails ends it."""

    namespace: str
    name: str
    max_restarts: int | None
    rules: tuple[JobSetRule, ...]
    restarts: int
    idle: str = ""


@dataclass(frozen=True, slots=True)
class LeaderWorkerSet:
    """A LeaderWorkerSet."""

    namespace: str
    name: str
    restart_policy: str
    idle: str = ""


@dataclass(frozen=True, slots=True)
class ModelServing:
    """A ModelServing."""

    namespace: str
    name: str
    recovery_policy: str
    idle: str = ""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """A RayCluster; ``hosts`` are pods per replica by worker group."""

    namespace: str
    name: str
    hosts: Mapping[str, int]
    idle: str = ""


@dataclass(frozen=True, slots=True)
class Owners:
    """Controllers by namespace and name, a kind each."""

    batch_jobs: Mapping[_Key, BatchJob] = field(default_factory=dict)
    job_sets: Mapping[_Key, JobSet] = field(default_factory=dict)
    leader_worker_sets: Mapping[_Key, LeaderWorkerSet] = field(default_factory=dict)
    model_servings: Mapping[_Key, ModelServing] = field(default_factory=dict)
    ray_clusters: Mapping[_Key, RayCluster] = field(default_factory=dict)
