"""Clusters and plans for report tests, made without the planner so that its progress never changes a golden file."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repack_gitops.model.change import Action, Change
from repack_gitops.model.cluster import ClusterSnapshot, Constraints, Node, Owner, Pod, PodGroup
from repack_gitops.model.impact import Disruption, GroupImpact
from repack_gitops.model.plan import Code, Evaluation, Fragmentation, PodMove, Reason, Refusal, Stay, Step, Verdict

NPU = "huawei.com/ascend-1980"
CAPACITY = 8
_NAMESPACES = ("team-a", "serving", "team-b")
KINDS = (
    Owner("batch.volcano.sh/v1alpha1", "Job", "llm-pretrain"),
    Owner("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat"),
    Owner("apps/v1", "ReplicaSet", "embeddings-6d9f7"),
    Owner("batch.volcano.sh/v1alpha1", "Job", "batch-eval"),
)
JOB = KINDS[0]
_STAYS = (
    Stay(
        Reason(
            Code.NO_RECEIVER,
            "no room for a pod of 4 cards on the 11 other occupied nodes (9 lack huawei.com/ascend-1980, 2 NodeUnschedulable)",
        ),
        11,
        (Refusal(Code.NODE_RESOURCES, "huawei.com/ascend-1980", 9), Refusal(Code.NODE_UNSCHEDULABLE, "", 2)),
        (Change(Action.FREE_RESOURCE, "ascend-node-01", "huawei.com/ascend-1980", 2_000, 4_000),),
    ),
    Stay(
        Reason(Code.POD_GROUP_OUT_OF_SCOPE, "PodGroup serving/search is out of scope"),
        nearest=(Change(Action.WIDEN_SCOPE, "PodGroup serving/search", "scope.podGroups"),),
    ),
    Stay(
        Reason(Code.NO_CONTROLLER, "pod dev/notebook has no controller; evicted, it would be lost"),
        nearest=(Change(Action.USE_CONTROLLER, "pod dev/notebook"),),
    ),
    Stay(
        Reason(Code.BUDGET_EXCEEDED, "emptying it would exceed maxPerRun (20 PodGroups, 64 cards)"),
        nearest=(Change(Action.RAISE_BUDGET, "", "maxPerRun.podGroups", 20, 21),),
    ),
)


@dataclass(frozen=True)
class Case:
    """A snapshot and the answer about it."""

    snapshot: ClusterSnapshot
    evaluation: Evaluation


def node(name: str, cards: int = CAPACITY) -> Node:
    """Return a node with ``cards`` devices."""
    return Node(name, {}, (), {NPU: cards * 1000} if cards else {})


def pod(name: str, on: str, cards: int, owner: Owner, number: int, *, namespace: str = "team-a") -> Pod:
    """Return a running pod of workload ``number`` of ``owner``."""
    request = {NPU: cards * 1000}
    group = f"{owner.name}-{number}-8b14c249"
    made = replace(owner, name=f"{owner.name}-{number}")
    return Pod(namespace, name, f"uid-{name}", {}, on, "Running", "volcano", group, made, request, request, Constraints())


def snapshot(nodes: Sequence[Node], pods: Sequence[Pod]) -> ClusterSnapshot:
    """Return the snapshot of both."""
    groups = {
        (p.namespace, p.pod_group): PodGroup(p.namespace, p.pod_group, p.pod_group, {}, 1, p.owner) for p in pods if p.pod_group
    }
    ordered = tuple(sorted(nodes, key=lambda n: n.name)), tuple(sorted(pods, key=lambda p: p.key))
    return ClusterSnapshot(*ordered, pod_groups=groups)


def plan(view: ClusterSnapshot, most: int | None = None, slack: int = 2, stays: Mapping[str, Stay] | None = None) -> Case:
    """Return ``view`` with a simple plan: empty the least used nodes while their pods fit the fullest others."""
    used = {n.name: view.used(n.name, NPU) // 1000 for n in view.nodes}
    size = {n.name: n.allocatable.get(NPU, 0) // 1000 for n in view.nodes}
    steps: list[Step] = []
    receiving: set[str] = set()
    for name in sorted((n for n in used if used[n]), key=lambda n: (used[n], n)):
        if name in receiving or len(steps) == most:
            continue
        moves = _moves(view, name, used, size)
        if moves is None:
            continue
        used[name] = 0
        receiving |= {m.to_node for m in moves}
        steps.append(Step(name, moves))
    return Case(view, _evaluation(view, tuple(steps), receiving, slack, stays))


def _moves(view: ClusterSnapshot, name: str, used: dict[str, int], size: Mapping[str, int]) -> tuple[PodMove, ...] | None:
    room, moves = dict(used), []
    for p in sorted(view.pods_by_node[name], key=lambda p: (-p.requests[NPU], p.key)):
        need = p.requests[NPU] // 1000
        open_nodes = [n for n in room if n != name and room[n] and room[n] + need <= size[n]]
        if not open_nodes or p.owner is None or p.pod_group is None:
            return None
        target = min(open_nodes, key=lambda n: (size[n] - room[n] - need, n))
        room[target] += need
        moves.append(PodMove(p.namespace, p.name, p.uid, p.pod_group, p.owner, name, target, need))
    used.update(room)
    return tuple(moves)


def _evaluation(
    view: ClusterSnapshot, steps: tuple[Step, ...], receiving: set[str], slack: int, stays: Mapping[str, Stay] | None
) -> Evaluation:
    occupied = [n.name for n in view.nodes if view.used(n.name, NPU)]
    providing = sum(1 for n in view.nodes if n.allocatable.get(NPU))
    need = sum(view.used(n, NPU) for n in occupied) // 1000
    before = Fragmentation(providing, len(occupied), -(-need // CAPACITY), exact=True)
    after = replace(before, occupied=before.occupied - len(steps))
    impacts = _impacts(view, steps, slack)
    freed = {s.node for s in steps}
    why = {n: _stay(i, n, receiving) for i, n in enumerate(occupied) if n not in freed} | dict(stays or {})
    return Evaluation(
        NPU,
        "Drain",
        Verdict.RECOMMENDED if steps else Verdict.NO_FRAGMENTATION,
        before,
        after,
        steps,
        disruption(impacts),
        impacts,
        dict(sorted(why.items())),
        scope_pod_groups=len(view.pod_groups),
        scope_nodes=providing,
        improvement=(before.rate - after.rate) * 100,
    )


def _stay(index: int, name: str, receiving: set[str]) -> Stay:
    return Stay(Reason(Code.RECEIVES, "it takes pods of this plan")) if name in receiving else _STAYS[index % len(_STAYS)]


def _impacts(view: ClusterSnapshot, steps: Sequence[Step], slack: int) -> tuple[GroupImpact, ...]:
    found: dict[tuple[str, str], list[PodMove]] = {}
    for step in steps:
        for m in step.moves:
            found.setdefault(m.group_key, []).append(m)
    made = []
    for key, moves in sorted(found.items()):
        members = view.pods_by_group[key]
        cards = sum(p.requests[NPU] for p in members) // 1000
        least = max(len(members) - slack, 1)
        made.append(GroupImpact(key, moves[0].owner, len(members), least, len(moves), sum(m.cards for m in moves), cards))
    return tuple(made)


def disruption(impacts: Sequence[GroupImpact]) -> Disruption:
    """Return the five dimensions of ``impacts``."""
    return Disruption(
        len(impacts),
        sum(i.breached for i in impacts),
        sum(i.footprint_cards if i.breached else i.moved_cards for i in impacts),
        sum(i.moved_cards for i in impacts),
        sum(i.moved_pods for i in impacts),
    )


def random_cluster(count: int, seed: int = 7) -> ClusterSnapshot:
    """Return ``count`` nodes: full, partly used and idle ones, workloads spread over several of them."""
    draw = random.Random(seed)
    nodes = [node(f"ascend-node-{i:0{len(str(count))}}") for i in range(1, count + 1)]
    pods: list[Pod] = []
    for place in nodes:
        left = CAPACITY if draw.random() < 0.25 else draw.choice((0, 1, 2, 3, 4, 4, 5, 6, 6, 7))
        while left:
            cards = draw.choice([c for c in (1, 2, 4, 8) if c <= left])
            number = draw.randrange(1, max(count // 3, 2))
            owner = KINDS[number % len(KINDS)]
            name = f"{owner.name}-{number}-{len(pods)}"
            pods.append(pod(name, place.name, cards, owner, number, namespace=_NAMESPACES[number % 3]))
            left -= cards
    return snapshot(nodes, pods)
