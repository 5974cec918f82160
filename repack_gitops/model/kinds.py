"""What a snapshot consists of: (apiVersion, kind) and the struct that decodes it."""

from __future__ import annotations

from repack_gitops.model import kubernetes as core
from repack_gitops.model import kubernetes_storage as storage

KINDS: dict[tuple[str, str], type[core.Wire]] = {
    ("v1", "Node"): core.Node,
    ("v1", "Pod"): core.Pod,
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): core.PodGroup,
    ("policy/v1", "PodDisruptionBudget"): core.PodDisruptionBudget,
    ("batch.volcano.sh/v1alpha1", "Job"): core.VolcanoJob,
    ("v1", "Namespace"): core.Namespace,
    ("scheduling.volcano.sh/v1beta1", "Queue"): core.Queue,
    ("v1", "PersistentVolumeClaim"): storage.PersistentVolumeClaim,
    ("v1", "PersistentVolume"): storage.PersistentVolume,
    ("storage.k8s.io/v1", "StorageClass"): storage.StorageClass,
    ("storage.k8s.io/v1", "CSIDriver"): storage.CSIDriver,
    ("storage.k8s.io/v1", "CSINode"): storage.CSINode,
    ("storage.k8s.io/v1", "VolumeAttachment"): storage.VolumeAttachment,
}
