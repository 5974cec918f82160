"""Constraints that a snapshot does not decide; a pod with one of them is never moved.

docs/planning.md lists them. This list names fields as the Pod's spec does, so that a reader finds the cause at once.
"""

from __future__ import annotations

import re
from functools import lru_cache

from repack_gitops.model.kubernetes import Pod, PodGroup, PodSpec, Volume

# Shares of a card (HAMi, Volcano's vGPU, Koordinator, ...): memory or cores of the sum over a node's cards may suffice
# where no single card does, so counting per node decides nothing. Whole cards, MIG profiles and Neuron cores do not match.
_SHARE = re.compile(
    r".+/((.*(gpu|npu|gcu|xpu|cuda|ascend|mlu|dcu).*|v|.*[-_.]v)(mem|memory|cores?)([-_.](percentage|ratio))?"
    r"|vgpu[-_.]number|.*[-_.](percentage|percent|ratio))|koordinator\.sh/gpu.*",
    re.IGNORECASE,
)


def unsupported_fields(pod: Pod) -> tuple[str, ...]:
    """Return the undecided fields of ``pod``, in a fixed order; empty for most pods."""
    spec = pod.spec
    return (*_volumes(spec), *_devices(pod), *_shares(spec))


def unsupported_of_group(group: PodGroup) -> tuple[str, ...]:
    """Return the undecided fields of a PodGroup: its members may go only where a HyperNode allows."""
    policies = group.spec.sub_group_policy or ()
    topologies = [group.spec.network_topology, *(p.network_topology for p in policies)]
    return ("networkTopology",) if any(t is not None and t.mode != "soft" for t in topologies) else ()


def _volumes(spec: PodSpec) -> list[str]:
    """Volumes that Kubernetes translates to CSI before it schedules; their limits and zones are those of the driver."""
    return [f"volumes({v.name}) of an in-tree type" for v in spec.volumes or () if _in_tree(v)]


def _in_tree(volume: Volume) -> bool:
    sources = (
        volume.aws_elastic_block_store,
        volume.azure_disk,
        volume.cinder,
        volume.gce_persistent_disk,
        volume.portworx_volume,
        volume.vsphere_volume,
    )
    return any(source is not None for source in sources)


def _devices(pod: Pod) -> list[str]:
    """Devices served through DRA: by claims of the pod or of a container, or behind an extended resource."""
    containers = [*pod.spec.containers, *(pod.spec.init_containers or ())]
    if pod.spec.resource_claims or any(c.resources and c.resources.claims for c in containers):
        return ["resourceClaims"]
    if pod.status.extended_resource_claim_status is not None:
        return ["extendedResourceClaimStatus"]
    return []


def _shares(spec: PodSpec) -> list[str]:
    names = {
        name
        for container in (*spec.containers, *(spec.init_containers or ()))
        if container.resources is not None
        for name in (*(container.resources.requests or ()), *(container.resources.limits or ()))
        if is_share(name)
    }
    return [f"resources({name})" for name in sorted(names)]


@lru_cache(maxsize=4096)
def is_share(resource: str) -> bool:
    """Tell whether ``resource`` is a share of a card rather than a card."""
    return _SHARE.fullmatch(resource) is not None
