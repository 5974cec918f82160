"""layout.svg: the cluster's cards before and after a plan, as a picture that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence

from repack_gitops.model.cluster import ClusterSnapshot, Key
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted, verdict_message
from repack_gitops.report import svg_histogram, svg_rows
from repack_gitops.report.layout import NodeLayout, layout, reading_order
from repack_gitops.report.svg_legend import draw_legend, legend_height
from repack_gitops.report.svg_paper import document, write

#: Clusters up to this are drawn node by node.
EVERY_NODE = 60
#: Of larger ones only the nodes that change are drawn, up to this many nodes and moves; then numbers say more than boxes.
MOST_NODES = 200
MOST_MOVES = 400
#: Bytes; forges stop showing a file somewhere above this.
LARGEST = 300_000
_HEAD = 96


def layout_svg(snapshot: ClusterSnapshot, evaluation: Evaluation) -> str:
    """Return the picture; the same input gives the same bytes, at most 300 kB of them."""
    nodes = reading_order(layout(snapshot, evaluation), evaluation)
    drawn = nodes if len(nodes) <= EVERY_NODE else tuple(n for n in nodes if n.changes)
    if len(drawn) > MOST_NODES or len(evaluation.moves) > MOST_MOVES or (nodes and not drawn):
        return _histogram(nodes, evaluation)
    picture = _rows(nodes, drawn, evaluation)
    return picture if len(picture.encode()) <= LARGEST else _histogram(nodes, evaluation)


def _rows(nodes: Sequence[NodeLayout], drawn: Sequence[NodeLayout], evaluation: Evaluation) -> str:
    numbers = _numbers(evaluation)
    after = bool(evaluation.steps)
    foot = _HEAD + svg_rows.height(drawn) + 20
    body = [
        *_head(evaluation),
        *svg_rows.draw_headings(_HEAD - 10, after=after),
        *svg_rows.draw_rows(drawn, numbers, _HEAD, after=after),
        *draw_legend(evaluation, numbers, len(nodes) - len(drawn), foot),
    ]
    tall = foot + legend_height(evaluation, len(nodes) - len(drawn))
    width = svg_rows.WIDTH if after else svg_rows.WIDTH_NOW
    return document(width, tall, title=_title(evaluation), description=_description(evaluation), body=body)


def _histogram(nodes: Sequence[NodeLayout], evaluation: Evaluation) -> str:
    body = [*_head(evaluation), *svg_histogram.draw_histogram(nodes, _HEAD, after=bool(evaluation.steps))]
    tall = _HEAD + svg_histogram.HEIGHT
    return document(svg_histogram.WIDTH, tall, title=_title(evaluation), description=_description(evaluation), body=body)


def _numbers(evaluation: Evaluation) -> dict[Key, int]:
    """PodGroups in the order of their first move: the first ones get colours of their own."""
    return {key: i for i, key in enumerate(dict.fromkeys(m.group_key for m in evaluation.moves))}


def _head(evaluation: Evaluation) -> list[str]:
    before, after, d = evaluation.before, evaluation.after, evaluation.disruption
    occupied = f"{before.occupied:,} → {after.occupied:,}" if evaluation.steps else f"{before.occupied:,}"
    moved = f" · {counted(d.moved_pods, 'pod')} ({counted(d.moved_cards, 'card')}) of {counted(d.pod_groups, 'PodGroup')} move"
    facts = (
        f"{evaluation.resource} · {occupied} of {counted(before.providing, 'node')} occupied{moved if evaluation.steps else ''}"
    )
    return [write(24, 36, _title(evaluation), size=18, bold=True), write(24, 58, facts, shade_name="dim", size=13)]


def _title(evaluation: Evaluation) -> str:
    if not evaluation.steps:
        return f"No node is freed, fragmentation stays at {evaluation.before.percent}%"
    freed = counted(len(evaluation.steps), "node")
    return f"{freed} freed, fragmentation {evaluation.before.percent}% → {evaluation.after.percent}%"


def _description(evaluation: Evaluation) -> str:
    """The picture in words, for those who do not see it."""
    told = [f"{s.node}: " + ", ".join(f"{m.pod} to {m.to_node}" for m in s.moves) for s in evaluation.steps[:20]]
    more = len(evaluation.steps) - len(told)
    return " ".join([verdict_message(evaluation), *(f"{t}." for t in told), f"And {more:,} more nodes." if more > 0 else ""])
