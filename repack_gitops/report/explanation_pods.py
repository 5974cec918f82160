"""Pods in an explanation: may it move, where to, and what closes the other nodes to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from repack_gitops.model.code_words import explain
from repack_gitops.model.explanation import Closed, PodAnswer, Receivers
from repack_gitops.model.plan import Code
from repack_gitops.model.status import counted
from repack_gitops.report.terminal import Look, short_list

_INDENT, _INNER = 2, 4


def pods_lines(pods: Sequence[PodAnswer], look: Look) -> list[Text]:
    """Return what each pod may do, and where it could go; pods with the same answer tell it once."""
    lines: list[Text] = []
    told: dict[Receivers, str] = {}
    for pod in pods:
        lines += pod_lines(pod, look)
        if pod.receivers is None or pod.move is not None:
            continue
        if pod.receivers in told:
            lines.append(look.text(f"the same nodes as for {told[pod.receivers]}", indent=_INNER))
        else:
            told[pod.receivers] = f"{pod.namespace}/{pod.pod}"
            lines += receivers_lines(pod.receivers, look, indent=_INNER)
    return lines


def pod_lines(pod: PodAnswer, look: Look) -> list[Text]:
    """Return one pod with its fate."""
    head = Text.assemble(
        " " * _INDENT, look.text(f"{pod.namespace}/{pod.pod}", "bold"), "  ", look.text(counted(pod.cards, "card"), "dim"),
        "  ", look.text(f"on {pod.node}", "dim"),
    )  # fmt: skip
    return [head, *look.paragraph(_fate(pod, look), _INNER)]


def _fate(pod: PodAnswer, look: Look) -> Text:
    if pod.why_not is not None:
        return look.text(f"may not move: {pod.why_not}", "yellow")
    if pod.move is not None:
        return look.text(f"may move; step {pod.step:,} takes it to {pod.move.to_node}", "green")
    return look.text("may move; this plan leaves it")


def receivers_lines(receivers: Receivers, look: Look, *, indent: int) -> list[Text]:
    """Return where a pod could go and what closes the other nodes, with the first few names of each."""
    rows = list(_rows(receivers))
    lines = look.paragraph(look.text(_summary(receivers)), indent)
    width = max((len(f"{len(nodes):,}") for _, nodes in rows), default=0)
    for text, nodes in rows:
        first = f"{' ' * (indent + 2)}{len(nodes):>{width},}  "
        lines += look.paragraph(look.text(text), len(first), first)
        lines.append(look.text(short_list(nodes, look.width - len(first)), "dim", indent=len(first)))
    return lines


def _summary(receivers: Receivers) -> str:
    total = len(receivers.open) + len(receivers.freed) + sum(len(c.nodes) for c in receivers.closed)
    found = f"{len(receivers.open):,} of {counted(total, 'other occupied node')} could take it"
    if receivers.moment == "before":
        return f"before this plan's moves, {found}"
    more = f" (before: {receivers.open_before:,})" if receivers.open_before != len(receivers.open) else ""
    return f"after the moves of the plan that was found, {found}{more}"


def _rows(receivers: Receivers) -> Iterator[tuple[str, Sequence[str]]]:
    if receivers.open:
        yield "open", receivers.open
    for closed in receivers.closed:
        yield _refusal(closed), closed.nodes
    if receivers.freed:
        yield "emptied by that plan, so they receive nothing", receivers.freed


def _refusal(closed: Closed) -> str:
    if closed.code is Code.NODE_RESOURCES:
        return f"{closed.code.value}: too little {closed.what} idle"
    return f"{closed.code.value}: {explain(closed.code)}" + (f" ({closed.what})" if closed.what else "")
