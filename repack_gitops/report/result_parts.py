"""The parts of a result, each Markdown or empty: planned against actual, by number, node and pod."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from repack_gitops.model.run import EvictionPhase, PlacementPhase, PlanStatus, Relocation, ResultStatus, RunStatus
from repack_gitops.model.status import counted
from repack_gitops.report.markup import alert, bullets, code, details, prose, table

#: Rows shown where space is short.
FEW = 20
_LEFT = frozenset({EvictionPhase.ACCEPTED, EvictionPhase.INDIRECTLY_REMOVED})
_EVICTION = {
    EvictionPhase.PENDING: "not tried",
    EvictionPhase.IN_PROGRESS: "asked, unanswered",
    EvictionPhase.ACCEPTED: "accepted",
    EvictionPhase.INDIRECTLY_REMOVED: "gone without us",
    EvictionPhase.REJECTED: "**rejected**",
}
_PLACEMENT = {
    PlacementPhase.WAITING_FOR_REPLACEMENT: "no replacement yet",
    PlacementPhase.WAITING_FOR_NODE_SELECTION: "waits for a node",
    PlacementPhase.NOMINATED: "nominated",
    PlacementPhase.PLACED: "placed",
    PlacementPhase.TIMED_OUT: "**timed out**",
}


def verdict(status: RunStatus) -> str:
    """Return how the run ended, in the words of its deciding condition."""
    if not status.conditions:
        return "The run has no status yet."
    deciding = next((c for c in status.conditions if c.status == "True"), status.conditions[-1])
    text = f"**{prose(deciding.reason)}** {prose(deciding.message)}"
    return alert("CAUTION", text) if status.phase == "Failed" else text


def numbers(status: RunStatus) -> str:
    """Return the plan's numbers beside what was reached; empty without a plan."""
    if status.plan is None:
        return ""
    summary, result, moved = status.plan.summary, status.result, status.relocations
    planned = sum(len(m.pods) for m in status.plan.moves)
    rows = [
        ("Nodes freed", f"{summary.freed_node_count:,}", f"**{result.freed_node_count:,}**" if result else "–"),
        (
            "Fragmentation",
            f"{summary.frag_before_percent}% → {summary.frag_after_percent}%",
            f"{summary.frag_before_percent}% → **{result.frag_after_percent}%**" if result else "–",
        ),
        ("Cards moved", f"{summary.moved_card_count:,}", f"{result.moved_card_count:,}" if result else "–"),
        ("Pods evicted", f"{planned:,}", f"{sum(_left(r) for r in moved):,}"),
        ("Replacements placed", f"{planned:,}", _placed(moved)),
        ("Verified on the live cluster", "", ("yes" if result.metrics_verified else "**no**") if result else "–"),
    ]
    return table(["", "Planned:", "Actual:"], rows)


def _placed(moved: Sequence[Relocation]) -> str:
    placed = [r for r in moved if r.placement.phase is PlacementPhase.PLACED]
    elsewhere = sum(_elsewhere(r) for r in placed)
    return f"{len(placed):,}" + (f", {elsewhere:,} of them elsewhere" if elsewhere else "")


def _left(relocation: Relocation) -> bool:
    return relocation.eviction.phase in _LEFT


def _elsewhere(relocation: Relocation) -> bool:
    actual = relocation.placement.actual_node_name
    return bool(actual) and actual != relocation.planned_node_name


def nodes(status: RunStatus, most: int | None = None) -> str:
    """Return what became of each node that was to be freed; at most ``most`` of them."""
    if status.plan is None or not status.plan.freed_nodes:
        return ""
    by_node = _by_node(status.plan, status.relocations)
    planned = status.plan.freed_nodes
    rows = [
        (code(name), *_node_counts(by_node.get(name, ())), _outcome(status.result, name, by_node.get(name, ())))
        for name in planned[:most]
    ]
    body = table(["Node", "Pods:", "Evicted:", "Placed:", "Outcome"], rows)
    rest = len(planned) - len(rows)
    return f"{body}\n\nAnd {counted(rest, 'node')} more in result.md." if rest else body


def _by_node(plan: PlanStatus, moved: Sequence[Relocation]) -> dict[str, list[Relocation]]:
    """Relocations by the node they left; Volcano's own journal does not name it, but the plan does."""
    source = {(m.namespace, p.name): p.from_node for m in plan.moves for p in m.pods}
    found: dict[str, list[Relocation]] = {}
    for r in moved:
        node = r.source_node_name or source.get((r.namespace, r.victim_pod_name), "")
        found.setdefault(node, []).append(r)
    return found


