"""From controllers on the wire to Owners."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes_owners as wire
from repack_gitops.model import owners as facts
from repack_gitops.model.kubernetes_base import ObjectMeta, Wire

T = TypeVar("T")
#: Conditions after which a Job creates no pods.
_ENDED = frozenset({"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"})
_REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"


class OwnersDecoder:
    """Collects decoded controllers."""

    def __init__(self) -> None:
        self._batch_jobs: dict[tuple[str, str], facts.BatchJob] = {}
        self._job_sets: dict[tuple[str, str], facts.JobSet] = {}
        self._leader_worker_sets: dict[tuple[str, str], facts.LeaderWorkerSet] = {}
        self._model_servings: dict[tuple[str, str], facts.ModelServing] = {}
        self._ray_clusters: dict[tuple[str, str], facts.RayCluster] = {}

    def add(self, item: Wire) -> bool:
        """Add one controller; return whether ``item`` is one.

        Raises
        ------
        InvalidInput
            It occurs twice, or has no name or no namespace.
        """
        match item:
            case wire.BatchJob():
                _put(self._batch_jobs, item.metadata, _batch_job(item), "Job.batch")
            case wire.JobSet():
                _put(self._job_sets, item.metadata, _job_set(item), "JobSet")
            case wire.LeaderWorkerSet():
                _put(self._leader_worker_sets, item.metadata, _leader_worker_set(item), "LeaderWorkerSet")
            case wire.ModelServing():
                _put(self._model_servings, item.metadata, _model_serving(item), "ModelServing")
            case wire.RayCluster():
                _put(self._ray_clusters, item.metadata, _ray_cluster(item), "RayCluster")
            case _:
                return False
        return True

    def owners(self) -> facts.Owners:
        """Return what was added, sorted by key."""
        return facts.Owners(
            batch_jobs=dict(sorted(self._batch_jobs.items())),
            job_sets=dict(sorted(self._job_sets.items())),
            leader_worker_sets=dict(sorted(self._leader_worker_sets.items())),
            model_servings=dict(sorted(self._model_servings.items())),
            ray_clusters=dict(sorted(self._ray_clusters.items())),
        )


def _put(found: dict[tuple[str, str], T], meta: ObjectMeta, value: T, kind: str) -> None:
    key = (meta.namespace, meta.name)
    if not all(key):
        raise InvalidInput(
            f"a {kind} without metadata.name or metadata.namespace is in the snapshot",
            hint="An API server accepts no such object: take the snapshot again, or correct the file.",
        )
    if key in found:
        raise InvalidInput(f"{kind} {'/'.join(key)} occurs twice in the snapshot", hint="Take the snapshot again.")
    found[key] = value


def _batch_job(item: wire.BatchJob) -> facts.BatchJob:
    spec, policy = item.spec, item.spec.pod_failure_policy
    ended = [c.type for c in item.status.conditions or () if c.type in _ENDED and c.status == "True"]
    return facts.BatchJob(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        backoff_limit=spec.backoff_limit,
        backoff_limit_per_index=spec.backoff_limit_per_index,
        rules=tuple(_pod_failure_rule(r) for r in (policy.rules if policy else None) or ()),
        failed=item.status.failed,
        idle=_idle(item.metadata, spec.suspend, ended[0] if ended else ""),
        job_set=_controller(item.metadata, "jobset.x-k8s.io", "JobSet"),
        replicated_job=(item.metadata.labels or {}).get(_REPLICATED_JOB, ""),
    )


def _pod_failure_rule(rule: wire.PodFailureRule) -> facts.PodFailureRule:
    codes = rule.on_exit_codes
    return facts.PodFailureRule(
        action=rule.action,
        exit_codes=facts.ExitCodes(codes.operator, frozenset(codes.values or ())) if codes else None,
        conditions=frozenset((c.type, c.status) for c in rule.on_pod_conditions or ()),
    )


def _job_set(item: wire.JobSet) -> facts.JobSet:
    policy, status = item.spec.failure_policy, item.status
    return facts.JobSet(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        max_restarts=policy.max_restarts if policy else None,
        rules=tuple(
            facts.JobSetRule(r.action, _set(r.on_job_failure_reasons), _set(r.target_replicated_jobs))
            for r in (policy.rules if policy else None) or ()
        ),
        # Old releases do not tell restarts that count from others; then all are taken to count.
        restarts=status.restarts_count_towards_max or status.restarts,
        idle=_idle(item.metadata, item.spec.suspend, status.terminal_state),
    )


def _leader_worker_set(item: wire.LeaderWorkerSet) -> facts.LeaderWorkerSet:
    meta, policy = item.metadata, item.spec.leader_worker_template.restart_policy
    return facts.LeaderWorkerSet(meta.namespace, meta.name, policy, _idle(meta, False))


def _model_serving(item: wire.ModelServing) -> facts.ModelServing:
    meta = item.metadata
    return facts.ModelServing(meta.namespace, meta.name, item.spec.recovery_policy, _idle(meta, False))


def _ray_cluster(item: wire.RayCluster) -> facts.RayCluster:
    meta, spec = item.metadata, item.spec
    hosts = {g.group_name: g.num_of_hosts for g in spec.worker_group_specs or ()}
    return facts.RayCluster(meta.namespace, meta.name, hosts, _idle(meta, spec.suspend))


def _idle(meta: ObjectMeta, suspended: bool, ended: str = "") -> str:
    """Return why a controller creates no pods; empty where it does."""
    if meta.deletion_timestamp is not None:
        return "is being deleted"
    if suspended:
        return "is suspended"
    return f"has ended ({ended})" if ended else ""


def _controller(meta: ObjectMeta, group: str, kind: str) -> str:
    for reference in meta.owner_references or ():
        if reference.controller and reference.kind == kind and reference.api_version.rpartition("/")[0] == group:
            return reference.name
    return ""


def _set(values: Iterable[str] | None) -> frozenset[str]:
    return frozenset(values or ())
