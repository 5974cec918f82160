"""Constraints that no filter of ours decides yet; a pod with one of them is never moved.

This list shrinks as filters arrive. It names fields as the Pod's spec does, so that a reader finds the cause at once.
"""

from __future__ import annotations

import re
from functools import lru_cache

from repack_gitops.model.kubernetes import Pod, PodGroup, PodSpec

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
    found = [*_affinity(spec), *_volumes(spec), *_devices(pod), *_shares(spec)]
    if any(c.when_unsatisfiable == "DoNotSchedule" for c in spec.topology_spread_constraints or ()):
        found.append("topologySpreadConstraints")
    return tuple(found)


def unsupported_of_group(group: PodGroup) -> tuple[str, ...]:
    """Return the undecided fields of a PodGroup: its members may go only where a HyperNode allows."""
    policies = group.spec.sub_group_policy or ()
    topologies = [group.spec.network_topology, *(p.network_topology for p in policies)]
    return ("networkTopology",) if any(t is not None and t.mode != "soft" for t in topologies) else ()


def _affinity(spec: PodSpec) -> list[str]:
    if spec.affinity is None:
        return []
    found = []
    for name, terms in (
        ("podAffinity", spec.affinity.pod_affinity),
        ("podAntiAffinity", spec.affinity.pod_anti_affinity),
    ):
        if terms is not None and terms.required_during_scheduling_ignored_during_execution:
            found.append(f"affinity.{name}")
    return found


def _volumes(spec: PodSpec) -> list[str]:
    found = []
    for volume in spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            found.append(f"volumes.persistentVolumeClaim({volume.persistent_volume_claim.claim_name})")
        elif volume.ephemeral is not None:
            found.append(f"volumes.ephemeral({volume.name})")
        elif volume.csi is not None:
            found.append(f"volumes.csi({volume.name})")
    return found


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
        if _is_share(name)
    }
    return [f"resources({name})" for name in sorted(names)]


@lru_cache(maxsize=4096)
def _is_share(resource: str) -> bool:
    return _SHARE.fullmatch(resource) is not None
