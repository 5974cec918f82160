"""A RepackRun as large as a large cluster makes it."""

from __future__ import annotations

from repack_gitops.model.restart_status import OwnerRef
from repack_gitops.model.run import (
    Goal,
    Move,
    MovedPod,
    PlanStatus,
    PlanSummary,
    RepackRun,
    ResolvedScope,
    RunMetadata,
    RunSpec,
    RunStatus,
    new_run,
)


def large_run(*, nodes: int, pods_per_node: int) -> RepackRun:
    """Return a DryRun that empties ``nodes`` nodes, one PodGroup each, with names as long as clouds make them."""
    moves = [_move(index, pods_per_node) for index in range(nodes)]
    summary = PlanSummary(
        frag_before_percent=40,
        frag_after_percent=0,
        freed_node_count=nodes,
        moved_card_count=nodes * pods_per_node,
        resolved_scope=ResolvedScope(pod_group_count=nodes, node_count=2 * nodes),
    )
    plan = PlanStatus(summary=summary, moves=moves, freed_nodes=[_node(index) for index in range(nodes)])
    spec = RunSpec(mode="DryRun", goals=[Goal(resource="nvidia.com/gpu")])
    return new_run(RunMetadata(name="large"), spec, RunStatus(phase="Succeeded", plan=plan))


def _move(index: int, pods: int) -> Move:
    job = f"llm-pretraining-experiment-{index:05d}"
    moved = [MovedPod(name=f"{job}-worker-{k}", from_node=_node(index), to_node=_node(index + 9), cards=1) for k in range(pods)]
    owner = OwnerRef(api_version="batch.volcano.sh/v1alpha1", kind="Job", name=job)
    group = f"{job}-2f6c840d-8b14-4e45-a4cf-b43c249acbfd"
    return Move(namespace="team-a-training", pod_group_name=group, owner=owner, cards=pods, pods=moved)


def _node(index: int) -> str:
    return f"ip-10-{index // 250}-{index % 250}-17.eu-west-1.compute.internal"
