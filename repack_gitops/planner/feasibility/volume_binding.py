"""VolumeBinding: where a pod's volumes allow it to run.

A bound claim leads to its volume, whose node affinity must match. An ephemeral volume gets a fresh claim with every pod:
with WaitForFirstConsumer it is provisioned where the pod goes, as far as its class allows. Everything else is not decided
by a snapshot, so the pod is not moved: claims that are missing, unbound or being deleted, classes that bind at once,
that do not provision, or whose driver's free capacity the scheduler asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.model.cluster import Node, Pod
from repack_gitops.model.node_terms import NodeTerm
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.storage import ClaimUse, PersistentVolume, Storage
from repack_gitops.planner.feasibility.node_affinity import term_matches

#: The provisioner of classes whose volumes an administrator makes by hand.
NO_PROVISIONER = "kubernetes.io/no-provisioner"
#: An OR of terms, each an AND of (label, allowed values).
Topologies = tuple[tuple[tuple[str, frozenset[str]], ...], ...]


@dataclass(frozen=True, slots=True)
class VolumeDemands:
    """What a pod's volumes demand of its node; equal demands are equal objects.

    Attributes
    ----------
    node_terms
        Required node affinity, one OR of terms for every bound volume that has one.
    zones
        (label, allowed values) of bound volumes.
    topologies
        Allowed topologies, one for every volume yet to be provisioned.
    """

    node_terms: tuple[tuple[NodeTerm, ...], ...] = ()
    zones: tuple[tuple[str, frozenset[str]], ...] = ()
    topologies: tuple[Topologies, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.node_terms or self.zones or self.topologies)


NO_DEMANDS = VolumeDemands()


def demands(pod: Pod, storage: Storage) -> VolumeDemands | Reason:
    """Return what the volumes of ``pod``'s replacement demand of a node, or why a snapshot does not tell."""
    if not pod.claims:
        return NO_DEMANDS
    bound: dict[str, PersistentVolume] = {}
    topologies: dict[Topologies, None] = {}
    for use in pod.claims:
        found = _provisioned(pod, use, storage) if use.ephemeral else _bound(pod, use, storage)
        if isinstance(found, Reason):
            return found
        if isinstance(found, PersistentVolume):
            bound[found.name] = found
        elif found:
            topologies[found] = None
    return VolumeDemands(
        node_terms=tuple(dict.fromkeys(v.node_terms for v in bound.values() if v.node_terms is not None)),
        zones=tuple(dict.fromkeys(zone for v in bound.values() for zone in v.zones)),
        topologies=tuple(topologies),
    )


def _bound(pod: Pod, use: ClaimUse, storage: Storage) -> PersistentVolume | Reason:
    name = f"PersistentVolumeClaim {pod.namespace}/{use.claim}"
    claim = storage.claims.get((pod.namespace, use.claim))
    if claim is None:
        return Reason(Code.STORAGE_NOT_FOUND, f"{name} is not in the snapshot")
    if claim.deleting:
        return Reason(Code.VOLUME_BINDING, f"{name} is being deleted")
    if claim.volume is None:
        return Reason(Code.VOLUME_BINDING, f"{name} is not bound")
    volume = storage.volumes.get(claim.volume)
    if volume is None:
        return Reason(Code.STORAGE_NOT_FOUND, f"PersistentVolume {claim.volume} of {name} is not in the snapshot")
    if volume.in_tree:
        return Reason(
            Code.VOLUME_BINDING, f"PersistentVolume {volume.name} is of an in-tree type, whose limits no snapshot holds"
        )
    return volume


def _provisioned(pod: Pod, use: ClaimUse, storage: Storage) -> Topologies | Reason:
    name = f"ephemeral volume {use.volume} of pod {pod.namespace}/{pod.name}"
    if use.storage_class is None:
        return Reason(Code.VOLUME_BINDING, f"{name} names no StorageClass")
    found = storage.classes.get(use.storage_class)
    if found is None:
        return Reason(Code.STORAGE_NOT_FOUND, f"StorageClass {use.storage_class} of {name} is not in the snapshot")
    if not found.wait_for_first_consumer:
        return Reason(Code.VOLUME_BINDING, f"StorageClass {found.name} of {name} binds before the pod is scheduled")
    if found.provisioner in ("", NO_PROVISIONER):
        return Reason(Code.VOLUME_BINDING, f"StorageClass {found.name} of {name} provisions no volumes")
    if found.provisioner in storage.capacity_tracked:
        return Reason(Code.VOLUME_BINDING, f"driver {found.provisioner} of {name} tracks capacity, which no snapshot holds")
    return found.topologies


def why_not(wanted: VolumeDemands, node: Node) -> Reason | None:
    """Return why a volume cannot be used or made on ``node``, or None."""
    for terms in wanted.node_terms:
        if not any(term_matches(term, node) for term in terms):
            return Reason(Code.VOLUME_BINDING, "the node affinity of a bound volume does not match")
    for topologies in wanted.topologies:
        if not any(_allows(term, node) for term in topologies):
            return Reason(Code.VOLUME_BINDING, "the StorageClass of an ephemeral volume does not provision there")
    return None


def _allows(term: tuple[tuple[str, frozenset[str]], ...], node: Node) -> bool:
    """A term without any expression allows nothing, as in Kubernetes."""
    return bool(term) and all(node.labels.get(key) in values for key, values in term)
