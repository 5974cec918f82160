"""The parts of the terminal's view, each a list of lines; an empty list is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from rich.text import Text

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.impact import GroupImpact
from repack_gitops.model.plan import Code, Evaluation, PodMove, Step, Verdict
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.model.status import counted, points, verdict_message
from repack_gitops.report.advice import advice
from repack_gitops.report.layout import NodeLayout, layout
from repack_gitops.report.optimality import found_sentence, optimality_sentence
from repack_gitops.report.terminal import Look, columns, short_list
from repack_gitops.report.words import Staying, breaches, cards, disruption_sentence, staying_groups, workload, worst_first

_STYLE = {Verdict.RECOMMENDED: "bold green", Verdict.NO_FRAGMENTATION: "bold", Verdict.INSUFFICIENT: "bold yellow"}
_NODES, _PODS, _GROUPS = 12, 8, 15
_INDENT = 2


def verdict_part(evaluation: Evaluation, spec: RunTemplateSpec, look: Look) -> list[Text]:
    """Return the verdict and its one sentence."""
    threshold = spec.goals[0].min_frag_improvement_percent
    message = look.text(verdict_message(evaluation, threshold=threshold).replace("->", "→"))
    about = look.text(f"{evaluation.resource}, strategy {evaluation.strategy}", "dim")
    head = Text.assemble(look.text(evaluation.verdict.value, _STYLE[evaluation.verdict]), "  ", about)
    return [head, *look.paragraph(message, 0), *_optimality(evaluation, look)]


def _optimality(evaluation: Evaluation, look: Look) -> list[Text]:
    if evaluation.optimality is None:
        return []
    said = (optimality_sentence(evaluation.optimality), found_sentence(evaluation.optimality))
    return [line for text in said if text for line in look.paragraph(look.text(text, "dim"), 0)]


def numbers_part(evaluation: Evaluation, spec: RunTemplateSpec, look: Look) -> list[Text]:
    """Return the plan's numbers beside the limits that govern them."""
    before, after, d = evaluation.before, evaluation.after, evaluation.disruption
    limits = spec.max_per_run
    bound = "" if before.exact else "at least "
    rows = [
        ("Fragmentation", _change(f"{before.percent}%", f"{after.percent}%", evaluation), _gain(evaluation, spec)),
        (
            "Occupied nodes",
            _change(f"{before.occupied:,}", f"{after.occupied:,}", evaluation),
            f"of {before.providing:,}, by card count alone {bound}{before.optimal:,}",
        ),
    ]
    if evaluation.steps:
        rows += [
            ("PodGroups moved", f"{d.pod_groups:,}", _cap(limits.pod_groups if limits else None)),
            ("Cards moved", f"{d.moved_cards:,}", _cap(limits.resources.get(evaluation.resource) if limits else None)),
            ("Pods moved", f"{d.moved_pods:,}", ""),
        ]
    cells = [(look.text(a), look.text(b, "bold"), look.text(c, "dim")) for a, b, c in rows]
    return columns(cells, look, right=frozenset(), flexible=2, indent=_INDENT)


def _change(before: str, after: str, evaluation: Evaluation) -> str:
    return f"{before} → {after}" if evaluation.steps else before


def _gain(evaluation: Evaluation, spec: RunTemplateSpec) -> str:
    asked = spec.goals[0].min_frag_improvement_percent
    goal = f"the goal asks for {asked}" if asked else "the goal asks for any gain"
    return f"gains {points(evaluation.improvement)}, {goal}" if evaluation.steps else goal


def _cap(most: int | None) -> str:
    return "no cap" if most is None else f"at most {most:,}"


def freed_part(evaluation: Evaluation, snapshot: ClusterSnapshot | None, look: Look) -> list[Text]:
    """Return the freed nodes with their moves, in the order of execution."""
    steps = evaluation.steps
    if not steps:
        return []
    shown = steps if len(steps) <= _NODES + 3 else steps[:_NODES]
    nodes = {n.name: n for n in layout(snapshot, evaluation)} if snapshot else {}
    lines = [look.text("Nodes freed, in the order of execution", "bold")]
    moves = iter(_moves([m for step in shown for m in _first(step)], look))
    for number, step in enumerate(shown, start=1):
        lines += [_node(number, step, nodes, look), *islice(moves, len(_first(step)))]
        rest = len(step.moves) - len(_first(step))
        lines += [look.text(_and_more(rest, "pod"), indent=8)] if rest else []
    return lines + _more_nodes(steps[len(shown) :], look)


def _first(step: Step) -> tuple[PodMove, ...]:
    """The moves that are listed: all of them, unless they would fill the screen."""
    return step.moves if len(step.moves) <= _PODS + 2 else step.moves[:_PODS]


