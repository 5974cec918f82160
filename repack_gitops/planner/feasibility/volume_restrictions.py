"""VolumeRestrictions: a ReadWriteOncePod claim belongs to one pod at a time.

Volcano does not ask this; the kubelet would refuse the pod, so we do.
"""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.model.cluster import Key, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.storage import Storage


def users(pods: Iterable[Pod], storage: Storage) -> dict[Key, list[Key]]:
    """Return, for every ReadWriteOncePod claim, the active pods on a node that use it."""
    found: dict[Key, list[Key]] = {}
    for pod in pods:
        if pod.active and pod.node:
            for use in pod.claims:
                claim = storage.claims.get((pod.namespace, use.claim))
                if claim is not None and claim.once_per_pod:
                    found.setdefault((claim.namespace, claim.name), []).append(pod.key)
    return found


def why_not(pod: Pod, used: dict[Key, list[Key]]) -> Reason | None:
    """Return the claim of ``pod`` that another pod holds for itself, or None; ``used`` is what ``users`` returns."""
    for use in pod.claims:
        for other in used.get((pod.namespace, use.claim), ()):
            if other != pod.key:
                return Reason(
                    Code.VOLUME_RESTRICTIONS, f"claim {use.claim} is ReadWriteOncePod and pod {'/'.join(other)} uses it"
                )
    return None
