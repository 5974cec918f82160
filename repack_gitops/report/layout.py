"""Who sits where, before and after a plan: what the picture and the terminal's bars draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.plan import Evaluation, PodMove
from repack_gitops.model.quantity import whole


@dataclass(frozen=True, slots=True)
class Block:
    """One pod's cards on one node; ``move`` is set where the plan moves it."""

    cards: int
    move: PodMove | None = None


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """One providing node.

    Attributes
    ----------
    capacity
        Whole cards.
    before, after
        Blocks from left to right; pods that stay come first, so that they keep their place, the others in the order
        in which they move, so that their lines do not cross for nothing.
    step
        The step, from 1, in which the node is emptied; None where it is not.
    """

    name: str
    capacity: int
    before: tuple[Block, ...]
    after: tuple[Block, ...]
    step: int | None

    @property
    def used_before(self) -> int:
        """Cards in use now."""
        return sum(b.cards for b in self.before)

    @property
    def used_after(self) -> int:
        """Cards in use after the plan."""
        return sum(b.cards for b in self.after)

    @property
    def receives(self) -> bool:
        """Whether a moved pod arrives."""
        return any(b.move for b in self.after)

    @property
    def changes(self) -> bool:
        """Whether the plan touches the node at all."""
        return self.step is not None or self.receives


def layout(snapshot: ClusterSnapshot, evaluation: Evaluation) -> tuple[NodeLayout, ...]:
    """Return every providing node, sorted by name; O(nodes + pods)."""
    moving = {(m.from_node, m.namespace, m.pod): (i, m) for i, m in enumerate(evaluation.moves)}
    arriving: dict[str, list[Block]] = {}
    for m in evaluation.moves:
        arriving.setdefault(m.to_node, []).append(Block(m.cards, m))
    steps = {name: number for number, name in enumerate(evaluation.freed_nodes, start=1)}
    return tuple(
        _node(
            n.name,
            whole(n.allocatable[evaluation.resource]),
            _blocks(pods, n.name, evaluation.resource, moving),
            arriving,
            steps,
        )
        for n, pods in ((n, snapshot.pods_by_node[n.name]) for n in snapshot.nodes)
        if n.allocatable.get(evaluation.resource, 0) > 0
    )


def _blocks(
    pods: Iterable[Pod], node: str, resource: str, moving: Mapping[tuple[str, str, str], tuple[int, PodMove]]
) -> tuple[Block, ...]:
    found = [(moving.get((node, *p.key), (-1, None)), p) for p in pods if p.requests.get(resource, 0) > 0]
    return tuple(Block(whole(p.requests[resource]), move) for (_, move), p in sorted(found, key=lambda f: f[0][0]))


def _node(
    name: str, capacity: int, before: tuple[Block, ...], arriving: Mapping[str, list[Block]], steps: Mapping[str, int]
) -> NodeLayout:
    after = (*(b for b in before if b.move is None), *arriving.get(name, ()))
    return NodeLayout(name, capacity, before, after, steps.get(name))


def reading_order(nodes: Iterable[NodeLayout], evaluation: Evaluation) -> tuple[NodeLayout, ...]:
    """Return ``nodes`` with each freed node beside its receivers, in the order of execution; the others follow by name."""
    by_name = {n.name: n for n in nodes}
    touched = [name for step in evaluation.steps for name in (step.node, *(m.to_node for m in step.moves))]
    untouched = sorted(by_name.values(), key=lambda n: (n.used_before == 0, n.name))
    names = dict.fromkeys([*touched, *(n.name for n in untouched)])
    return tuple(by_name[name] for name in names if name in by_name)
