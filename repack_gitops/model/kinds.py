"""What a snapshot consists of: (apiVersion, kind) and the struct that decodes it."""

from __future__ import annotations

from repack_gitops.model import kubernetes as core
from repack_gitops.model import kubernetes_storage as storage
from repack_gitops.model.kubernetes_owners import OWNER_KINDS

KINDS: dict[tuple[str, str], type[core.Wire]] = {
    ("v1", "Node"): core.Node,
    ("v1", "Pod"): core.Pod,
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): core.PodGroup,
    ("policy/v1", "PodDisruptionBudget"): core.PodDisruptionBudget,
    ("batch.volcano.sh/v1alpha1", "Job"): core.VolcanoJob,
    **OWNER_KINDS,
    ("v1", "Namespace"): core.Namespace,
    ("scheduling.volcano.sh/v1beta1", "Queue"): core.Queue,
    ("v1", "PersistentVolumeClaim"): storage.PersistentVolumeClaim,
    ("v1", "PersistentVolume"): storage.PersistentVolume,
    ("storage.k8s.io/v1", "StorageClass"): storage.StorageClass,
    ("storage.k8s.io/v1", "CSIDriver"): storage.CSIDriver,
    ("storage.k8s.io/v1", "CSINode"): storage.CSINode,
    ("storage.k8s.io/v1", "VolumeAttachment"): storage.VolumeAttachment,
}

#: What the API calls them, in the order in which they are listed: pods after nodes, and PodGroups after the pods that name
#: them, so that something created meanwhile is seen.
PLURALS: dict[tuple[str, str], str] = {
    ("v1", "Node"): "nodes",
    ("v1", "Pod"): "pods",
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): "podgroups",
    ("policy/v1", "PodDisruptionBudget"): "poddisruptionbudgets",
    ("batch.volcano.sh/v1alpha1", "Job"): "jobs",
    ("batch/v1", "Job"): "jobs",
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): "jobsets",
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): "leaderworkersets",
    ("workload.serving.volcano.sh/v1alpha1", "ModelServing"): "modelservings",
    ("ray.io/v1", "RayCluster"): "rayclusters",
    ("scheduling.volcano.sh/v1beta1", "Queue"): "queues",
    ("v1", "Namespace"): "namespaces",
    ("v1", "PersistentVolumeClaim"): "persistentvolumeclaims",
    ("v1", "PersistentVolume"): "persistentvolumes",
    ("storage.k8s.io/v1", "StorageClass"): "storageclasses",
    ("storage.k8s.io/v1", "CSIDriver"): "csidrivers",
    ("storage.k8s.io/v1", "CSINode"): "csinodes",
    ("storage.k8s.io/v1", "VolumeAttachment"): "volumeattachments",
}
#: Without these there is no snapshot; of the others a cluster may know nothing.
REQUIRED = (("v1", "Node"), ("v1", "Pod"), ("scheduling.volcano.sh/v1beta1", "PodGroup"))


def resource_name(api_version: str, plural: str) -> str:
    """Return how RBAC and kubectl name a resource: ``pods``, ``jobs.batch.volcano.sh``."""
    group = api_version.rpartition("/")[0]
    return f"{plural}.{group}" if group else plural
