"""What a reviewer should know that neither forbids a move nor shows in the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from repack_gitops.model.cluster import ClusterSnapshot
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
