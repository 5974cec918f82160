"""Where a replacement may go now: one pod, live nodes and pods, the same filters as planning (spec 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repack_gitops.model.cluster import Node, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.candidacy import receives_at_all
from repack_gitops.planner.feasibility.state import Surroundings

#: Pods bound or nominated to a node, by the node's name.
Residents = Callable[[str], Sequence[Pod]]


def why_not_now(pod: Pod, node: Node, residents: Sequence[Pod], around: Surroundings, resource: str) -> Reason | None:
    """Return why ``pod`` should not be led to ``node`` now, or None: no room, or a node that is empty of ``resource``.

    ``residents`` are the active pods bound or nominated to the node; ``pod`` itself is ignored among them.
    """
    bound = [p for p in residents if p.uid != pod.uid and p.active and p.node]
    if not receives_at_all(node, bound, resource):
        return Reason(Code.NOT_OCCUPIED, f"node {node.name} holds no pod with {resource} that stays")
    return why_no_room(pod, node, residents, around)


def why_no_room(pod: Pod, node: Node, residents: Sequence[Pod], around: Surroundings) -> Reason | None:
    """Return why ``pod`` cannot be bound to ``node`` at once, or None.

    Only what is idle counts: a nomination to room that a terminating pod still holds would make the pod wait for it.
    """
    return around.why_not(pod, node, [p for p in residents if p.uid != pod.uid and p.active])


@dataclass(frozen=True, slots=True)
class Wish:
    """A pod that needs a node: the planned one, everything else that decides, the resource that counts."""

    pod: Pod
    planned: str
    around: Surroundings
    resource: str


def choose_receiver(wish: Wish, nodes: Sequence[Node], residents: Residents) -> str | None:
    """Return the node to nominate: the planned one if the pod fits, else the fullest of ``nodes`` where it does.

    Parameters
    ----------
    nodes
        Every node that may receive; nodes being freed are not among them.
    """
    fitting = []
    for node in sorted(nodes, key=lambda n: (n.name != wish.planned, n.name)):
        found = residents(node.name)
        if why_not_now(wish.pod, node, found, wish.around, wish.resource) is None:
            if node.name == wish.planned:
                return node.name
            used = sum(p.requests.get(wish.resource, 0) for p in found if p.active)
            fitting.append((node.allocatable.get(wish.resource, 0) - used, node.name))
    return min(fitting)[1] if fitting else None
