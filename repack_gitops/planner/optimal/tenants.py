"""Which pods a packing has placed where, by class and by node, while the room keeps count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from repack_gitops.planner.optimal.joint_room import JointRoom
from repack_gitops.planner.problem import Whole


class Tenants:
    """Places that are taken in ``room``; pods of one class are alike."""

    def __init__(self, room: JointRoom) -> None:
        self._room = room
        self._places: dict[int, list[int]] = {}
        self._on: dict[int, list[int]] = {}

    def on(self, node: int) -> Sequence[int]:
        """Return the classes placed on ``node``, one entry for every pod."""
        return self._on.get(node, ())

    def classes(self) -> Iterator[int]:
        """Yield the classes that are placed anywhere."""
        return (pod_class for pod_class, places in self._places.items() if places)

    def places(self, pod_class: int) -> Sequence[int]:
        """Return the nodes that take pods of the class, one entry for every pod."""
        return self._places.get(pod_class, ())

    def nodes(self) -> Whole:
        """Return the nodes with tenants."""
        return np.array([node for node, found in self._on.items() if found], dtype=np.int64)

    def nodes_of(self, pod_class: int) -> Whole:
        """Return the nodes with a pod of the class, once each."""
        return np.array(list(dict.fromkeys(self.places(pod_class))), dtype=np.int64)

    def put(self, pod_class: int, node: int) -> None:
        """Place a pod of the class on ``node``, which has room for it."""
        self._room.put(pod_class, node)
        self._places.setdefault(pod_class, []).append(node)
        self._on.setdefault(node, []).append(pod_class)

    def take_back(self, pod_class: int, node: int) -> None:
        """Undo one ``put``."""
        self._room.take_back(pod_class, node)
        self.use_up(pod_class, node)

    def use_up(self, pod_class: int, node: int) -> None:
        """Forget a place whose pod arrived; the room stays taken."""
        self._places[pod_class].remove(node)
        self._on[node].remove(pod_class)
