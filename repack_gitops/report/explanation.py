"""The terminal's view of ``repack explain``: one subject, what decided about it, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from rich.text import Text

from repack_gitops.model.explanation import Answer, GroupAnswer, NodeAnswer, PodAnswer
from repack_gitops.model.plan import Code, Evaluation, Stay, Verdict
from repack_gitops.model.status import counted
from repack_gitops.report.console import printed
from repack_gitops.report.explanation_pods import pod_lines, pods_lines, receivers_lines
from repack_gitops.report.optimality import STOPPED
from repack_gitops.report.table_parts import stays_part
from repack_gitops.report.terminal import Look, short_list
from repack_gitops.report.words import workload

_INDENT = 2


def explanation_text(
    answer: Answer, evaluation: Evaluation, *, width: int = 100, colour: bool = False, unicode: bool = True
) -> str:
    """Return the answer for a terminal; parameters as of `report.table.plan_table`."""
    look = Look(width=max(width, 60), unicode=unicode)
    parts = [*_parts(answer, evaluation, look), _verdict(evaluation, look)]
    return printed([part for part in parts if part], look, colour=colour)


def _parts(answer: Answer, evaluation: Evaluation, look: Look) -> list[list[Text]]:
    match answer:
        case NodeAnswer():
            return _node(answer, evaluation, look)
        case GroupAnswer():
            return _group(answer, evaluation, look)
        case PodAnswer():
            return _pod(answer, evaluation, look)
        case tuple():
            return [_freed(evaluation, look), stays_part(evaluation, look)]
        case other:
            assert_never(other)


def _verdict(evaluation: Evaluation, look: Look) -> list[Text]:
    """The plan that all of this is about, in one line."""
    text = f"As of a plan for {evaluation.resource}, strategy {evaluation.strategy}: {evaluation.verdict.value}"
    found = f", {counted(len(evaluation.steps), 'node')} freed" if evaluation.steps else ""
    stopped = "" if evaluation.reproducible else f" {STOPPED}"
    return look.paragraph(look.text(f"{text}{found}.{stopped} Nothing has been changed.", "dim"), 0)


def _freed(evaluation: Evaluation, look: Look) -> list[Text]:
    names = evaluation.freed_nodes
    if not names:
        return look.paragraph(look.text(_nothing(evaluation), "bold"), 0)
    return [
        look.text(counted(len(names), "node") + " freed", "bold green"),
        look.text(short_list(names, look.width - 8), "dim", indent=8),
    ]


def _nothing(evaluation: Evaluation) -> str:
    if evaluation.verdict is Verdict.NO_FRAGMENTATION:
        return "No node is freed: the occupied nodes are already the fewest that could hold the same requests."
    return "No node is freed."


# ---- a node ----
def _node(answer: NodeAnswer, evaluation: Evaluation, look: Look) -> list[list[Text]]:
    head = Text.assemble(
        look.text(f"node {answer.node}", "bold"), "  ", look.bar(answer.used, answer.capacity), "  ",
        look.text(f"{answer.used:,} of {counted(answer.capacity, 'card')} in use", "dim"),
    )  # fmt: skip
    told = answer.in_scope or (answer.stay is not None and answer.stay.code is Code.NODE_OUT_OF_SCOPE)
    scope = [] if told else [look.text("outside scope.nodes", "yellow", indent=_INDENT)]
    return [
        [head, *_decided(answer, evaluation, look), *scope],
        _titled("Its pods", pods_lines(answer.pods, look), look),
        _titled("Pods that this plan brings", _arriving(answer, look), look),
    ]


def _decided(answer: NodeAnswer, evaluation: Evaluation, look: Look) -> list[Text]:
    if answer.step is not None:
        return [look.text(f"freed in step {answer.step:,} of {len(evaluation.steps):,}", "green", indent=_INDENT)]
    if answer.stay is not None:
        return _stay(answer.stay, look)
    if not answer.used:
        return look.paragraph(look.text("uses none of the resource: there is nothing to free, and it never receives"), _INDENT)
    return look.paragraph(look.text(_nothing(evaluation)), _INDENT)


def _stay(stay: Stay, look: Look) -> list[Text]:
    reason = look.paragraph(look.text(f"stays: {stay.code.value}: {stay.detail}", "yellow"), _INDENT)
    nearest = stay.remedy or "nothing in the cluster or the run, by itself"
    return [*reason, *look.paragraph(look.text(f"nearest change: {nearest}"), _INDENT)]


def _arriving(answer: NodeAnswer, look: Look) -> list[Text]:
    moves = ((f"{m.namespace}/{m.pod}", counted(m.cards, "card"), m.from_node) for m in answer.arriving)
    return [look.text(f"{pod}: {cards} from {source}", indent=_INDENT) for pod, cards, source in moves]


def _titled(title: str, lines: Sequence[Text], look: Look) -> list[Text]:
    return [look.text(title, "bold"), *lines] if lines else []


# ---- a PodGroup ----
def _group(answer: GroupAnswer, evaluation: Evaluation, look: Look) -> list[list[Text]]:
    name = look.text(f"PodGroup {answer.key[0]}/{answer.key[1]}", "bold")
    of = look.text(f"of {workload(answer.owner, answer.key)}", "dim")
    facts = (
        f"{answer.running:,} running, minAvailable {answer.min_available:,}: slack {answer.slack:,}; "
        f"holds {counted(answer.footprint, 'card')} of {evaluation.resource}"
    )
    scope = "in scope of the run" if answer.in_scope else "outside scope.podGroups: none of its pods may move"
    lines = [facts, scope, _moved(answer)]
    head = [Text.assemble(name, "  ", of), *(line for text in lines for line in look.paragraph(look.text(text), _INDENT))]
    return [head, _titled("Its pods", pods_lines(answer.members, look), look)]


def _moved(answer: GroupAnswer) -> str:
    if not answer.members:
        return "none of its pods holds the resource"
    if not answer.moved_pods:
        return "this plan moves none of its pods"
    moved = f"this plan moves {counted(answer.moved_pods, 'pod')} ({counted(answer.moved_cards, 'card')})"
    if answer.breached:
        return f"{moved}, more than its slack: BREACH, all it holds counts as damaged ({counted(answer.footprint, 'card')})"
    return f"{moved}, within its slack"


# ---- a pod ----
def _pod(answer: PodAnswer, evaluation: Evaluation, look: Look) -> list[list[Text]]:
    head = pod_lines(answer, look)
    group = f"of PodGroup {answer.namespace}/{answer.pod_group}" if answer.pod_group else "of no PodGroup"
    stay = evaluation.stays.get(answer.node)
    about = _titled(f"Its node {answer.node}", _stay(stay, look), look) if stay else []
    every = receivers_lines(answer.receivers, look, indent=_INDENT) if answer.receivers else []
    return [[head[0], look.text(group, "dim", indent=4), *head[1:]], _titled("Every other occupied node", every, look), about]
