"""NodeVolumeLimits: a CSI driver attaches only so many volumes to a node, and none where it does not run.

Volcano counts every claim of every pod there, though two may lead to one volume. Kubernetes' filter, which Volcano asks
too, counts distinct volumes, and also those attached though no pod uses them any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from repack_gitops.model.cluster import Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.storage import Storage

#: (driver, handle): one volume, whatever claims lead to it.
Handle = tuple[str, str]


def wanted_by(pod: Pod, storage: Storage) -> tuple[Handle, ...]:
    """Return the CSI volume of each claim of ``pod``'s replacement; one yet to be provisioned has a handle of its own."""
    found: list[Handle] = []
    for use in pod.claims:
        if use.ephemeral:
            found_class = storage.classes.get(use.storage_class or "")
            found.append((found_class.provisioner if found_class else "", f"{pod.namespace}/{use.claim}"))
        else:
            found += _of_claim(pod.namespace, use.claim, storage)
    return tuple(found)


def held_by(pods: Iterable[Pod], storage: Storage) -> tuple[Handle, ...]:
    """Return the CSI volume of each claim of ``pods``; one that several use comes several times."""
    return tuple(h for pod in pods for use in pod.claims for h in _of_claim(pod.namespace, use.claim, storage))


def left_attached(storage: Storage) -> dict[str, frozenset[Handle]]:
    """Return the CSI volumes attached by node, whoever uses them."""
    found: dict[str, set[Handle]] = {}
    for node, name in storage.attachments:
        volume = storage.volumes.get(name)
        if volume is not None and volume.driver is not None:
            found.setdefault(node, set()).add((volume.driver, volume.handle))
    return {node: frozenset(names) for node, names in found.items()}


def taken(driver: str, held: Sequence[Handle], lingering: frozenset[Handle]) -> int:
    """Return how many volumes of ``driver`` a node is charged: claims, or distinct volumes where those are more."""
    return max(_count(driver, held), _count(driver, {*held, *lingering}))


def why_not(
    wanted: Sequence[Handle], held: Sequence[Handle], lingering: frozenset[Handle], limits: Mapping[str, int | None]
) -> Reason | None:
    """Return the driver that does not run on a node, or whose limit the ``wanted`` volumes would exceed, or None.

    Parameters
    ----------
    held
        The volume of each claim of the pods on the node.
    lingering
        Volumes attached to it, whoever uses them.
    limits
        By driver that runs there; None is no limit.
    """
    for driver in sorted({name for name, _ in wanted}):
        if driver not in limits:
            return Reason(Code.NODE_VOLUME_LIMITS, f"CSI driver {driver} does not run there")
        limit = limits[driver]
        claims = _count(driver, held) + _count(driver, wanted)
        volumes = _count(driver, {*held, *lingering}) + _count(driver, {*wanted} - {*held})
        if limit is not None and max(claims, volumes) > limit:
            used = taken(driver, held, lingering)
            return Reason(Code.NODE_VOLUME_LIMITS, f"{driver} attaches {limit} volumes to a node, {used} are counted there")
    return None


def _count(driver: str, volumes: Collection[Handle]) -> int:
    return sum(name == driver for name, _ in volumes)


def _of_claim(namespace: str, claim: str, storage: Storage) -> list[Handle]:
    found = storage.claims.get((namespace, claim))
    volume = storage.volumes.get(found.volume) if found is not None and found.volume else None
    return [(volume.driver, volume.handle)] if volume is not None and volume.driver is not None else []
