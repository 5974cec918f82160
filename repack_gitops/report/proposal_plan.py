"""The parts of a proposal that tell the plan: what is gained, what it costs, and why it is not more."""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.model.impact import GroupImpact, WorkloadRestart
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.model.status import counted, points, verdict_message
from repack_gitops.report.facts import ProposalFacts
from repack_gitops.report.markup import alert, bullets, code, details, prose, table
from repack_gitops.report.optimality import found_sentence, optimality_sentence
from repack_gitops.report.restarts import restarts_first, restarts_sentence, retries
from repack_gitops.report.words import Staying, breaches, cards, disruption_sentence, receivers, workload, worst_first

#: Rows that are pleasant to scroll past; longer tables are collapsed, or cut where space is short.
SCREENFUL = 20
_OPEN = 10
#: Rows of a collapsed table that a pull request can still afford.
MANY = 150
_NAMED = 4


def verdict(facts: ProposalFacts) -> str:
    """Return the paragraph everybody reads, and one on how good the plan is where that is known."""
    said = (_verdict(facts), optimality(facts.evaluation))
    return "\n\n".join(part for part in said if part)


def optimality(evaluation: Evaluation) -> str:
    """Return how good the plan is; empty where nothing is known."""
    if evaluation.optimality is None:
        return ""
    said = (optimality_sentence(evaluation.optimality), found_sentence(evaluation.optimality))
    return " ".join(text for text in said if text)


def _verdict(facts: ProposalFacts) -> str:
    evaluation = facts.evaluation
    if evaluation.verdict is not Verdict.RECOMMENDED:
        return prose(verdict_message(evaluation, threshold=facts.threshold))
    d = evaluation.disruption
    return (
        f"Frees **{counted(len(evaluation.steps), 'node')}** of {code(facts.resource)} on {code(facts.cluster)} by moving "
        f"{counted(d.moved_pods, 'pod')} ({counted(d.moved_cards, 'card')}) of {counted(d.pod_groups, 'PodGroup')}. "
        f"Fragmentation falls from {evaluation.before.percent}% to **{evaluation.after.percent}%**. "
        f"{_risk(evaluation)}"
    )


def _risk(evaluation: Evaluation) -> str:
    sentence = disruption_sentence(evaluation)
    return f"**{sentence}**" if breaches(evaluation.impacts) else sentence


def summary(facts: ProposalFacts) -> str:
    """Return the plan in numbers, each beside the limit that governs it."""
    evaluation, d = facts.evaluation, facts.evaluation.disruption
    before, after = evaluation.before, evaluation.after
    gain = points((before.rate - after.rate) * 100)
    rows = [
        ("Nodes freed", f"**{len(evaluation.steps):,}**", ""),
        ("Occupied nodes", f"{before.occupied:,} → {after.occupied:,}", f"by card count alone: {_optimal(evaluation)}"),
        ("Fragmentation", f"{before.percent}% → {after.percent}%", f"gains {gain}, {_goal(facts.threshold)}"),
        ("PodGroups moved", f"{d.pod_groups:,}", _cap(facts.most_pod_groups)),
        ("Cards moved", f"{d.moved_cards:,}", _cap(facts.most_cards)),
        ("Pods moved", f"{d.moved_pods:,}", ""),
        ("PodGroups below minAvailable", f"{d.breaches:,}", _damage(evaluation)),
    ]
    return table(["", "Plan:", "Limit"], rows)


def _optimal(evaluation: Evaluation) -> str:
    # With mixed sizes the optimum is a lower bound, and a reader must not take it for reachable.
    return f"{'' if evaluation.before.exact else 'at least '}{evaluation.before.optimal:,}"


def _goal(threshold: int) -> str:
    return f"goal asks for {threshold}" if threshold else "goal asks for any"


def _cap(most: int | None) -> str:
    return "no cap" if most is None else f"at most {most:,}"


def _damage(evaluation: Evaluation) -> str:
    d = evaluation.disruption
    return f"{counted(d.damaged_cards, 'card')} affected in all" if d.breaches else ""


def freed(evaluation: Evaluation, most: int | None = None) -> str:
    """Return the nodes that are freed, in the order of execution; at most ``most`` of them."""
    rows = [
        (
            f"{number:,}",
            code(step.node),
            f"{len(step.moves):,}",
            f"{cards(step):,}",
            _names(receivers(step)),
        )
        for number, step in enumerate(evaluation.steps[:most], start=1)
    ]
    return _long_table(["Step:", "Node", "Pods:", "Cards:", "They go to"], rows, len(evaluation.steps), "node")


def disturbed(evaluation: Evaluation, most: int | None = None) -> str:
    """Return what happens to each PodGroup, worst first; at most ``most`` of them."""
    rows = [_impact(impact) for impact in worst_first(evaluation.impacts)[:most]]
    header = ["Workload", "Pods moved:", "Cards moved:", "minAvailable:", "Slack:", "Effect"]
    return _long_table(header, rows, len(evaluation.impacts), "PodGroup")


