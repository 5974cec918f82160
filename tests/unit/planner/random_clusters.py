"""Seeded random clusters: small, crowded, and full of the things that make a planner stumble.

A seed is a reproduction: ``random_case(4711)`` is the same everywhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random

from repack_gitops.model.affinity import AffinityTerm, SpreadConstraint
from repack_gitops.model.cluster import (
    ClusterSnapshot,
    Constraints,
    HostPort,
    Node,
    Owner,
    Pod,
    Relations,
    Taint,
    Toleration,
)
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm
from repack_gitops.model.run import Goal, MaxPerRun, NodeScope, NodeSet, PodGroupScope, PodGroupSet, RunTemplateSpec, Scope
from tests.unit.planner.build import GPU, cluster, pod

ANY_ADDRESS = "0.0.0.0"  # noqa: S104
TAINT = Taint("dedicated", "team", "NoSchedule")
#: Constraints that filters decide; most pods have none.
CONSTRAINTS = (
    Constraints(node_selector=(("pool", "a"),)),
    Constraints(node_selector=(("pool", "b"),)),
    Constraints(tolerations=(Toleration("dedicated", "Exists", "", ""),)),
    Constraints(
        node_terms=(NodeTerm((NodeRequirement("pool", "NotIn", ("a",)),)), NodeTerm((NodeRequirement("rank", "Gt", ("2",)),)))
    ),
    Constraints(host_ports=(HostPort(8080, "TCP", ANY_ADDRESS),)),
    Constraints(host_ports=(HostPort(8080, "TCP", "10.0.0.1"), HostPort(9090, "UDP", ANY_ADDRESS))),
)
APP_X, APP_Y = LabelSelector.of({"app": "x"}), LabelSelector.of({"app": "y"})
_TEAM = frozenset({"team"})
#: Relations to other pods; few pods have any.
RELATIONS = (
    Relations(anti_affinity=(AffinityTerm("kubernetes.io/hostname", APP_X, _TEAM),)),
    Relations(anti_affinity=(AffinityTerm("zone", APP_Y, _TEAM),)),
    Relations(anti_affinity=(AffinityTerm("kubernetes.io/hostname", APP_Y, frozenset(), LabelSelector()),)),
    Relations(affinity=(AffinityTerm("zone", APP_X, _TEAM),)),
    Relations(affinity=(AffinityTerm("kubernetes.io/hostname", APP_Y, _TEAM), AffinityTerm("zone", APP_Y, _TEAM))),
    Relations(spread=(SpreadConstraint("zone", 1, 1, APP_X),)),
    Relations(spread=(SpreadConstraint("kubernetes.io/hostname", 1, 3, APP_Y, honor_node_taints=True),)),
    Relations(
        anti_affinity=(AffinityTerm("rack", LabelSelector.of({}, (Requirement("app", "Exists"),)), _TEAM),),
        spread=(SpreadConstraint("zone", 2, 1, LabelSelector.of({}, (Requirement("app", "In", ("x", "y")),))),),
    ),
)
#: Changes that make a pod immovable, one rule of movability each.
IMMOVABLE: tuple[dict[str, object], ...] = (
    {"scheduler_name": "default-scheduler"},
    {"owner": None},
    {"owner": Owner("apps/v1", "DaemonSet", "agent")},
    {"terminating": True},
    {"mirror": True},
    {"unsupported": ("topologySpreadConstraints",)},
)


@dataclass(frozen=True)
class Shape:
    """What kind of clusters to draw."""

    nodes: tuple[int, int] = (2, 7)
    capacities: tuple[int, ...] = (8,)
    sizes: tuple[int, ...] = (1, 2, 4)
    constrained: float = 0.25
    immovable: float = 0.06
    related: float = 0.08
    tight_cpu: float = 0.3
    gangs: int = 4
    fill: float = 0.6
    limited: float = 0.3
    scoped: float = 0.15


SHAPES = (
    Shape(),
    Shape(sizes=(1, 2, 3, 5), capacities=(4, 8, 16)),
    Shape(sizes=(1, 2, 3), constrained=0.6, immovable=0.02, tight_cpu=0.5),
    Shape(sizes=(1, 2, 4, 8), gangs=2, immovable=0.0, constrained=0.05, tight_cpu=0.1),
    Shape(sizes=(1, 1, 2), nodes=(5, 10), fill=0.35, constrained=0.1),
)


#: Full and constrained: many nodes are stuck.
CROWDED = Shape(nodes=(3, 8), sizes=(2, 3, 4), fill=0.85, constrained=0.5, immovable=0.03, tight_cpu=0.5, limited=0.1)


@dataclass(frozen=True)
class Case:
    """A snapshot with the run to plan on it."""

    seed: int
    snapshot: ClusterSnapshot
    spec: RunTemplateSpec


def random_case(seed: int) -> Case:
    """Return case number ``seed``; its shape is drawn too."""
    random = Random(seed)
    return Case(seed, *_draw(random, random.choice(SHAPES)))


def crowded_case(seed: int) -> Case:
    """Return a case in which many nodes are stuck."""
    return Case(seed, *_draw(Random(seed), CROWDED))


def unlimited_case(seed: int) -> Case:
    """Return a case without budget, threshold and scope."""
    random = Random(seed)
    shape = replace(random.choice(SHAPES), limited=0.0, scoped=0.0)
    return Case(seed, *_draw(random, shape))


def tiny_case(seed: int) -> Case:
    """Return a case small enough for brute force: at most five nodes and about seven pods."""
    random = Random(seed)
    shape = replace(random.choice(SHAPES), nodes=(2, 5), fill=0.3)
    return Case(seed, *_draw(random, shape))


def _with_whole_gangs(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Gangs that lack members never move; they have tests of their own."""
    there = Counter((p.namespace, p.pod_group) for p in snapshot.pods if p.phase != "Failed" and not p.terminating)
    groups = {key: replace(g, min_member=min(g.min_member, there[key])) for key, g in snapshot.pod_groups.items()}
    return replace(snapshot, pod_groups=groups)


