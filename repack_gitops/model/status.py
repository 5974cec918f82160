"""What a RepackRun's status says: conditions, the phase they imply, and an Evaluation as a status.

Conditions are the authority (spec 1.2); everything else a status shows about progress is derived from them here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, assert_never

from msgspec import structs

from repack_gitops.model.budget_status import budget_status
from repack_gitops.model.cluster import Key, Owner
from repack_gitops.model.code_words import explain
from repack_gitops.model.frontier_status import frontier_status
from repack_gitops.model.impact import Disruption, GroupImpact
from repack_gitops.model.optimality_status import optimality_status
from repack_gitops.model.plan import Code, Evaluation, PodMove, Stay, Verdict
from repack_gitops.model.restart_status import OwnerRef, restart_status
from repack_gitops.model.run import (
    Condition,
    DisruptionStatus,
    Move,
    MovedPod,
    PlanStatus,
    PlanSummary,
    ResolvedScope,
    RunStatus,
    StayingNodes,
)

Phase = Literal["Pending", "Running", "Succeeded", "Failed"]
#: Most node names a status lists per reason; the count beside them is always complete.
LISTED_NODES = 20


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``"1 pod"``, ``"3,000 nodes"``."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def points(improvement: Fraction) -> str:
    """Return percentage points for people, at most one decimal, rounded down so that a miss never looks like a hit."""
    tenths = improvement * 10 // 1
    text = f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"
    return f"{text} point" if text == "1" else f"{text} points"


# ---- conditions ----
def pending(reason: str, message: str, now: str, previous: Sequence[Condition] = ()) -> list[Condition]:
    """Return the conditions of a run that waits, such as for another run."""
    return [_condition("Progressing", "False", reason, message, now=now, previous=previous)]


def progressing(reason: str, message: str, now: str, previous: Sequence[Condition] = ()) -> list[Condition]:
    """Return the conditions of a run at work.

    Parameters
    ----------
    reason, message
        As spec 1.2 lists them, and one sentence for people.
    now
        RFC 3339 text; the transition time of conditions whose status differs from ``previous``.
    previous
        The conditions so far: a status that does not change keeps its transition time, as in Kubernetes.
    """
    return [_condition("Progressing", "True", reason, message, now=now, previous=previous)]


def complete(reason: str, message: str, now: str, previous: Sequence[Condition] = ()) -> list[Condition]:
    """Return the conditions of a run that ended well; parameters as in `progressing`."""
    return _ended("Complete", reason, message, now, previous)


def failed(reason: str, message: str, now: str, previous: Sequence[Condition] = ()) -> list[Condition]:
    """Return the conditions of a run that failed; parameters as in `progressing`."""
    return _ended("Failed", reason, message, now, previous)


def phase_of(conditions: Iterable[Condition]) -> Phase:
    """Return the phase that ``conditions`` imply: Failed, else Complete, else Progressing, else Pending."""
    true = {c.type for c in conditions if c.status == "True"}
    if "Failed" in true:
        return "Failed"
    if "Complete" in true:
        return "Succeeded"
    return "Running" if "Progressing" in true else "Pending"


def advance(status: RunStatus | None, conditions: list[Condition], now: str) -> RunStatus:
    """Return ``status`` under new ``conditions``, with the phase, message and times that follow from them.

    startTime is when the run first left Pending, completionTime when it first ended; neither is ever rewritten.
    """
    base = status or RunStatus(phase="Pending")
    phase = phase_of(conditions)
    ended = phase in ("Succeeded", "Failed")
    return structs.replace(
        base,
        phase=phase,
        message=conditions[-1].message,
        start_time=base.start_time or ("" if phase == "Pending" else now),
        completion_time=base.completion_time or (now if ended else ""),
        conditions=conditions,
    )


def _ended(
    kind: Literal["Complete", "Failed"], reason: str, message: str, now: str, previous: Sequence[Condition]
) -> list[Condition]:
    return [
        _condition("Progressing", "False", reason, message, now=now, previous=previous),
        _condition(kind, "True", reason, message, now=now, previous=previous),
    ]


def _condition(
    kind: Literal["Progressing", "Complete", "Failed"],
    status: Literal["True", "False"],
    reason: str,
    message: str,
    *,
    now: str,
    previous: Sequence[Condition],
) -> Condition:
    since = next((c.last_transition_time for c in previous if c.type == kind and c.status == status), now)
    # A RepackRun's spec is immutable, so its generation is 1 for life.
    return Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=since, observed_generation=1
    )


# ---- an Evaluation as a status ----
def dry_run_status(evaluation: Evaluation, now: str, *, threshold: int = 0) -> RunStatus:
    """Return the final status of the DryRun that ``evaluation`` answers; all three verdicts are a success.

    Parameters
    ----------
    evaluation
        The planner's answer.
    now
        RFC 3339 text, the one time in the status.
    threshold
        The goal's minFragImprovementPercent, which the message of InsufficientImprovement names.
    """
    message = verdict_message(evaluation, threshold=threshold)
    status = advance(None, complete(evaluation.verdict.value, message, now), now)
    return structs.replace(status, plan=plan_status(evaluation))


def plan_status(evaluation: Evaluation) -> PlanStatus:
    """Return ``evaluation`` as status.plan; same evaluation, same bytes."""
    return PlanStatus(
        summary=_summary(evaluation),
        moves=_moves(evaluation.moves),
        freed_nodes=list(evaluation.freed_nodes),
        strategy=evaluation.strategy,
        exact=evaluation.before.exact,
        disruption=_disruption(evaluation.disruption),
        staying_nodes=_staying(evaluation),
        warnings=list(evaluation.warnings),
        disruption_budgets=[budget_status(b) for b in evaluation.disruption_budgets],
        restarts=[restart_status(r) for r in evaluation.restarts],
        optimality=optimality_status(evaluation.optimality) if evaluation.optimality else None,
        frontier=frontier_status(evaluation.frontier) if evaluation.frontier else None,
    )


def _summary(evaluation: Evaluation) -> PlanSummary:
    return PlanSummary(
        frag_before_percent=evaluation.before.percent,
        frag_after_percent=evaluation.after.percent,
        freed_node_count=len(evaluation.steps),
        moved_card_count=evaluation.disruption.moved_cards,
        resolved_scope=ResolvedScope(pod_group_count=evaluation.scope_pod_groups, node_count=evaluation.scope_nodes),
    )


def _moves(moves: Iterable[PodMove]) -> list[Move]:
    groups: dict[Key, list[PodMove]] = {}
    for move in moves:
        groups.setdefault(move.group_key, []).append(move)
    return [_group_move(key, found) for key, found in groups.items()]


def _group_move(key: Key, moves: Sequence[PodMove]) -> Move:
    namespace, name = key
    return Move(
        namespace=namespace,
        pod_group_name=name,
        owner=_owner(next((m.owner for m in moves if m.owner is not None), None)),
        cards=sum(m.cards for m in moves),
        pods=[MovedPod(name=m.pod, from_node=m.from_node, to_node=m.to_node, cards=m.cards) for m in moves],
    )


def _owner(owner: Owner | None) -> OwnerRef | None:
    return OwnerRef(api_version=owner.api_version, kind=owner.kind, name=owner.name) if owner else None


def _disruption(disruption: Disruption) -> DisruptionStatus:
    return DisruptionStatus(
        pod_groups=disruption.pod_groups,
        breaches=disruption.breaches,
        damaged_cards=disruption.damaged_cards,
        moved_cards=disruption.moved_cards,
        moved_pods=disruption.moved_pods,
    )


def _staying(evaluation: Evaluation) -> list[StayingNodes]:
    groups: dict[Code, list[str]] = {}
    for node in sorted(evaluation.stays):
        groups.setdefault(evaluation.stays[node].code, []).append(node)
    ordered = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0].value))
    return [_staying_group(evaluation, code, nodes) for code, nodes in ordered]


def example_of(evaluation: Evaluation, nodes: Sequence[str]) -> str:
    """Return the one of ``nodes`` to show for all: the one that the least would change, else the first."""
    return min(nodes, key=lambda n: _distance(evaluation.stays[n]))


def _distance(stay: Stay) -> tuple[bool, int, int]:
    """Order by how much must change: nothing would do, how many changes, by how much the numbers in them must grow."""
    growth = sum(abs((c.needed or 0) - (c.now or 0)) for c in stay.nearest)
    return not stay.nearest, len(stay.nearest), growth


def _staying_group(evaluation: Evaluation, code: Code, nodes: list[str]) -> StayingNodes:
    shown = example_of(evaluation, nodes)
    stay = evaluation.stays[shown]
    message = f"{explain(code)}; {shown}: {stay.detail}" if stay.detail else explain(code)
    message += f"; nearest change: {stay.remedy}" if stay.remedy else ""
    return StayingNodes(reason=code.value, message=message, node_count=len(nodes), nodes=nodes[:LISTED_NODES])


# ---- the verdict in words ----
def verdict_message(evaluation: Evaluation, *, threshold: int = 0) -> str:
    """Return the verdict as one or two sentences with its numbers; ``threshold`` as in `dry_run_status`."""
    match evaluation.verdict:
        case Verdict.RECOMMENDED:
            return _recommended(evaluation)
        case Verdict.NO_FRAGMENTATION:
            return _compact(evaluation)
        case Verdict.INSUFFICIENT:
            return _insufficient(evaluation, threshold)
        case _ as never:
            assert_never(never)


def _recommended(evaluation: Evaluation) -> str:
    d = evaluation.disruption
    return (
        f"Freeing {counted(len(evaluation.steps), 'node')} by moving {counted(d.moved_pods, 'pod')} "
        f"({counted(d.moved_cards, 'card')}) of {counted(d.pod_groups, 'PodGroup')}; "
        f"fragmentation {evaluation.before.percent}% -> {evaluation.after.percent}%.{_breaches(evaluation.impacts)}"
    )


def _breaches(impacts: Sequence[GroupImpact]) -> str:
    breached = sum(1 for i in impacts if i.breached)
    if not breached:
        return ""
    return f" {counted(breached, 'PodGroup')} {'falls' if breached == 1 else 'fall'} below minAvailable meanwhile."


def _compact(evaluation: Evaluation) -> str:
    before = evaluation.before
    if not before.providing:
        return f"No node provides {evaluation.resource}; there is nothing to defragment."
    return (
        f"{evaluation.resource} occupies {before.occupied:,} of {counted(before.providing, 'node')} and its requests need "
        f"no fewer: the layout is as compact as it can be ({_scope(evaluation)})."
    )


def _scope(evaluation: Evaluation) -> str:
    return f"scope: {counted(evaluation.scope_pod_groups, 'PodGroup')}, {counted(evaluation.scope_nodes, 'node')}"


def _insufficient(evaluation: Evaluation, threshold: int) -> str:
    before = evaluation.before
    state = f"Fragmentation is {before.percent}% ({counted(before.occupied, 'node')} occupied, {before.optimal:,} would do)"
    if evaluation.improvement > 0:
        return f"{state}; the best plan found gains {points(evaluation.improvement)}, {_goal(threshold)}."
    return f"{state}, but no node can be emptied{_most_frequent(evaluation)} ({_scope(evaluation)})."


def _goal(threshold: int) -> str:
    return f"the goal asks for {threshold}" if threshold else "less than the goal asks"


def _most_frequent(evaluation: Evaluation) -> str:
    counts = Counter(reason.code for reason in evaluation.stays.values())
    if not counts:
        return ""
    code, number = min(counts.items(), key=lambda c: (-c[1], c[0].value))
    return f"; most often ({number:,} of {len(evaluation.stays):,}): {explain(code)}"
