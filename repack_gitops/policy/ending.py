"""How an execution ended: the terminal reason, from the journal and what was verified (spec 4.5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from repack_gitops.model.run import EvictionPhase, PlacementPhase, Relocation

REMOVED = frozenset({EvictionPhase.ACCEPTED, EvictionPhase.INDIRECTLY_REMOVED})


@dataclass(frozen=True, slots=True)
class Ending:
    """The terminal condition: Complete or Failed, its reason, its message."""

    type: Literal["Complete", "Failed"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen after the last replacement.

    Attributes
    ----------
    freed
        Planned nodes verified free of the resource, in plan order.
    verified
        Whether two lists apart agreed.
    newly_occupied
        Nodes that were empty of the resource before the run and now hold one of its replacements.
    aborted
        Why no further node was started, or empty.
    """

    freed: Sequence[str]
    verified: bool
    newly_occupied: Collection[str]
    aborted: str = ""


def ending_of(
    resource: str, planned: Sequence[str], relocations: Sequence[Relocation], observed: Observed, percents: tuple[int, int]
) -> Ending:
    """Return the ending, in the guide's order: nothing evicted, timed out, unverified, set differs, alternative, done."""
    removed = [r for r in relocations if r.eviction.phase in REMOVED]
    if not removed:
        return Ending("Failed", _nothing_reason(observed), _nothing_message(resource, relocations, observed))
    late = [r for r in removed if r.placement.phase is not PlacementPhase.PLACED]
    if late:
        names = _names([f"{r.namespace}/{r.victim_pod_name}" for r in late])
        return _failed("PlacementTimedOut", resource, f"no replacement was bound in time for {names}")
    if not observed.verified:
        return _failed(
            "ResultVerificationFailed", resource, "two lists of the cluster did not agree; the result is not verified"
        )
    return _by_benefit(resource, planned, removed, observed, percents)


def _by_benefit(
    resource: str, planned: Sequence[str], removed: Sequence[Relocation], observed: Observed, percents: tuple[int, int]
) -> Ending:
    gain = len(observed.freed) - len(observed.newly_occupied)
    missing = [n for n in planned if n not in observed.freed]
    if gain <= 0:
        taken = f"; replacements took empty nodes {_names(sorted(observed.newly_occupied))}" if observed.newly_occupied else ""
        kept = f"; still occupied: {_names(missing)}" if missing else ""
        return _failed("BenefitNotRealized", resource, f"no node was gained{taken}{kept}")
    if missing or observed.newly_occupied:
        why = f" ({observed.aborted})" if observed.aborted else ""
        return _failed(
            "PartiallyRealized",
            resource,
            f"{gain} of {len(planned)} planned nodes were gained{why}; missing: {_names(missing)}",
        )
    elsewhere = [r for r in removed if r.placement.actual_node_name != r.planned_node_name]
    reason = "ExecutionCompletedWithAlternativePlacement" if elsewhere else "ExecutionCompleted"
    where = f", {len(elsewhere)} of them on another node than planned" if elsewhere else ""
    message = (
        f"Repack of {resource} completed: {len(removed)} replacement pods run{where}, {len(observed.freed)} planned nodes are "
        f"verified free [{_names(observed.freed)}]; fragmentation went from {percents[0]}% to {percents[1]}%."
    )
    return Ending("Complete", reason, message)


def _nothing_reason(observed: Observed) -> str:
    return "Aborted" if observed.aborted.startswith("stopped") else "EvictionFailed"


def _nothing_message(resource: str, relocations: Sequence[Relocation], observed: Observed) -> str:
    first = next((r for r in relocations if r.eviction.message), None)
    why = f"{first.namespace}/{first.victim_pod_name}: {first.eviction.message}" if first else observed.aborted
    return f"Repack of {resource} failed: no eviction was accepted; {why or 'nothing was left to evict'}"


def _failed(reason: str, resource: str, detail: str) -> Ending:
    return Ending("Failed", reason, f"Repack of {resource} failed: {detail}.")


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "") if names else "none"
