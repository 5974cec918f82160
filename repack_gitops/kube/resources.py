"""Where the API server keeps the kinds that this project reads, and their names in RBAC."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from repack_gitops.model import kubernetes as wire
from repack_gitops.model import kubernetes_owners as owners


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the API."""

    api_version: str
    plural: str

    @property
    def name(self) -> str:
        """As RBAC and kubectl name it: ``pods``, ``jobs.batch.volcano.sh``."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.plural}.{group}" if group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of the collection, one object, or a subresource of it."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        scope = ("namespaces", namespace) if namespace else ()
        rest = tuple(part for part in (self.plural, name, subresource) if part)
        return "/".join([root, *(quote(part, safe="") for part in (*scope, *rest))])


NODES = Resource("v1", "nodes")
PODS = Resource("v1", "pods")
CONFIG_MAPS = Resource("v1", "configmaps")
POD_GROUPS = Resource("scheduling.volcano.sh/v1beta1", "podgroups")
BUDGETS = Resource("policy/v1", "poddisruptionbudgets")
VOLCANO_JOBS = Resource("batch.volcano.sh/v1alpha1", "jobs")
RUNS = Resource("repack.volcano.sh/v1alpha1", "repackruns")
LEASES = Resource("coordination.k8s.io/v1", "leases")
JOBS = Resource("batch/v1", "jobs")
JOB_SETS = Resource("jobset.x-k8s.io/v1alpha2", "jobsets")
LEADER_WORKER_SETS = Resource("leaderworkerset.x-k8s.io/v1", "leaderworkersets")
MODEL_SERVINGS = Resource("workload.serving.volcano.sh/v1alpha1", "modelservings")
RAY_CLUSTERS = Resource("ray.io/v1", "rayclusters")
ACCESS_REVIEWS = Resource("authorization.k8s.io/v1", "selfsubjectaccessreviews")

#: What decodes the kinds of a snapshot.
STRUCTS: dict[Resource, type[wire.Wire]] = {
    NODES: wire.Node,
    PODS: wire.Pod,
    POD_GROUPS: wire.PodGroup,
    BUDGETS: wire.PodDisruptionBudget,
    VOLCANO_JOBS: wire.VolcanoJob,
    JOBS: owners.BatchJob,
    JOB_SETS: owners.JobSet,
    LEADER_WORKER_SETS: owners.LeaderWorkerSet,
    MODEL_SERVINGS: owners.ModelServing,
    RAY_CLUSTERS: owners.RayCluster,
}

#: Controllers whose rules decide who restarts with an evicted pod; a cluster may know none of them.
OWNERS = (VOLCANO_JOBS, JOBS, JOB_SETS, LEADER_WORKER_SETS, MODEL_SERVINGS, RAY_CLUSTERS)