def _node_counts(moved: Sequence[Relocation]) -> tuple[str, str, str]:
    placed = sum(r.placement.phase is PlacementPhase.PLACED for r in moved)
    return f"{len(moved):,}", f"{sum(_left(r) for r in moved):,}", f"{placed:,}"


def _outcome(result: ResultStatus | None, node: str, moved: Sequence[Relocation]) -> str:
    if result and node in result.freed_nodes:
        return "freed" if result.metrics_verified else "freed, not verified"
    if all(r.eviction.phase is EvictionPhase.PENDING for r in moved):
        return "not started"
    if any(r.eviction.phase is EvictionPhase.REJECTED for r in moved):
        return "**kept**, an eviction was rejected"
    return "**not free**" if result else "unknown"


def pods(status: RunStatus) -> str:
    """Return what became of each pod, collapsed where there are many."""
    if not status.relocations:
        return ""
    rows = [_pod(r) for r in status.relocations]
    header = ["Pod", "Cards:", "Eviction", "Replacement", "Planned node", "Actual node"]
    body = table(header, rows)
    return details(f"Every pod ({len(rows):,})", body) if len(rows) > FEW else body


def _pod(r: Relocation) -> tuple[str, ...]:
    return (
        _name(r),
        f"{r.cards:,}" if r.cards else "",
        _EVICTION[r.eviction.phase],
        _replacement(r) if _left(r) else "–",
        code(r.planned_node_name),
        _actual(r),
    )


def _replacement(r: Relocation) -> str:
    name = r.placement.replacement_pod_name
    shown = "same name" if name == r.victim_pod_name else code(name)
    group = f" in {code(r.replacement_pod_group_name)}" if r.replacement_pod_group_name else ""
    phase = _PLACEMENT[r.placement.phase]
    return f"{shown}{group}, {phase}" if name else phase


def _actual(r: Relocation) -> str:
    """Where the replacement went; the selected node is told where it was not the planned one."""
    place = r.placement
    actual = f"**{code(place.actual_node_name)}**" if _elsewhere(r) else "as planned" if place.actual_node_name else "–"
    selected = place.selected_node_name
    return f"{actual} (selected {code(selected)})" if selected and selected != r.planned_node_name else actual


def troubles(status: RunStatus) -> list[str]:
    """Return one line for everything that did not go as planned, worst first."""
    moved, result, plan = status.relocations, status.result, status.plan
    lines = [f"{_name(r)} was not evicted: {prose(r.eviction.message or 'no reason was given')}" for r in moved if _rejected(r)]
    lines += [f"{_name(r)} found no node in time (deadline {prose(_deadline(r))})" for r in moved if _timed_out(r)]
    if plan and result:
        lines += [f"{code(name)} is not free" for name in plan.freed_nodes if name not in result.freed_nodes]
        lines += [] if result.metrics_verified else ["the outcome could not be verified on the live cluster"]
    return lines + [_detour(r) for r in moved if _elsewhere(r)]


def _name(r: Relocation) -> str:
    return code(f"{r.namespace}/{r.victim_pod_name}")


def _rejected(r: Relocation) -> bool:
    return r.eviction.phase is EvictionPhase.REJECTED


def _timed_out(r: Relocation) -> bool:
    return r.placement.phase is PlacementPhase.TIMED_OUT


def _deadline(r: Relocation) -> str:
    return r.placement.expiration_time or "unknown"


def _detour(r: Relocation) -> str:
    return f"{_name(r)} went to {code(r.placement.actual_node_name)} instead of {code(r.planned_node_name)}"


def listed(lines: Sequence[str], most: int | None = None) -> str:
    """Return ``lines`` as a list; at most ``most`` of them."""
    rest = len(lines) - len(lines[:most])
    return bullets([*lines[:most], *([f"and {rest:,} more in result.md"] if rest else [])])


def when(status: RunStatus) -> str:
    """Return when the run started and ended, and since when each condition holds."""
    rows = [
        ("Started", prose(status.start_time), ""),
        ("Ended", prose(status.completion_time), _lasted(status.start_time, status.completion_time)),
        *((f"{c.type}: {c.status}", prose(c.last_transition_time), prose(c.reason)) for c in status.conditions),
    ]
    return table(["Event", "Time", ""], [row for row in rows if row[1]])


def _lasted(start: str, end: str) -> str:
    try:
        seconds = int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())
    except (ValueError, TypeError):
        return ""
    minutes, rest = divmod(max(seconds, 0), 60)
    hours, minutes = divmod(minutes, 60)
    return "after " + " ".join(
        p for p in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{rest} s") if p
    )