def _node(number: int, step: Step, nodes: Mapping[str, NodeLayout], look: Look) -> Text:
    line = Text.assemble(f"{number:>4}  ", look.text(step.node, "bold green"), "  ")
    if step.node in nodes:
        line.append_text(look.bar(nodes[step.node].used_before, nodes[step.node].capacity))
        line.append("  ")
    return line.append_text(look.text(f"{counted(len(step.moves), 'pod')}, {counted(cards(step), 'card')}", "dim"))


def _moves(moves: Sequence[PodMove], look: Look) -> list[Text]:
    """One line per move; all steps together, so that the columns run through."""
    rows = [
        (
            look.text(f"{m.namespace}/{m.pod}"),
            look.text(f"{m.owner.kind} {m.owner.name}" if m.owner else m.pod_group, "dim"),
            look.text(counted(m.cards, "card")),
            look.text(f"→ {m.to_node}", "cyan"),
        )
        for m in moves
    ]
    return columns(rows, look, right=frozenset({2}), flexible=1, indent=8, optional=True)


def _more_nodes(rest: Sequence[Step], look: Look) -> list[Text]:
    if not rest:
        return []
    pods, moved = sum(len(s.moves) for s in rest), sum(cards(s) for s in rest)
    text = f"{_and_more(len(rest), 'node')}: {counted(pods, 'pod')}, {counted(moved, 'card')}"
    return [look.text(text, indent=6)]


def _and_more(number: int, noun: str) -> str:
    return "and " + counted(number, noun).replace(" ", " more ", 1)


def disruption_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return what happens to each PodGroup, worst first."""
    if not evaluation.impacts:
        return []
    impacts = worst_first(evaluation.impacts)
    shown = impacts if len(impacts) <= _GROUPS + 3 else impacts[:_GROUPS]
    titles = ("PodGroup of", "running", "minAvail", "slack", "moved", "cards", "")
    rows = [tuple(look.text(t, "dim") for t in titles), *(_impact(i, look) for i in shown)]
    table = columns(rows, look, right=frozenset(range(1, 6)), flexible=0, indent=_INDENT)
    sentence = look.text(disruption_sentence(evaluation), "red" if breaches(evaluation.impacts) else "green")
    head = [look.text("Who is disturbed", "bold"), *look.paragraph(sentence, _INDENT)]
    return [*head, *table, *_more_groups(impacts[len(shown) :], look)]


def _impact(impact: GroupImpact, look: Look) -> tuple[Text, ...]:
    numbers = (impact.running, impact.min_available, impact.slack, impact.moved_pods, impact.moved_cards)
    effect = look.text("BREACH", "bold red") if impact.breached else look.text("ok", "green")
    return (look.text(workload(impact.owner, impact.key)), *(look.text(f"{n:,}") for n in numbers), effect)


def _more_groups(rest: Sequence[GroupImpact], look: Look) -> list[Text]:
    if not rest:
        return []
    below = breaches(tuple(rest))
    text = f"{_and_more(len(rest), 'PodGroup')}, {below:,} of them below minAvailable"
    return [look.text(text, indent=_INDENT)]


def stays_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return why other occupied nodes stay, by reason."""
    groups = staying_groups(evaluation)
    if not groups:
        return []
    return [look.text("Why other nodes stay", "bold"), *(line for group in groups for line in _stay(group, look))]


def _stay(group: Staying, look: Look) -> list[Text]:
    lines = look.paragraph(look.text(group.words), 8, f"{len(group.nodes):>6,}")
    told = bool(group.example) and group.code is not Code.RECEIVES
    if len(group.nodes) > 1 or not told:
        lines.append(look.text(short_list(group.nodes, look.width - 8), "dim", indent=8))
    lines += look.paragraph(look.text(f"{group.shown}: {group.example}", "dim"), 8) if told else []
    return lines + (look.paragraph(look.text(f"nearest change: {group.remedy}", "dim"), 8) if group.remedy else [])


def warnings_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return the plan's warnings."""
    if not evaluation.warnings:
        return []
    lines = [line for text in evaluation.warnings for line in look.paragraph(look.text(text, "yellow"), 4, "  !")]
    return [look.text("Warnings", "bold yellow"), *lines]


def hints_part(evaluation: Evaluation, look: Look) -> list[Text]:
    """Return what would let the run free more."""
    reached = evaluation.after.occupied == evaluation.after.optimal
    hints = () if reached or evaluation.verdict is Verdict.NO_FRAGMENTATION else advice(evaluation)
    lines = [line for hint in hints for line in look.paragraph(look.text(hint), 4, "  -")]
    return [look.text("To free more nodes", "bold"), *lines] if hints else []


def next_part(evaluation: Evaluation, commands: Sequence[str], look: Look) -> list[Text]:
    """Return what happens now; ``commands`` are offered where there is a plan to use them on."""
    offered = commands if evaluation.verdict is Verdict.RECOMMENDED else ()
    lead = "Nothing has been changed. Next:" if offered else "Nothing has been changed."
    return [look.text(lead, "bold"), *(look.text(c, "cyan", indent=_INDENT) for c in offered)]
