"""Synthetic clusters for the benchmarks: seeded, so that every machine plans the same ones.

``spread`` is the issue's first kind: every node has 8 cards and one 2-card pod in a PodGroup of its own. ``mixed`` is a
busy cluster: gangs and services of many templates, four pod sizes, pools with selectors and taints, cpu and memory that
bind as often as cards do, anti-affinity, host ports, DaemonSets, and 30 % of the nodes holding a pod that may not move.
``guarded`` is the same with a PodDisruptionBudget for every workload; two labels each, one of them shared by all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from repack_gitops.model.affinity import AffinityTerm
from repack_gitops.model.cluster import (
    ClusterSnapshot,
    Constraints,
    HostPort,
    Node,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    Relations,
    Taint,
    Toleration,
)
from repack_gitops.model.labels import LabelSelector

GPU = "nvidia.com/gpu"
CARDS = 8
GIB = 2**30 * 1000
#: cpu and memory of a node, in units and GiB; the small ones run out before their cards do.
SHAPES = ((96, 768), (128, 1024), (192, 1536))
POOLS = ("train", "serve", "shared")
TAINT = Taint("dedicated", "serve", "NoSchedule")
TOLERATION = Toleration("dedicated", "Equal", "serve", "NoSchedule")


def spread(nodes: int) -> ClusterSnapshot:
    """Return ``nodes`` nodes of 8 cards with one 2-card pod each, every pod its own PodGroup."""
    request = {"cpu": 8_000, GPU: 2_000, "memory": 64 * GIB, "pods": 1_000}
    constraints = Constraints()
    made = [make_node(f"gpu-{i:05d}", CARDS, 96, 768) for i in range(nodes)]
    pods = [_job_pod(f"train-{i:05d}", n.name, request, constraints, f"train-{i:05d}") for i, n in enumerate(made)]
    groups = [PodGroup("bench", p.pod_group or "", f"pg-{p.uid}", {}, 1, p.owner) for p in pods]
    return make_snapshot(made, pods, groups)


def mixed(nodes: int, seed: int = 7) -> ClusterSnapshot:
    """Return a busy cluster of ``nodes`` nodes and about five times as many pods."""
    return _Mixed(nodes, Random(seed)).build()


def guarded(nodes: int, seed: int = 7) -> ClusterSnapshot:
    """Return ``mixed`` with a budget for every workload, which lets half of its pods go, rounded down."""
    busy = mixed(nodes, seed)
    pods = tuple(replace(p, labels={**p.labels, "tier": "bench"}) for p in busy.pods)
    sizes = Counter(p.labels["app"] for p in pods if "app" in p.labels)
    return replace(busy, pods=pods, budgets=tuple(_half_of(app, sizes[app]) for app in sorted(sizes)))


def _half_of(app: str, size: int) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        namespace="bench",
        name=app,
        selector=LabelSelector.of({"app": app, "tier": "bench"}),
        disruptions_allowed=size // 2,
        current_healthy=size,
        desired_healthy=size - size // 2,
        unhealthy_policy="IfHealthyBudget",
        observed=True,
        min_available=size - size // 2,
        expected_pods=size,
    )


KINDS: dict[str, Callable[[int], ClusterSnapshot]] = {"spread": spread, "mixed": mixed, "guarded": guarded}


@dataclass(frozen=True)
class _Workload:
    name: str
    kind: str
    replicas: int
    minimum: int
    request: dict[str, int]
    constraints: Constraints
    pool: str
    relations: Relations = field(default_factory=Relations)


class _Mixed:
    """Places workloads at random until the cards are half used, pins some nodes, and adds DaemonSets."""

    def __init__(self, nodes: int, random: Random) -> None:
        self._random = random
        self._nodes = [self._draw_node(i) for i in range(nodes)]
        self._idle = [dict(n.allocatable) for n in self._nodes]
        self._pools = {pool: [i for i, n in enumerate(self._nodes) if n.labels["pool"] == pool] for pool in POOLS}
        self._pods: list[Pod] = []
        self._groups: list[PodGroup] = []
        self._templates: dict[object, tuple[dict[str, int], Constraints]] = {}

    def build(self) -> ClusterSnapshot:
        self._add_daemons()
        wanted, number = int(0.58 * CARDS * len(self._nodes)), 0
        while wanted > 0:
            wanted -= self._place(self._draw_workload(number))
            number += 1
        self._pin()
        return make_snapshot(self._nodes, self._pods, self._groups)

    def _draw_node(self, index: int) -> Node:
        pool = self._random.choice(POOLS)
        cpu, memory = self._random.choice(SHAPES)
        taints = (TAINT,) if pool == "serve" else ()
        return make_node(
            f"gpu-{index:05d}", CARDS, cpu, memory, labels={"pool": pool, "zone": self._random.choice("abc")}, taints=taints
        )

    def _draw_workload(self, number: int) -> _Workload:
        random = self._random
        cards = random.choices((1, 2, 4, 8), weights=(50, 28, 16, 6))[0]
        pool = random.choice(POOLS)
        service = random.random() < 0.5
        replicas = min(int(random.paretovariate(0.9)), 400 if service else 64)
        request, constraints = self._template(cards, pool, random.choice((6, 8, 11, 14)), random.choice((48, 64, 96, 120)))
        repel = AffinityTerm("kubernetes.io/hostname", LabelSelector.of({"app": f"w{number}"}), frozenset({"bench"}))
        return _Workload(
            name=f"w{number}",
            kind="ReplicaSet" if service else "Job",
            replicas=replicas,
            minimum=1 if service else random.choice((replicas, max(replicas - 2, 1))),
            request=request,
            constraints=constraints,
            pool=pool,
            relations=Relations(anti_affinity=(repel,)) if random.random() < 0.02 else Relations(),
        )

    def _template(self, cards: int, pool: str, cpu: int, memory: int) -> tuple[dict[str, int], Constraints]:
        """Equal templates share their objects, as decoding makes them do."""
        port = self._random.random() < 0.02
        key = (cards, pool, cpu, memory, port)
        if key not in self._templates:
            request = {"cpu": cards * cpu * 1000, GPU: cards * 1000, "memory": cards * memory * GIB, "pods": 1000}
            constraints = Constraints(
                node_selector=() if pool == "shared" else (("pool", pool),),
                tolerations=(TOLERATION,) if pool == "serve" else (),
                host_ports=(HostPort(8443, "TCP", "0.0.0.0"),) if port else (),  # noqa: S104
            )
            self._templates[key] = (request, constraints)
        return self._templates[key]

    def _place(self, workload: _Workload) -> int:
        """Place what fits at random nodes of its pool, and return the cards it took."""
        placed = 0
        for replica in range(workload.replicas):
            node = self._room(workload)
            if node is None:
                break
            self._pods.append(self._pod(workload, replica, self._nodes[node].name))
            placed += 1
        if placed:
            owner = self._pods[-1].owner
            minimum = min(workload.minimum, placed)
            self._groups.append(PodGroup("bench", f"pg-{workload.name}", f"pg-{workload.name}", {}, minimum, owner))
        return placed * workload.request[GPU] // 1000

    def _room(self, workload: _Workload) -> int | None:
        for _ in range(12):
            node = self._random.choice(self._pools[workload.pool])
            idle = self._idle[node]
            if all(amount <= idle[name] for name, amount in workload.request.items()):
                for name, amount in workload.request.items():
                    idle[name] -= amount
                return node
        return None

    def _pod(self, workload: _Workload, replica: int, node: str) -> Pod:
        api = "apps/v1" if workload.kind == "ReplicaSet" else "batch.volcano.sh/v1alpha1"
        return Pod(
            namespace="bench",
            name=f"{workload.name}-{replica}",
            uid=f"uid-{workload.name}-{replica}",
            labels={"app": workload.name, "index": str(replica)},
            node=node,
            phase="Running",
            scheduler_name="volcano",
            pod_group=f"pg-{workload.name}",
            owner=Owner(api, workload.kind, workload.name, f"uid-{workload.name}"),
            requests=workload.request,
            template=workload.request,
            constraints=workload.constraints,
            relations=workload.relations,
        )

    def _pin(self) -> None:
        """Make one pod of 30 % of the nodes immovable: it belongs to another scheduler."""
        pinned = {n.name for n in self._random.sample(self._nodes, 3 * len(self._nodes) // 10)}
        for index, pod in enumerate(self._pods):
            if pod.node in pinned and pod.requests.get(GPU):
                pinned.discard(pod.node)
                self._pods[index] = replace(pod, scheduler_name="default-scheduler")

    def _add_daemons(self) -> None:
        request = {"cpu": 500, "memory": GIB, "pods": 1000}
        constraints = Constraints(tolerations=(Toleration("", "Exists", "", ""),))
        for name in ("network", "monitor", "logs"):
            owner = Owner("apps/v1", "DaemonSet", name, f"uid-{name}")
            for node, idle in zip(self._nodes, self._idle, strict=True):
                pod = _job_pod(f"{name}-{node.name}", node.name, request, constraints, name)
                self._pods.append(replace(pod, owner=owner, pod_group=None, scheduler_name="default-scheduler"))
                for resource, amount in request.items():
                    idle[resource] -= amount


def make_node(
    name: str, cards: int, cpu: int, memory: int, *, labels: Mapping[str, str] | None = None, taints: tuple[Taint, ...] = ()
) -> Node:
    """Return a node; ``memory`` in GiB."""
    allocatable = {"cpu": cpu * 1000, GPU: cards * 1000, "memory": memory * GIB, "pods": 110_000}
    return Node(name, {"kubernetes.io/hostname": name, **(labels or {})}, taints, allocatable)


def _job_pod(name: str, node: str, request: dict[str, int], constraints: Constraints, job: str) -> Pod:
    return Pod(
        namespace="bench",
        name=f"{name}-0",
        uid=f"uid-{name}-0",
        labels={"volcano.sh/job-name": job},
        node=node,
        phase="Running",
        scheduler_name="volcano",
        pod_group=f"pg-{name}",
        owner=Owner("batch.volcano.sh/v1alpha1", "Job", job, f"uid-{job}"),
        requests=request,
        template=request,
        constraints=constraints,
    )


def make_snapshot(nodes: list[Node], pods: list[Pod], groups: list[PodGroup]) -> ClusterSnapshot:
    """Return the snapshot of them, in its order."""
    return ClusterSnapshot(
        nodes=tuple(sorted(nodes, key=lambda n: n.name)),
        pods=tuple(sorted(pods, key=lambda p: p.key)),
        pod_groups={g.key: g for g in sorted(groups, key=lambda g: g.key)},
    )
