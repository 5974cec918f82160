"""What surrounds a plan in tests: a proposal's facts, and a run that was executed."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from repack_gitops.model.plan import PodMove
from repack_gitops.model.run import (
    EvictionPhase,
    EvictionStatus,
    Goal,
    MaxPerRun,
    PlacementPhase,
    PlacementStatus,
    Relocation,
    RepackRun,
    ResultStatus,
    RunMetadata,
    RunSpec,
    new_run,
)
from repack_gitops.model.status import advance, complete, failed, plan_status, progressing
from repack_gitops.report.facts import ProposalFacts
from tests.unit.report.build import NPU, Case

_BUDGET = MaxPerRun(pod_groups=20, resources={NPU: 64})


def facts(case: Case, **changes: Any) -> ProposalFacts:
    """Return the facts of a proposal for ``case``."""
    given: dict[str, Any] = {
        "cluster": "prod-a",
        "policy": "nightly-ascend",
        "run": "nightly-ascend-20260730-0200",
        "policy_path": "policies/nightly-ascend.yaml",
        "run_path": "runs/nightly-ascend/nightly-ascend-20260730-0200",
        "plan_digest": "sha256:4b0c6f1de2a95c7e8f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f70",
        "policy_digest": "sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "base_branch": "main",
        "base_commit": "3f2c1b0a9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a",
        "snapshot_time": "2026-07-30T02:00:04Z",
        "spec": RunSpec(
            mode="Execute",
            goals=[Goal(resource=NPU, min_frag_improvement_percent=10)],
            max_per_run=_BUDGET if case.evaluation.disruption.pod_groups <= 20 else None,
        ),
        "evaluation": case.evaluation,
        "envelope": "Subset",
        "max_plan_age": "24h",
        "min_approvals": 1,
        "rejected_for": "7d",
        "hold_label": "repack/hold",
        "reproduce": "repack plan --policy policies/nightly-ascend.yaml",
        "tool_version": "0.1.0",
        "change_ticket": "CHG0031234",
        "files_url": "https://git.example.com/platform/repack/src/branch/repack/nightly-ascend/runs/nightly-ascend/20260730-0200",
        "picture_url": "https://git.example.com/platform/repack/raw/branch/repack/nightly-ascend/layout.svg",
        "frontier_url": "https://git.example.com/platform/repack/raw/branch/repack/nightly-ascend/frontier.svg",
    }
    return ProposalFacts(**{**given, **changes})


def finished_run(case: Case, *, rejected: int = 0, late: int = 0, elsewhere: int = 0, message: str = "") -> RepackRun:
    """Return the run of ``case`` after its execution.

    Parameters
    ----------
    rejected, late, elsewhere
        How many pods, from the last move backwards, were not evicted, got no node in time, or got another one.
    message
        What else the conditions and evictions say.
    """
    moves = case.evaluation.moves
    bad = len(moves) - rejected
    relocations = [_relocation(m, i, bad, bad - late, bad - late - elsewhere) for i, m in enumerate(moves)]
    kept = {r.source_node_name for r in relocations if r.placement.phase is not PlacementPhase.PLACED}
    freed = [n for n in case.evaluation.freed_nodes if n not in kept]
    now, message = "2026-07-30T02:21:40Z", f"Freed {len(freed)} of {len(case.evaluation.steps)} planned nodes.{message}"
    conditions = (
        failed("PartiallyRealized", message, now)
        if kept
        else complete("ExecutionCompletedWithAlternativePlacement" if elsewhere else "ExecutionCompleted", message, now)
    )
    status = advance(
        advance(None, progressing("Planning", "", "2026-07-30T02:15:00Z"), "2026-07-30T02:15:00Z"), conditions, now
    )
    told = [structs.replace(r, eviction=structs.replace(r.eviction, message=r.eviction.message + message)) for r in relocations]
    result = ResultStatus(
        frag_after_percent=case.evaluation.after.percent,
        freed_node_count=len(freed),
        moved_card_count=sum(r.cards for r in relocations if r.eviction.phase is EvictionPhase.ACCEPTED),
        metrics_verified=True,
        freed_nodes=freed,
    )
    status = structs.replace(status, plan=plan_status(case.evaluation), relocations=told, result=result)
    return new_run(RunMetadata(name="nightly-ascend-20260730-0200"), facts(case).spec, status)


def _relocation(m: PodMove, index: int, rejected: int, late: int, elsewhere: int) -> Relocation:
    refused, timed_out = index >= rejected, rejected > index >= late
    placed = not refused and not timed_out
    phases = (
        (EvictionPhase.REJECTED if refused else EvictionPhase.ACCEPTED),
        (
            PlacementPhase.PLACED
            if placed
            else PlacementPhase.TIMED_OUT
            if timed_out
            else PlacementPhase.WAITING_FOR_REPLACEMENT
        ),
    )
    actual = "ascend-node-99" if late > index >= elsewhere else m.to_node
    return Relocation(
        namespace=m.namespace,
        pod_group_name=m.pod_group,
        victim_pod_name=m.pod,
        victim_pod_uid=m.uid,
        source_node_name=m.from_node,
        planned_node_name=m.to_node,
        cards=m.cards,
        eviction=EvictionStatus(
            phase=phases[0], message="Cannot evict pod as it would violate the pod's disruption budget." if refused else ""
        ),
        placement=PlacementStatus(
            phase=phases[1],
            selected_node_name="" if refused else m.to_node,
            replacement_pod_name="" if refused else m.pod,
            actual_node_name=actual if placed else "",
            expiration_time="2026-07-30T02:30:00Z",
        ),
    )
