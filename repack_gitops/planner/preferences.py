"""Preferences that pull a replacement back: they decide no plan, but a reviewer should know of them.

A nominated pod goes where it is nominated as long as it fits there. Where the nomination comes late, the scheduler goes by
scores, and the pod's own preferred node affinity counts for the node that it left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repack_gitops.model.cluster import ClusterSnapshot, Node, Pod
from repack_gitops.model.plan import PodMove
from repack_gitops.planner.feasibility.node_affinity import term_matches


def pulled_back(snapshot: ClusterSnapshot, moves: Iterable[PodMove]) -> Iterator[str]:
    """Yield a word on the pods that would rather stay where they are than go where the plan sends them."""
    where = {(m.namespace, m.pod): m for m in moves}
    nodes, found = snapshot.node_by_name, []
    for pod in snapshot.pods:
        move = where.get(pod.key) if pod.preferred else None
        if move is not None and _score(pod, nodes[move.from_node]) > _score(pod, nodes[move.to_node]):
            found.append("/".join(pod.key))
    if found:
        names = ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
        yield f"{len(found)} pod(s) have a preferred node affinity for the node they leave and may go back to it: {names}"


def _score(pod: Pod, node: Node) -> int:
    return sum(p.weight for p in pod.preferred if term_matches(p.term, node))
