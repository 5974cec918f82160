"""Controllers of pods on the wire: what of them decides who restarts when a pod is evicted.

Sources: k8s.io/api/batch/v1, sigs.k8s.io/jobset v1alpha2, sigs.k8s.io/lws v1, kthena workload v1alpha1, kuberay ray.io/v1.
Defaults are those of the API, so that an object an old server stored without them reads the same.
"""

from __future__ import annotations

from msgspec import field

from repack_gitops.model.kubernetes_base import ObjectMeta, Wire


class OwnerCondition(Wire, frozen=True):
    type: str
    status: str


# ---- batch/v1 Job ----
class ExitCodes(Wire, frozen=True):
    operator: str
    values: list[int] | None = None


class PodConditionPattern(Wire, frozen=True):
    type: str
    status: str = "True"


class PodFailureRule(Wire, frozen=True):
    action: str
    on_exit_codes: ExitCodes | None = None
    on_pod_conditions: list[PodConditionPattern] | None = None


class PodFailurePolicy(Wire, frozen=True):
    rules: list[PodFailureRule] | None = None


class BatchJobSpec(Wire, frozen=True):
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    suspend: bool = False


class BatchJobStatus(Wire, frozen=True):
    failed: int = 0
    conditions: list[OwnerCondition] | None = None


class BatchJob(Wire, frozen=True):
    metadata: ObjectMeta
    spec: BatchJobSpec = field(default_factory=BatchJobSpec)
    status: BatchJobStatus = field(default_factory=BatchJobStatus)


# ---- JobSet ----
class JobSetFailureRule(Wire, frozen=True):
    action: str
    on_job_failure_reasons: list[str] | None = None
    target_replicated_jobs: list[str] | None = None


class JobSetFailurePolicy(Wire, frozen=True):
    max_restarts: int = 0
    rules: list[JobSetFailureRule] | None = None


class JobSetSpec(Wire, frozen=True):
    failure_policy: JobSetFailurePolicy | None = None
    suspend: bool = False


class JobSetStatus(Wire, frozen=True):
    restarts: int = 0
    restarts_count_towards_max: int = 0
    terminal_state: str = ""


class JobSet(Wire, frozen=True):
    metadata: ObjectMeta
    spec: JobSetSpec = field(default_factory=JobSetSpec)
    status: JobSetStatus = field(default_factory=JobSetStatus)


# ---- LeaderWorkerSet ----
class LeaderWorkerTemplate(Wire, frozen=True):
    restart_policy: str = "RecreateGroupOnPodRestart"


class LeaderWorkerSetSpec(Wire, frozen=True):
    leader_worker_template: LeaderWorkerTemplate = field(default_factory=LeaderWorkerTemplate)


class LeaderWorkerSet(Wire, frozen=True):
    metadata: ObjectMeta
    spec: LeaderWorkerSetSpec = field(default_factory=LeaderWorkerSetSpec)


# ---- ModelServing ----
class ModelServingSpec(Wire, frozen=True):
    recovery_policy: str = "RoleRecreate"


class ModelServing(Wire, frozen=True):
    metadata: ObjectMeta
    spec: ModelServingSpec = field(default_factory=ModelServingSpec)


# ---- RayCluster ----
class RayWorkerGroup(Wire, frozen=True):
    group_name: str = ""
    num_of_hosts: int = 1


class RayClusterSpec(Wire, frozen=True):
    suspend: bool = False
    worker_group_specs: list[RayWorkerGroup] | None = None


class RayCluster(Wire, frozen=True):
    metadata: ObjectMeta
    spec: RayClusterSpec = field(default_factory=RayClusterSpec)


#: Their (apiVersion, kind), for ``model.kubernetes.KINDS``.
OWNER_KINDS: dict[tuple[str, str], type[Wire]] = {
    ("batch/v1", "Job"): BatchJob,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): JobSet,
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): LeaderWorkerSet,
    ("workload.serving.volcano.sh/v1alpha1", "ModelServing"): ModelServing,
    ("ray.io/v1", "RayCluster"): RayCluster,
}
