"""Storage objects on the wire: only what decides where a pod with volumes may run."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, field

from repack_gitops.model.kubernetes import NodeSelector
from repack_gitops.model.kubernetes_base import ObjectMeta, Wire


class PersistentVolumeClaimSpec(Wire, frozen=True):
    access_modes: list[str] | None = None
    storage_class_name: str | None = None
    volume_name: str = ""


class PersistentVolumeClaimStatus(Wire, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = field(default_factory=PersistentVolumeClaimStatus)


class CSIVolume(Wire, frozen=True):
    driver: str
    volume_handle: str


class VolumeNodeAffinity(Wire, frozen=True):
    required: NodeSelector | None = None


class PersistentVolumeSpec(Wire, frozen=True):
    """A volume's source; the sources that Kubernetes translates to CSI are only known to be there."""

    csi: CSIVolume | None = None
    node_affinity: VolumeNodeAffinity | None = None
    aws_elastic_block_store: dict[str, Any] | None = None
    azure_disk: dict[str, Any] | None = None
    azure_file: dict[str, Any] | None = None
    cinder: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    portworx_volume: dict[str, Any] | None = None
    vsphere_volume: dict[str, Any] | None = None


class PersistentVolume(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PersistentVolumeSpec = field(default_factory=PersistentVolumeSpec)


class TopologyRequirement(Wire, frozen=True):
    key: str
    values: list[str] | None = None


class TopologySelectorTerm(Wire, frozen=True):
    match_label_expressions: list[TopologyRequirement] | None = None


class StorageClass(Wire, frozen=True):
    metadata: ObjectMeta
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: list[TopologySelectorTerm] | None = None


class CSIDriverSpec(Wire, frozen=True):
    storage_capacity: bool = False


class CSIDriver(Wire, frozen=True):
    metadata: ObjectMeta
    spec: CSIDriverSpec = field(default_factory=CSIDriverSpec)


class VolumeNodeResources(Wire, frozen=True):
    count: Annotated[int, Meta(ge=0)] | None = None


class CSINodeDriver(Wire, frozen=True):
    name: str
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Wire, frozen=True):
    drivers: list[CSINodeDriver] | None = None


class CSINode(Wire, frozen=True):
    metadata: ObjectMeta
    spec: CSINodeSpec = field(default_factory=CSINodeSpec)


class VolumeAttachmentSource(Wire, frozen=True):
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Wire, frozen=True):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = field(default_factory=VolumeAttachmentSource)


class VolumeAttachment(Wire, frozen=True):
    metadata: ObjectMeta
    spec: VolumeAttachmentSpec = field(default_factory=VolumeAttachmentSpec)
