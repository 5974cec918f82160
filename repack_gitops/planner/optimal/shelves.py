"""Best fit in a step: nodes on shelves by the cards they have idle, the fullest shelf that suffices first."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from heapq import heappop, heappush

from repack_gitops.planner.optimal.joint_room import JointRoom


class Shelves:
    """Nodes that differ only in their idle cards, or nearly so; on a shelf the first by index comes first."""

    def __init__(self, room: JointRoom, nodes: Iterable[int]) -> None:
        self._room = room
        self._idle: list[int] = []
        self._nodes: dict[int, list[int]] = {}
        for node in nodes:
            self.put_back(node)

    def put_back(self, node: int) -> None:
        """Put ``node`` on the shelf of what it has idle now."""
        idle = int(self._room.idle[0, node])
        if idle not in self._nodes:
            insort(self._idle, idle)
            self._nodes[idle] = []
        heappush(self._nodes[idle], node)

    def take(self, pod_class: int, cards: int) -> int | None:
        """Take the fullest node off its shelf that has ``cards`` idle and takes a pod of the class; None if none does."""
        for idle in self._idle[bisect_left(self._idle, cards) :]:
            refused = []
            found = None
            while found is None and self._nodes[idle]:
                node = heappop(self._nodes[idle])
                if self._room.fits_on(pod_class, node):
                    found = node
                else:
                    refused.append(node)
            for node in refused:
                heappush(self._nodes[idle], node)
            if found is not None:
                return found
        return None
