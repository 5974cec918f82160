"""The journal's entries: made from a plan, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import (
    EvictionPhase,
    EvictionStatus,
    PlacementPhase,
    PlacementStatus,
    Relocation,
    RunStatus,
)
from repack_gitops.model.status import counted
from repack_gitops.policy.ending import REMOVED, half_drained, refused
from repack_gitops.workflow.execution.journal import Journal
from repack_gitops.workflow.execution.settings import Settings

PENDING = EvictionPhase.PENDING


def relocations_of(evaluation: Evaluation) -> list[Relocation]:
    """Return one entry per planned move, in execution order, all Pending."""
    return [
        Relocation(
            namespace=m.namespace,
            pod_group_name=m.pod_group,
            victim_pod_name=m.pod,
            victim_pod_uid=m.uid,
            source_node_name=m.from_node,
            planned_node_name=m.to_node,
            cards=m.cards,
            eviction=EvictionStatus(phase=PENDING),
            placement=PlacementStatus(phase=PlacementPhase.WAITING_FOR_REPLACEMENT),
        )
        for m in evaluation.moves
    ]


def by_node(relocations: list[Relocation]) -> Mapping[str, list[int]]:
    """Return the indices of the relocations of every node to be freed, in execution order."""
    found: dict[str, list[int]] = {}
    for index, relocation in enumerate(relocations):
        found.setdefault(relocation.source_node_name, []).append(index)
    return found


def owners_of(status: RunStatus) -> Mapping[Key, Owner]:
    """Return the controller of each PodGroup that the plan moves."""
    moves = status.plan.moves if status.plan else []
    return {
        (m.namespace, m.pod_group_name): Owner(m.owner.api_version, m.owner.kind, m.owner.name)
        for m in moves
        if m.owner is not None
    }


def known_pods(journal: Journal, snapshot: ClusterSnapshot) -> frozenset[str]:
    """Return the UIDs of pods that replace nobody: all that are there before the first eviction.

    After a crash replacements are there already; then only pods older than the run are known.
    """
    started = any(r.eviction.phase is not PENDING for r in journal.relocations)
    created = journal.run.metadata.creation_timestamp
    return frozenset(p.uid for p in snapshot.pods if not started or p.created < created)


def evicted(journal: Journal) -> bool:
    """Tell whether any victim left: then the cluster gets its cooldown."""
    return any(r.eviction.phase in REMOVED for r in journal.relocations)


def why_too_much(journal: Journal, settings: Settings) -> str:
    """Return why no further node may start (abortOn), or an empty string; a restart reads the same from the journal."""
    begun = {n: found for n, found in _entries(journal).items() if any(r.eviction.phase is not PENDING for r in found)}
    halves = sum(map(half_drained, begun.values()))
    refusals = sum(refused(r) for r in journal.relocations)
    if halves < settings.half_drained_nodes and refusals < settings.rejections:
        return ""
    last = list(begun)[-1]
    return f"stopped at node {last}: {counted(halves, 'node')} half drained, {counted(refusals, 'eviction')} refused"


def _entries(journal: Journal) -> dict[str, list[Relocation]]:
    return {node: [journal.relocations[i] for i in found] for node, found in by_node(journal.relocations).items()}


def newly_occupied(status: RunStatus, occupied_before: set[str]) -> frozenset[str]:
    """Return nodes that were empty of the resource and now hold a replacement: what they took is no gain.

    Planned receivers were occupied when the plan was made, whatever became of their own pods since.
    """
    actual = {r.placement.actual_node_name for r in status.relocations if r.placement.actual_node_name}
    planned = {r.planned_node_name for r in status.relocations}
    return frozenset(actual - occupied_before - planned - set(status.plan.freed_nodes if status.plan else ()))