def _impact(impact: GroupImpact) -> tuple[str, ...]:
    name = code(workload(impact.owner, impact.key))
    group = f"<br>{code(impact.key[1])}" if impact.owner and impact.owner.name != impact.key[1] else ""
    return (
        name + group,
        f"{impact.moved_pods:,} of {impact.running:,}",
        f"{impact.moved_cards:,} of {impact.footprint_cards:,}",
        f"{impact.min_available:,}",
        f"{impact.slack:,}",
        "⚠️ **breached**" if impact.breached else "kept",
    )


def restarting(evaluation: Evaluation, most: int | None = None) -> str:
    """Return what restarts beyond the moves, and which retries are spent; at most ``most`` workloads."""
    found = evaluation.restarts
    if not found:
        return ""
    header = ["Workload", "Created again", "Pods moved:", "Pods restarting:", "Of them not moved:", "Retries left:"]
    rows = [_restart(restart) for restart in restarts_first(found)[:most]]
    return f"{restarts_sentence(found)}\n\n{_long_table(header, rows, len(found), 'workload')}"


def _restart(restart: WorkloadRestart) -> tuple[str, ...]:
    left = f"⚠️ **{retries(restart)}**" if restart.last_retry else retries(restart)
    numbers = (restart.moved_pods, restart.restarting_pods, restart.outside_moves)
    return (code(workload(restart.owner, (restart.namespace, ""))), restart.unit, *(f"{n:,}" for n in numbers), left)


def moves(evaluation: Evaluation, most: int | None = None) -> str:
    """Return every move, collapsed; at most ``most`` of them."""
    rows = [
        (f"{number:,}", code(f"{m.namespace}/{m.pod}"), code(m.pod_group), f"{m.cards:,}", code(m.from_node), code(m.to_node))
        for number, step in enumerate(evaluation.steps, start=1)
        for m in step.moves
    ]
    if not rows:
        return ""
    body = table(["Step:", "Pod", "PodGroup", "Cards:", "From", "To"], rows[:most])
    rest = len(rows) - len(rows[:most])
    if rest:
        return details(f"The first {counted(len(rows) - rest, 'move')} of {len(rows):,}, in the order of execution", body)
    return details(f"Every move, in the order of execution ({counted(len(rows), 'pod')})", body)


def stays(groups: Sequence[Staying], *, examples: bool = True) -> str:
    """Return why other occupied nodes stay, by reason, with one example each and what would change it."""
    if not groups:
        return ""
    if not examples:
        return table(["Nodes:", "Why they stay"], [(f"{len(g.nodes):,}", g.words) for g in groups])
    return table(["Nodes:", "Why they stay", "For example", "What would change it there"], map(_stay, groups))


def _stay(group: Staying) -> tuple[str, ...]:
    names = f"<br>{_names(group.nodes)}" if len(group.nodes) > 1 else ""
    return f"{len(group.nodes):,}", group.words + names, _example(group.shown, group.example), _remedy(group.remedy)


def every_stay(evaluation: Evaluation, groups: Sequence[Staying]) -> str:
    """Return each staying node with its own reason, collapsed by kind of reason."""
    return "\n\n".join(
        details(
            f"{group.words} ({counted(len(group.nodes), 'node')})",
            table(["Reason", "Nodes", "What would change it"], _by_detail(evaluation, group)),
        )
        for group in groups
    )


def _by_detail(evaluation: Evaluation, group: Staying) -> list[tuple[str, ...]]:
    """Nodes with the very same detail share a row: thousands of receivers would be thousands of equal lines."""
    found: dict[tuple[str, str], list[str]] = {}
    for node in group.nodes:
        stay = evaluation.stays[node]
        own = any(c.subject in (node, f"node {node}") for c in stay.nearest)
        found.setdefault((stay.detail, "as above, for each of them" if own else stay.remedy), []).append(code(node))
    return [(prose(detail), ", ".join(names), _remedy(remedy)) for (detail, remedy), names in found.items()]


def _remedy(text: str) -> str:
    return prose(text) if text else "–"


def _example(node: str, detail: str) -> str:
    return f"{code(node)}: {prose(detail)}" if detail else code(node)


def warnings(texts: Sequence[str], most: int | None = None) -> str:
    """Return the plan's warnings; at most ``most`` of them."""
    if not texts:
        return ""
    shown = [prose(text) for text in texts[:most]]
    rest = len(texts) - len(shown)
    return alert("WARNING", bullets([*shown, *([f"and {rest:,} more in plan.md"] if rest else [])]))


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(code(name) for name in names[:_NAMED])
    rest = len(names) - _NAMED
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def _long_table(header: Sequence[str], rows: Sequence[Sequence[str]], total: int, what: str) -> str:
    """A table of at most a screenful; further rows are collapsed below its first ones."""
    if not rows:
        return ""
    cut = f"And {counted(total - len(rows), what)} more in plan.md." if len(rows) < total else ""
    if len(rows) <= SCREENFUL:
        return "\n\n".join(part for part in (table(header, rows), cut) if part)
    below = "\n\n".join(part for part in (table(header, rows[_OPEN:]), cut) if part)
    more = details(f"{counted(len(rows) - _OPEN, what)} more", below)
    return f"{table(header, rows[:_OPEN])}\n\n{more}"
