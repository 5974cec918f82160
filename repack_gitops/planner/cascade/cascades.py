"""Whose rules decide about a pod, and the forecast by them."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade import batch_job, leader_worker_set, model_serving, ray_cluster, volcano_job
from repack_gitops.planner.cascade.forecast import Forecast, missing, only, refused
from repack_gitops.planner.cascade.members import Members
from repack_gitops.planner.cascade.stateful_set import Ordered
from repack_gitops.planner.quotas import Quota

#: (API group, kind) of controllers that create one pod in the place of the evicted one, count nothing and restart nobody.
ONE_FOR_ONE = frozenset({("apps", "ReplicaSet"), ("", "ReplicationController")})


class Cascades:
    """Forecasts for the pods of one snapshot."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._members = Members(snapshot)
        self._ordered = Ordered(snapshot)
        self._known: dict[Key, Forecast] = {}
        self._reactions: dict[tuple[str, str, str | None], volcano_job.Reaction] = {}

    def forecast(self, pod: Pod) -> Forecast:
        """Return what evicting ``pod``, which must have a controller, does; worked out once for each pod."""
        if pod.owner is None:
            raise ValueError(f"pod {pod.namespace}/{pod.name} has no controller")
        if pod.key not in self._known:
            self._known[pod.key] = self._forecast(pod, pod.owner)
        return self._known[pod.key]

    def quotas(self, pod: Pod) -> tuple[Quota, ...]:
        """Return what evicting ``pod`` draws from the evictions that its workload survives; a rule of ``planner.quotas``."""
        retries = self.forecast(pod).retries if pod.owner is not None else None
        if retries is None:
            return ()
        kind, namespace, name = retries.counter
        return (Quota(f"evictions that {kind} {namespace}/{name} survives", retries.left, Code.LAST_RETRY),) * retries.cost

    def _forecast(self, pod: Pod, owner: Owner) -> Forecast:
        if leader_worker_set.NAME in pod.labels and (owner.group, owner.kind) == ("apps", "StatefulSet"):
            return self._leader_worker_set(pod)
        if (owner.group, owner.kind) == ("apps", "StatefulSet"):
            return self._ordered.forecast(pod, owner)
        if (owner.group, owner.kind) in ONE_FOR_ONE:
            return only(pod, owner)
        return self._by_kind(pod, owner)

    def _by_kind(self, pod: Pod, owner: Owner) -> Forecast:
        owners, key = self._snapshot.owners, (pod.namespace, owner.name)
        match (owner.group, owner.kind):
            case ("batch.volcano.sh", "Job"):
                return self._volcano_job(pod, owner)
            case ("batch", "Job"):
                return self._batch_job(pod, owner)
            case ("workload.serving.volcano.sh", "ModelServing"):
                serving = owners.model_servings.get(key)
                return missing(pod, owner) if serving is None else model_serving.forecast(pod, owner, serving, self._members)
            case ("ray.io", "RayCluster"):
                ray = owners.ray_clusters.get(key)
                return missing(pod, owner) if ray is None else ray_cluster.forecast(pod, owner, ray, self._members)
        return refused(
            pod, owner, Code.UNKNOWN_CONTROLLER, f"{owner.qualified_kind} is not known to recreate evicted pods safely"
        )

    def _volcano_job(self, pod: Pod, owner: Owner) -> Forecast:
        """A snapshot without any VCJob says nothing about policies (the evaluation warns); one with some must hold this one."""
        jobs = self._snapshot.volcano_jobs
        job = jobs.get((pod.namespace, owner.name))
        if job is None:
            return missing(pod, owner) if jobs else only(pod, owner)
        task = pod.labels.get(volcano_job.TASK)
        key = (job.namespace, job.name, task)
        if key not in self._reactions:
            self._reactions[key] = volcano_job.reaction_to(job, task)
        return volcano_job.forecast(pod, owner, job, self._reactions[key], self._members)

    def _batch_job(self, pod: Pod, owner: Owner) -> Forecast:
        job = self._snapshot.owners.batch_jobs.get((pod.namespace, owner.name))
        if job is None:
            return missing(pod, owner)
        above = self._snapshot.owners.job_sets.get((pod.namespace, job.job_set))
        return batch_job.forecast(pod, owner, job, above, self._members)

    def _leader_worker_set(self, pod: Pod) -> Forecast:
        owner = Owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", pod.labels[leader_worker_set.NAME])
        found = self._snapshot.owners.leader_worker_sets.get((pod.namespace, owner.name))
        return missing(pod, owner) if found is None else leader_worker_set.forecast(pod, owner, found, self._members)
