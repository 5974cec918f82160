"""What a reviewer should know that neither forbids a move nor shows in the numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import PodMove
from repack_gitops.planner.problem import Problem

STOPPED = "the search was stopped before its end: this is the best plan found so far, and another run may find a better one"


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


def waiting_pods(snapshot: ClusterSnapshot, resource: str) -> Iterator[str]:
    """Yield a word on pods that wait for ``resource``: the room of an evicted pod is open to them, too.

    A gang that lost a member this way stays below its minimum until something else ends.
    """
    found = [
        p
        for p in snapshot.pods
        if not p.node
        and p.active
        and not (p.terminating or p.gated or p.nominated_node in snapshot.node_by_name)
        and p.requests.get(resource, 0)
    ]
    if found:
        names = ", ".join("/".join(p.key) for p in found[:3]) + (", ..." if len(found) > 3 else "")
        yield f"{len(found)} pending pod(s) ask for {resource} and may take the room meant for replacements: {names}"