def shaped_case(seed: int, shape: Shape) -> Case:
    """Return a case of the given shape."""
    return Case(seed, *_draw(Random(seed), shape))


def _draw(random: Random, shape: Shape) -> tuple[ClusterSnapshot, RunTemplateSpec]:
    nodes = [_node(random, shape, i) for i in range(random.randint(*shape.nodes))]
    pods = [p for n in nodes for p in _pods_of(random, shape, n)]
    pods += _bystanders(random, nodes)
    groups = sorted({p.pod_group for p in pods if p.pod_group})
    minimum = {g: random.randint(0, 3) for g in groups}
    snapshot = _with_whole_gangs(cluster(nodes, pods, minimum))
    if random.random() < 0.05 and groups:
        lost = random.choice(groups)
        snapshot = replace(snapshot, pod_groups={k: g for k, g in snapshot.pod_groups.items() if k[1] != lost})
    return snapshot, _spec(random, shape, snapshot)


def _node(random: Random, shape: Shape, index: int) -> Node:
    name = f"n{index}"
    cards = random.choice(shape.capacities)
    tight = random.random() < shape.tight_cpu
    return Node(
        name=name,
        labels={"kubernetes.io/hostname": name, "pool": random.choice("ab"), "rank": str(index), "zone": random.choice("xy")},
        taints=(TAINT,) if random.random() < 0.1 else (),
        allocatable={GPU: cards * 1000, "cpu": (random.randint(3, 8) if tight else 64) * 1000, "pods": 110_000},
        unschedulable=random.random() < 0.04,
        ready=random.random() > 0.04,
    )


def _pods_of(random: Random, shape: Shape, node: Node) -> list[Pod]:
    room, found = node.allocatable[GPU] // 1000, []
    while random.random() < shape.fill:
        fitting = [s for s in shape.sizes if s <= room]
        if not fitting:
            break
        size = random.choice(fitting)
        room -= size
        found.append(_pod(random, shape, f"{node.name}-{len(found)}", node.name, size))
    return found


def _pod(random: Random, shape: Shape, name: str, on: str, size: int) -> Pod:
    group = f"gang-{random.randrange(shape.gangs)}" if random.random() < 0.5 else None
    request = {GPU: size * 1000, "cpu": random.choice((0, 1, 1, 2)) * 1000, "pods": 1000}
    request = {k: v for k, v in request.items() if v}
    made = pod(name, on, size, group, requests=request, template=request, labels={"app": random.choice("xyz")})
    made = replace(made, namespace=random.choice(("team", "team", "other")))
    if random.random() < shape.constrained:
        made = replace(made, constraints=random.choice(CONSTRAINTS))
    if random.random() < shape.related:
        made = replace(made, relations=random.choice(RELATIONS))
    if random.random() < shape.immovable:
        made = replace(made, **random.choice(IMMOVABLE))  # type: ignore[arg-type]
    if random.random() < 0.08:
        made = replace(made, phase="Pending")  # bound, but its containers do not run yet
    return made


def _bystanders(random: Random, nodes: list[Node]) -> list[Pod]:
    """Pods that never move, but hold room, ports, or other pods at a distance."""
    found = []
    on = random.choice(nodes).name
    if random.random() < 0.2:
        found.append(pod("nominated", None, 1, nominated_node=on))
    if random.random() < 0.2:
        found.append(pod("finished", on, 4, phase=random.choice(("Succeeded", "Failed"))))
    if random.random() < 0.2:
        found.append(pod("port-holder", on, 0, constraints=CONSTRAINTS[4]))
    if random.random() < 0.2:
        term = AffinityTerm(
            random.choice(("zone", "kubernetes.io/hostname")), LabelSelector.of({"app": "x"}), frozenset({"team"})
        )
        found.append(pod("hermit", on, 0, relations=Relations(anti_affinity=(term,))))
    return found


def _spec(random: Random, shape: Shape, snapshot: ClusterSnapshot) -> RunTemplateSpec:
    limits = None
    if random.random() < shape.limited:
        cards = {GPU: random.randint(0, 8)} if random.random() < 0.5 else {}
        limits = MaxPerRun(pod_groups=random.choice((None, 0, 1, 2, 3)), resources=cards)
    percent = random.choice((0, 0, 5, 20, 40)) if random.random() < shape.limited else 0
    scope = _scope(random, snapshot) if random.random() < shape.scoped else None
    return RunTemplateSpec(goals=[Goal(resource=GPU, min_frag_improvement_percent=percent)], max_per_run=limits, scope=scope)


def _scope(random: Random, snapshot: ClusterSnapshot) -> Scope:
    names = [n.name for n in snapshot.nodes]
    groups = [f"{ns}/{name}" for ns, name in snapshot.pod_groups]
    nodes = NodeScope(include=NodeSet(names=random.sample(names, len(names) // 2 + 1)), exclude=NodeSet(names=names[:1]))
    excluded = random.sample(groups, min(len(groups), 1))
    return Scope(nodes=nodes, pod_groups=PodGroupScope(exclude=PodGroupSet(names=excluded)))
