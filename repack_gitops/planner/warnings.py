"""What a reviewer should know that neither forbids a move nor shows in the numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import PodMove
from repack_gitops.planner.problem import Problem


def before_planning(problem: Problem) -> Iterator[str]:
    """Yield what the snapshot and the scope alone say."""
    snapshot, resource = problem.snapshot, problem.resource
    owners = {(v.pod.owner.group, v.pod.owner.kind) for vs in problem.victims for v in vs if v.pod.owner is not None}
    if ("batch.volcano.sh", "Job") in owners and not snapshot.volcano_jobs:
        yield "the snapshot holds no jobs.batch.volcano.sh, so lifecycle policies of VCJobs were not checked"
    stray = sorted(n.name for n in snapshot.nodes if not n.allocatable.get(resource, 0) and snapshot.used(n.name, resource))
    if stray:
        yield f"pods use {resource} on nodes that no longer provide it: {', '.join(stray[:5])}"
    cordoned = sum(1 for i, n in enumerate(problem.nodes) if n.unschedulable and problem.victims[i])
    if cordoned:
        yield f"{cordoned} candidate node(s) are cordoned; freeing them gives no room until they are uncordoned"
    if snapshot.pod_groups and not any(problem.scope.pod_group(g) for g in snapshot.pod_groups.values()):
        yield "scope.podGroups matches no PodGroup at all; its selector reads the labels of PodGroups, not of pods"


def after_planning(snapshot: ClusterSnapshot, moves: Collection[PodMove]) -> Iterator[str]:
    """Yield what is worth knowing about the plan found."""
    yield from disruption_budgets(snapshot, moves)
    yield from rollouts(snapshot, moves)


def rollouts(snapshot: ClusterSnapshot, moves: Collection[PodMove]) -> Iterator[str]:
    """Yield Deployments with moved pods that run pods of several ReplicaSets, and so are in the middle of a rollout.

    Each ReplicaSet has a PodGroup of its own, which may never reach its minimum while the rollout is stuck.
    """
    moved = {(m.namespace, m.pod) for m in moves}
    sets: dict[tuple[str, str], set[str]] = {}
    concerned: set[tuple[str, str]] = set()
    for pod in snapshot.pods:
        suffix = f"-{pod.labels.get('pod-template-hash', '')}"
        if pod.owner is None or pod.owner.kind != "ReplicaSet" or not pod.active or len(suffix) == 1:
            continue
        deployment = (pod.namespace, pod.owner.name.removesuffix(suffix))
        sets.setdefault(deployment, set()).add(pod.owner.name)
        concerned |= {deployment} if pod.key in moved else set()
    for namespace, name in sorted(d for d in concerned if len(sets[d]) > 1):
        yield (
            f"Deployment {namespace}/{name} is in the middle of a rollout: {len(sets[namespace, name])} ReplicaSets have pods; "
            "moved pods may come back in another PodGroup, or wait for one that never reaches its minimum"
        )


def disruption_budgets(snapshot: ClusterSnapshot, moves: Iterable[PodMove]) -> Iterator[str]:
    """Yield the PodDisruptionBudgets that allow fewer disruptions now than the plan needs of their pods.

    The executor asks them again, node by node: a node whose pods cannot all go is skipped at no cost.
    """
    if not snapshot.budgets:
        return
    moved = {(m.namespace, m.pod) for m in moves}
    pods = [p for p in snapshot.pods if p.key in moved]
    for budget in snapshot.budgets:
        needed = sum(1 for p in pods if budget.selects(p))
        if needed > max(budget.disruptions_allowed, 0):
            yield (
                f"PodDisruptionBudget {budget.namespace}/{budget.name} allows {max(budget.disruptions_allowed, 0)} "
                f"disruptions now, the plan moves {needed} of its pods; nodes it forbids will be skipped"
            )
