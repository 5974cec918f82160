"""Fragmented clusters for the planner's benchmark, one trait a time: seeded, so that every machine plans the same ones.

``ample``: nodes of 8 cards, pods of 1, 2, 4 and 8, services and gangs of many sizes; cards run out first.
``tight``: the same with cpu and memory per card that differ between workloads, so that either may run out first.
``gangs``: nearly everything is a training job whose members may not be missing.
``pinned``: 30 % of the nodes hold a pod that may not move.
``odd``: pods of 1, 2, 3 and 4 cards, sizes that do not divide each other.
``unequal``: nodes of 4, 8 and 16 cards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from bench.clusters import GIB, GPU, make_node, make_snapshot
from repack_gitops.model.cluster import ClusterSnapshot, Constraints, Node, Owner, Pod, PodGroup


@dataclass(frozen=True)
class Shape:
    """What a cluster is drawn from; cpu in cores and memory in GiB, each per card."""

    sizes: tuple[tuple[int, int], ...] = ((1, 50), (2, 28), (4, 16), (8, 6))
    capacities: tuple[int, ...] = (8,)
    cpu: tuple[int, ...] = (6, 8)
    memory: tuple[int, ...] = (48, 64)
    pinned: float = 0.0
    gangs: float = 0.4
    #: Share of the cards that are in use.
    fill: float = 0.5


SHAPES = {
    "ample": Shape(),
    "tight": Shape(cpu=(6, 9, 12, 15), memory=(48, 72, 96, 120)),
    "gangs": Shape(gangs=0.95),
    "pinned": Shape(pinned=0.3),
    "odd": Shape(sizes=((1, 40), (2, 25), (3, 25), (4, 10))),
    "unequal": Shape(capacities=(4, 8, 8, 16)),
}
_CONSTRAINTS = Constraints()


def shaped(name: str, nodes: int, seed: int = 7) -> ClusterSnapshot:
    """Return a cluster of ``nodes`` nodes of the shape called ``name``."""
    return _Cluster(SHAPES[name], nodes, Random(f"{name}-{nodes}-{seed}")).build()


class _Cluster:
    def __init__(self, shape: Shape, nodes: int, random: Random) -> None:
        self._shape, self._random = shape, random
        self._nodes = [self._node(i) for i in range(nodes)]
        self._idle = [dict(n.allocatable) for n in self._nodes]
        self._pods: list[Pod] = []
        self._groups: list[PodGroup] = []
        self._requests: dict[tuple[int, int, int], dict[str, int]] = {}

    def build(self) -> ClusterSnapshot:
        wanted = self._shape.fill * sum(n.allocatable[GPU] for n in self._nodes) / 1000
        number = 0
        while wanted > 0:
            wanted -= self._workload(number)
            number += 1
        self._pin()
        return make_snapshot(self._nodes, self._pods, self._groups)

    def _node(self, index: int) -> Node:
        cards = self._random.choice(self._shape.capacities)
        return make_node(f"gpu-{index:05d}", cards, cards * 12, cards * 96)

    def _workload(self, number: int) -> int:
        """Place a workload's pods at random nodes, and return the cards they take."""
        random, shape = self._random, self._shape
        sizes, weights = zip(*shape.sizes, strict=True)
        cards: int = random.choices(sizes, weights)[0]
        gang = random.random() < shape.gangs
        replicas = min(int(random.paretovariate(0.9)), 64)
        request = self._request(cards, random.choice(shape.cpu), random.choice(shape.memory))
        name = f"w{number:05d}"
        owner = Owner("batch.volcano.sh/v1alpha1" if gang else "apps/v1", "Job" if gang else "ReplicaSet", name, f"uid-{name}")
        placed = 0
        for replica in range(replicas):
            node = self._room(request)
            if node is None:
                break
            self._pods.append(_pod(f"{name}-{replica}", node, request, name, owner))
            placed += 1
        if placed:
            minimum = max(placed - random.choice((0, 0, 2)), 1) if gang else 1
            self._groups.append(PodGroup("bench", f"pg-{name}", f"uid-pg-{name}", {}, minimum, owner))
        return placed * cards

    def _request(self, cards: int, cpu: int, memory: int) -> dict[str, int]:
        """Equal templates share their objects, as decoding makes them do."""
        amounts = {"cpu": cards * cpu * 1000, GPU: cards * 1000, "memory": cards * memory * GIB, "pods": 1000}
        return self._requests.setdefault((cards, cpu, memory), amounts)

    def _room(self, request: dict[str, int]) -> str | None:
        for _ in range(12):
            node = self._random.randrange(len(self._nodes))
            idle = self._idle[node]
            if all(amount <= idle[name] for name, amount in request.items()):
                for name, amount in request.items():
                    idle[name] -= amount
                return self._nodes[node].name
        return None

    def _pin(self) -> None:
        """Make one pod of some nodes immovable: it belongs to another scheduler."""
        pinned = {n.name for n in self._random.sample(self._nodes, int(self._shape.pinned * len(self._nodes)))}
        for index, pod in enumerate(self._pods):
            if pod.node in pinned:
                pinned.discard(pod.node)
                self._pods[index] = replace(pod, scheduler_name="default-scheduler")


def _pod(name: str, node: str, request: dict[str, int], workload: str, owner: Owner) -> Pod:
    return Pod(
        namespace="bench",
        name=name,
        uid=f"uid-{name}",
        labels={"app": workload},
        node=node,
        phase="Running",
        scheduler_name="volcano",
        pod_group=f"pg-{workload}",
        owner=owner,
        requests=request,
        template=request,
        constraints=_CONSTRAINTS,
    )
