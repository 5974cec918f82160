"""The fragmentation rate of spec 2.1, over the whole cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Fragmentation


def fragmentation(snapshot: ClusterSnapshot, resource: str) -> Fragmentation:
    """Return how spread ``resource`` is now; O(nodes + pods)."""
    capacities = {n.name: n.allocatable[resource] for n in snapshot.nodes if n.allocatable.get(resource, 0) > 0}
    requests = _requests(snapshot, resource, capacities)
    occupied = sum(1 for found in requests.values() if found)
    # A node whose allocatable shrank may hold a pod larger than itself: that pod still needs one node, not two.
    demand = [min(r, capacities[name]) for name, found in requests.items() for r in found]
    overcommitted = any(r > capacities[name] for name, found in requests.items() for r in found)
    optimal, exact = fewest_nodes(sorted(capacities.values(), reverse=True), demand)
    return Fragmentation(len(capacities), occupied, min(optimal, occupied), exact and not overcommitted)


def fewest_nodes(capacities: Sequence[int], requests: Sequence[int]) -> tuple[int, bool]:
    """Return the fewest nodes that could hold ``requests``, and whether that is exact or a lower bound.

    Parameters
    ----------
    capacities
        Of the providing nodes, largest first.
    requests
        Of the pods, in the same unit.
    """
    if not requests or not capacities:
        return 0, True
    if capacities[0] != capacities[-1]:
        return _fewest_largest(capacities, sum(requests)), False
    capacity = capacities[0]
    large = sum(-(-r // capacity) for r in requests if r >= capacity)
    small = sum(r for r in requests if r < capacity)
    return large - (-small // capacity), _nest(capacity, requests)


def _nest(capacity: int, requests: Sequence[int]) -> bool:
    """Powers of two nest without waste, so the sum decides; a common factor (milli-units) does not matter."""
    return all(_power_of_two_share(capacity, r) for r in set(requests))


def _power_of_two_share(capacity: int, request: int) -> bool:
    small, large = sorted((capacity, request))
    ratio, rest = divmod(large, small)
    return rest == 0 and ratio & (ratio - 1) == 0


def _fewest_largest(capacities: Sequence[int], demand: int) -> int:
    count = 0
    for capacity in capacities:
        if demand <= 0:
            break
        demand -= capacity
        count += 1
    return count


def _requests(snapshot: ClusterSnapshot, resource: str, providing: Mapping[str, int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {name: [] for name in providing}
    for name in providing:
        for pod in snapshot.pods_by_node[name]:
            request = pod.requests.get(resource, 0)
            if request:
                found[name].append(request)
    return found
