"""Small clusters for planner tests, written as cards per node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from repack_gitops.model.cluster import ClusterSnapshot, Constraints, Node, Owner, Pod, PodGroup
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import Goal, MaxPerRun, NodeScope, NodeSet, PodGroupScope, PodGroupSet, RunTemplateSpec, Scope
from repack_gitops.planner import PlannerOptions, evaluate
from repack_gitops.planner.verify import verify

GPU = "nvidia.com/gpu"
#: The guide's algorithm, whose every move can be worked out by hand; Optimal has tests of its own.
DRAIN = PlannerOptions(strategy="Drain")
CPU_AND_PODS = {"cpu": 64_000, "memory": 512 * 2**30 * 1000, "pods": 110_000}


def node(name: str, cards: int = 8, **changes: Any) -> Node:
    """Return a Ready node with ``cards`` devices and plenty of everything else."""
    made = Node(name, {"kubernetes.io/hostname": name}, (), {GPU: cards * 1000, **CPU_AND_PODS})
    return replace(made, **changes)


def pod(name: str, on: str | None, cards: int, group: str | None = None, **changes: Any) -> Pod:
    """Return a running pod of a VCJob, in a PodGroup of its own unless ``group`` says otherwise."""
    request = {GPU: cards * 1000, "cpu": 1000, "pods": 1000} if cards else {"cpu": 1000, "pods": 1000}
    made = Pod(
        namespace="team",
        name=name,
        uid=f"uid-{name}",
        labels={},
        node=on,
        phase="Running" if on else "Pending",
        scheduler_name="volcano",
        pod_group=group or f"pg-{name}",
        owner=Owner("batch.volcano.sh/v1alpha1", "Job", group or name, f"uid-job-{group or name}"),
        requests=request,
        template=request,
        constraints=Constraints(),
    )
    return replace(made, **changes)


def cluster(
    nodes: Sequence[Node], pods: Sequence[Pod], min_members: Mapping[str, int] | None = None, **more: Any
) -> ClusterSnapshot:
    """Return the snapshot of ``nodes`` and ``pods`` with every PodGroup the pods name (minMember 1 unless said)."""
    minimum = min_members or {}
    groups = {
        (p.namespace, p.pod_group): PodGroup(
            p.namespace, p.pod_group, f"uid-{p.pod_group}", {"group": p.pod_group}, minimum.get(p.pod_group, 1), p.owner
        )
        for p in pods
        if p.pod_group is not None
    }
    return ClusterSnapshot(
        nodes=tuple(sorted(nodes, key=lambda n: n.name)),
        pods=tuple(sorted(pods, key=lambda p: p.key)),
        pod_groups=groups,
        **more,
    )


def layout(cards: Sequence[int], capacity: int = 8) -> ClusterSnapshot:
    """Return a cluster with one pod of ``cards[i]`` devices on node i (none for 0), each its own PodGroup."""
    nodes = [node(f"n{i}", capacity) for i in range(len(cards))]
    return cluster(nodes, [pod(f"p{i}", f"n{i}", c) for i, c in enumerate(cards) if c])


def spec(
    percent: int = 0,
    *,
    pod_groups: int | None = None,
    cards: int | None = None,
    scope: Scope | None = None,
    resource: str = GPU,
) -> RunTemplateSpec:
    """Return a run's spec with the given threshold and budget."""
    limits = None
    if pod_groups is not None or cards is not None:
        limits = MaxPerRun(pod_groups=pod_groups, resources={} if cards is None else {resource: cards})
    goal = Goal(resource=resource, min_frag_improvement_percent=percent)
    return RunTemplateSpec(goals=[goal], max_per_run=limits, scope=scope)


def only_nodes(*names: str) -> Scope:
    """Return a scope in which only the nodes called ``names`` may be emptied."""
    return Scope(nodes=NodeScope(include=NodeSet(names=list(names))))


def without_groups(*names: str) -> Scope:
    """Return a scope in which the PodGroups called ``team/<name>`` may not move."""
    return Scope(pod_groups=PodGroupScope(exclude=PodGroupSet(names=[f"team/{n}" for n in names])))


def plan(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None, options: PlannerOptions | None = None) -> Evaluation:
    """Return the evaluation of ``run`` (no threshold, no budget, Drain unless given) after the judge accepted it."""
    run, options = run or spec(), options or DRAIN
    evaluation = evaluate(snapshot, run, options)
    assert verify(snapshot, run, evaluation, options) == ()
    return evaluation


def freed(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None) -> tuple[str, ...]:
    """Return the nodes that a plan frees, in its order."""
    return plan(snapshot, run).freed_nodes


def targets(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None) -> dict[str, str]:
    """Return where a plan sends its pods, by the pod's name."""
    return {m.pod: m.to_node for m in plan(snapshot, run).moves}
