"""Volumes that CSI drivers attach, as amounts: so the search treats a driver's limit like any other resource.

Volumes that are attached though no pod uses them count in full here, even if a pod that joins uses one: that can only
forbid too much. ``feasibility.node_volume_limits`` is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.quantity import MILLI
from repack_gitops.model.storage import Storage
from repack_gitops.planner.candidacy import room_holders
from repack_gitops.planner.feasibility.node_volume_limits import held_by, left_attached, taken, wanted_by

#: No resource of Kubernetes has a space in its name, so none that a pod asks for is taken for one of ours.
_PREFIX = "volumes of CSI driver "
#: More volumes than any node has, where a driver names no limit.
_NO_LIMIT = 10**9


def is_attachable(resource: str) -> bool:
    """Tell whether ``resource`` is one of ours, and stands for a driver's attachments."""
    return resource.startswith(_PREFIX)


def attached_amounts(pod: Pod, storage: Storage) -> tuple[tuple[str, int], ...]:
    """Return how many volumes of every driver ``pod``'s replacement attaches, in thousandths, by resource name."""
    if not pod.claims:
        return ()
    counts = Counter(driver for driver, _ in wanted_by(pod, storage))
    return tuple(sorted((_PREFIX + driver, number * MILLI) for driver, number in counts.items()))


def attachable_amounts(snapshot: ClusterSnapshot, resources: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return how many more volumes every node can attach, in thousandths, for the given ``resources``."""
    drivers = {name: name.removeprefix(_PREFIX) for name in resources}
    if not drivers:
        return {}
    storage, lingering, found = snapshot.storage, left_attached(snapshot.storage), {}
    for node, pods in room_holders(snapshot).items():
        held, left = held_by(pods, storage), lingering.get(node, frozenset())
        limits = storage.attach_limits.get(node, {})
        found[node] = {
            name: _room(limits.get(driver, 0), taken(driver, held, left)) * MILLI for name, driver in drivers.items()
        }
    return found


def _room(limit: int | None, used: int) -> int:
    return _NO_LIMIT if limit is None else limit - used
