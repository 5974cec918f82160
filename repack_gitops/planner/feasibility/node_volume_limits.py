"""NodeVolumeLimits: a CSI driver attaches only so many volumes to a node.

Counted are the distinct volumes of the pods there, and those attached though no pod uses them any more. A volume that is
there already costs nothing; an ephemeral one is always new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from repack_gitops.model.cluster import Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.storage import Storage

#: (driver, handle): one volume, whatever claims lead to it.
Handle = tuple[str, str]


def handles(pod: Pod, storage: Storage) -> frozenset[Handle]:
    """Return the CSI volumes that ``pod``'s replacement attaches; a volume yet to be provisioned has a handle of its own."""
    found = set()
    for use in pod.claims:
        if use.ephemeral:
            found_class = storage.classes.get(use.storage_class or "")
            found.add((found_class.provisioner if found_class else "", f"{pod.namespace}/{use.claim}"))
        else:
            found |= _of_claim(pod.namespace, use.claim, storage)
    return frozenset(found)


def attached(pods: Iterable[Pod], storage: Storage) -> frozenset[Handle]:
    """Return the distinct CSI volumes that ``pods`` use."""
    return frozenset(h for pod in pods for use in pod.claims for h in _of_claim(pod.namespace, use.claim, storage))


def left_attached(storage: Storage) -> dict[str, frozenset[Handle]]:
    """Return the CSI volumes attached by node, whoever uses them."""
    found: dict[str, set[Handle]] = {}
    for node, name in storage.attachments:
        volume = storage.volumes.get(name)
        if volume is not None and volume.driver is not None:
            found.setdefault(node, set()).add((volume.driver, volume.handle))
    return {node: frozenset(names) for node, names in found.items()}


def why_not(
    wanted: frozenset[Handle], used: frozenset[Handle], lingering: frozenset[Handle], limits: Mapping[str, int]
) -> Reason | None:
    """Return the driver whose limit the ``wanted`` volumes would exceed, or None.

    Parameters
    ----------
    used
        Volumes of the pods on the node.
    lingering
        Volumes attached to it, whoever uses them.
    limits
        By driver.
    """
    fresh = Counter(driver for driver, _ in wanted - used)
    taken = Counter(driver for driver, _ in used | lingering)
    for driver in sorted(fresh):
        limit = limits.get(driver)
        if limit is not None and taken[driver] + fresh[driver] > limit:
            return Reason(Code.NODE_VOLUME_LIMITS, f"{driver} attaches {limit} volumes to a node, {taken[driver]} are attached")
    return None


def _of_claim(namespace: str, claim: str, storage: Storage) -> set[Handle]:
    found = storage.claims.get((namespace, claim))
    volume = storage.volumes.get(found.volume) if found is not None and found.volume else None
    return {(volume.driver, volume.handle)} if volume is not None and volume.driver is not None else set()
