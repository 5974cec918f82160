"""The storage facts of a cluster: claims, volumes, classes, and how many volumes a node can attach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repack_gitops.model.node_terms import NodeTerm

#: Labels of a volume, or of a node, that say where it is; a volume's values may be several, joined by two underscores.
ZONE_LABELS = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """A volume of a pod that stands for a PersistentVolumeClaim.

    ``ephemeral`` volumes get a claim of their own with every pod, of class ``storage_class`` (None is the default class).
    """

    volume: str
    claim: str
    ephemeral: bool = False
    storage_class: str | None = None


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim:
    """A claim; ``volume`` is None until it is bound, ``one_node`` means ReadWriteOnce and nothing wider."""

    namespace: str
    name: str
    volume: str | None
    once_per_pod: bool = False
    one_node: bool = False
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """A volume.

    Attributes
    ----------
    node_terms
        Its required node affinity; None is any node.
    zones
        Its zone and region labels: (key, allowed values).
    driver, handle
        Of a CSI volume; None otherwise.
    in_tree
        It is of a type that Kubernetes translates to CSI, which we do not.
    """

    name: str
    node_terms: tuple[NodeTerm, ...] | None = None
    zones: tuple[tuple[str, frozenset[str]], ...] = ()
    driver: str | None = None
    handle: str = ""
    in_tree: bool = False


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A class; ``topologies`` is an OR of terms, each an AND of (key, allowed values); empty is anywhere."""

    name: str
    provisioner: str
    wait_for_first_consumer: bool
    topologies: tuple[tuple[tuple[str, frozenset[str]], ...], ...] = ()


@dataclass(frozen=True)
class Storage:
    """All storage of a cluster.

    Attributes
    ----------
    attach_limits
        By node and CSI driver that runs there: most volumes attached, None where it names no limit.
    attachments
        (node, volume) that are attached now, whoever uses them.
    capacity_tracked
        CSI drivers whose free capacity the scheduler asks for.
    """

    claims: Mapping[tuple[str, str], PersistentVolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    attach_limits: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    attachments: tuple[tuple[str, str], ...] = ()
    capacity_tracked: frozenset[str] = frozenset()
