"""ReadWriteOnce volumes that several pods use: they are attached to one node, so their pods cannot part.

No scheduler asks this. A pod that goes elsewhere alone waits for ever for its volume to be detached (Multi-Attach).
"""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod
from repack_gitops.model.plan import Code, Reason


class SharedVolumes:
    """Who uses which ReadWriteOnce claim of a CSI driver, in one snapshot."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._users: dict[Key, list[Key]] = {}
        storage = snapshot.storage
        for pod in snapshot.pods:
            for use in pod.claims if pod.active and pod.node else ():
                claim = storage.claims.get((pod.namespace, use.claim))
                volume = storage.volumes.get(claim.volume) if claim is not None and claim.volume else None
                if claim is not None and claim.one_node and volume is not None and volume.driver is not None:
                    self._users.setdefault((claim.namespace, claim.name), []).append(pod.key)

    def why_not(self, pod: Pod) -> Reason | None:
        """Return the claim that keeps ``pod`` with another pod, or None."""
        for use in pod.claims:
            for other in self._users.get((pod.namespace, use.claim), ()):
                if other != pod.key:
                    detail = f"claim {use.claim} is ReadWriteOnce, and pod {'/'.join(other)} uses it too: they cannot part"
                    return Reason(Code.VOLUME_SHARED, f"pod {pod.namespace}/{pod.name}: {detail}")
        return None
