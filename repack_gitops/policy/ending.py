"""How an execution ended: the terminal reason, from the journal and what was verified (spec 4.5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from repack_gitops.model.run import EvictionPhase, PlacementPhase, Relocation
from repack_gitops.model.status import counted

REMOVED = frozenset({EvictionPhase.ACCEPTED, EvictionPhase.INDIRECTLY_REMOVED})
#: Journalled messages of victims that were rejected without the API's refusing them; see ``refused``.
NOT_ATTEMPTED = "not attempted"
LEFT = "left before its eviction; nothing to move"


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


def left_by_itself(relocation: Relocation) -> bool:
    """Tell whether the victim went without us: it finished, or somebody else removed it."""
    return relocation.eviction.phase is EvictionPhase.REJECTED and relocation.eviction.message == LEFT


def refused(relocation: Relocation) -> bool:
    """Tell whether an eviction was really asked for and refused for good; skipped nodes cost nothing and do not count."""
    if relocation.eviction.phase is not EvictionPhase.REJECTED or left_by_itself(relocation):
        return False
    return not relocation.eviction.message.startswith(NOT_ATTEMPTED)


def attempted(relocation: Relocation) -> bool:
    """Tell whether the victim's eviction was asked for, or it was removed with one whose eviction was."""
    return relocation.eviction.phase in REMOVED or refused(relocation)


def half_drained(relocations: Sequence[Relocation]) -> bool:
    """Tell whether a node with these ``relocations`` is disturbed and not free: some victims left, others would not."""
    return any(r.eviction.phase in REMOVED for r in relocations) and any(refused(r) for r in relocations)


def ending_of(
    resource: str, planned: Sequence[str], relocations: Sequence[Relocation], observed: Observed, percents: tuple[int, int]
) -> Ending:
    """Return the ending, in the guide's order: nothing evicted, timed out, unverified, set differs, alternative, done."""
    removed = [r for r in relocations if r.eviction.phase in REMOVED]
    if not removed:
        reason = "Aborted" if observed.aborted else "EvictionFailed"
        return _failed(reason, resource, f"no eviction was accepted; {_why_nothing(relocations, observed)}")
    late = [r for r in removed if r.placement.phase is not PlacementPhase.PLACED]
    if late:
        names = _names([f"{r.namespace}/{r.victim_pod_name}" for r in late])
        return _failed("PlacementTimedOut", resource, f"no replacement was bound in time for {names}{_stop(observed)}")
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
    taken = f"; replacements took empty nodes: {_names(sorted(observed.newly_occupied))}" if observed.newly_occupied else ""
    kept = f"; still occupied: {_names(missing)}" if missing else ""
    if gain <= 0:
        reason = "Aborted" if observed.aborted else "BenefitNotRealized"
        return _failed(reason, resource, f"no node was gained{_stop(observed)}{taken}{kept}")
    if missing or observed.newly_occupied:
        detail = f"{gain} of {counted(len(planned), 'planned node')} gained{_stop(observed)}{taken}{kept}"
        return _failed("PartiallyRealized", resource, detail)
    return _completed(resource, removed, observed, percents)


def _completed(resource: str, removed: Sequence[Relocation], observed: Observed, percents: tuple[int, int]) -> Ending:
    elsewhere = [r for r in removed if r.placement.actual_node_name != r.planned_node_name]
    reason = "ExecutionCompletedWithAlternativePlacement" if elsewhere else "ExecutionCompleted"
    pods, nodes = len(removed), len(observed.freed)
    message = (
        f"Repack of {resource} completed: {counted(pods, 'replacement pod')} {'runs' if pods == 1 else 'run'}"
        f"{f', {len(elsewhere)} of them on another node than planned' if elsewhere else ''}, "
        f"{counted(nodes, 'planned node')} {'is' if nodes == 1 else 'are'} verified free [{_names(observed.freed)}]; "
        f"fragmentation went from {percents[0]}% to {percents[1]}%."
    )
    return Ending("Complete", reason, message)


def _why_nothing(relocations: Sequence[Relocation], observed: Observed) -> str:
    first = next((r for r in relocations if refused(r)), None) or next((r for r in relocations if r.eviction.message), None)
    why = f"{first.namespace}/{first.victim_pod_name}: {first.eviction.message}" if first else ""
    return "; ".join(part for part in (observed.aborted, why) if part) or "nothing was left to evict"


def _stop(observed: Observed) -> str:
    return f" ({observed.aborted})" if observed.aborted else ""


def _failed(reason: str, resource: str, detail: str) -> Ending:
    return Ending("Failed", reason, f"Repack of {resource} failed: {detail.rstrip('.')}.")


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "") if names else "none"
