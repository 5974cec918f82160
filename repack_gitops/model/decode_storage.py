"""From storage objects on the wire to the storage facts of a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes_storage as wire
from repack_gitops.model.decode_selectors import IMPOSSIBLE, node_terms
from repack_gitops.model.kubernetes import Wire
from repack_gitops.model.storage import ZONE_LABELS, PersistentVolume, PersistentVolumeClaim, Storage, StorageClass

_ONCE_PER_POD = "ReadWriteOncePod"
_IN_TREE = (
    "aws_elastic_block_store",
    "azure_disk",
    "azure_file",
    "cinder",
    "gce_persistent_disk",
    "portworx_volume",
    "vsphere_volume",
)
STORAGE_KINDS = (
    wire.PersistentVolumeClaim,
    wire.PersistentVolume,
    wire.StorageClass,
    wire.CSIDriver,
    wire.CSINode,
    wire.VolumeAttachment,
)

T = TypeVar("T")


class StorageDecoder:
    """Collects storage objects."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, str], PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._classes: dict[str, StorageClass] = {}
        self._limits: dict[str, Mapping[str, int | None]] = {}
        self._attachments: dict[str, tuple[str, str] | None] = {}
        self._drivers: dict[str, bool] = {}

    def add(self, item: Wire) -> None:
        """Add one object of ``STORAGE_KINDS``."""
        match item:
            case wire.PersistentVolumeClaim():
                _put(self._claims, _namespaced(item), _claim(item), "PersistentVolumeClaim")
            case wire.PersistentVolume():
                _put(self._volumes, _named(item), _volume(item), "PersistentVolume")
            case wire.StorageClass():
                _put(self._classes, _named(item), _class(item), "StorageClass")
            case wire.CSIDriver():
                _put(self._drivers, _named(item), item.spec.storage_capacity, "CSIDriver")
            case wire.CSINode():
                _put(self._limits, _named(item), _limits(item), "CSINode")
            case wire.VolumeAttachment():
                _put(self._attachments, _named(item), _attachment(item), "VolumeAttachment")
            case _:
                raise TypeError(f"{type(item).__name__} is no storage")

    def storage(self) -> Storage:
        """Return everything added so far, in a fixed order."""
        return Storage(
            claims=_sorted(self._claims),
            volumes=_sorted(self._volumes),
            classes=_sorted(self._classes),
            attach_limits=_sorted(self._limits),
            attachments=tuple(sorted(found for found in set(self._attachments.values()) if found is not None)),
            capacity_tracked=frozenset(name for name, tracked in self._drivers.items() if tracked),
        )


def _claim(item: wire.PersistentVolumeClaim) -> PersistentVolumeClaim:
    bound = item.status.phase == "Bound" and item.spec.volume_name
    return PersistentVolumeClaim(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        volume=item.spec.volume_name if bound else None,
        once_per_pod=_ONCE_PER_POD in (item.spec.access_modes or ()),
        one_node=item.spec.access_modes == ["ReadWriteOnce"],
        deleting=item.metadata.deletion_timestamp is not None,
    )


def _volume(item: wire.PersistentVolume) -> PersistentVolume:
    spec, name = item.spec, item.metadata.name
    required = spec.node_affinity.required if spec.node_affinity else None
    labels = item.metadata.labels or {}
    return PersistentVolume(
        name=name,
        node_terms=None if required is None else node_terms(required, f"PersistentVolume {name}"),
        zones=tuple((key, frozenset(labels[key].split("__"))) for key in ZONE_LABELS if labels.get(key)),
        driver=spec.csi.driver if spec.csi else None,
        handle=spec.csi.volume_handle if spec.csi else "",
        in_tree=any(getattr(spec, source) is not None for source in _IN_TREE),
    )


def _class(item: wire.StorageClass) -> StorageClass:
    terms = (term.match_label_expressions or () for term in item.allowed_topologies or ())
    return StorageClass(
        name=item.metadata.name,
        provisioner=item.provisioner,
        wait_for_first_consumer=item.volume_binding_mode == "WaitForFirstConsumer",
        topologies=tuple(tuple((e.key, frozenset(e.values or ())) for e in term) for term in terms),
    )


def _limits(item: wire.CSINode) -> Mapping[str, int | None]:
    drivers = sorted(item.spec.drivers or (), key=lambda d: d.name)
    return {d.name: d.allocatable.count if d.allocatable is not None else None for d in drivers}


def _attachment(item: wire.VolumeAttachment) -> tuple[str, str] | None:
    volume = item.spec.source.persistent_volume_name
    return (item.spec.node_name, volume) if volume else None


def _named(item: Any) -> str:
    name: str = item.metadata.name
    if not name:
        raise InvalidInput(f"a {type(item).__name__} without metadata.name is in the snapshot", hint=IMPOSSIBLE)
    return name


def _namespaced(item: Any) -> tuple[str, str]:
    namespace: str = item.metadata.namespace
    if not namespace:
        raise InvalidInput(f"a {type(item).__name__} without metadata.namespace is in the snapshot", hint=IMPOSSIBLE)
    return (namespace, _named(item))


def _put(found: dict[Any, T], key: Any, value: T, kind: str) -> None:
    if key in found:
        name = key if isinstance(key, str) else "/".join(key)
        raise InvalidInput(f"{kind} {name} occurs twice in the snapshot", hint="Take the snapshot again.")
    found[key] = value


def _sorted(found: Mapping[Any, T]) -> dict[Any, T]:
    return {key: found[key] for key in sorted(found)}
