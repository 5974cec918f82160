"""The objective: most nodes freed; then fewest PodGroups, breaches, damaged cards, moved cards, moved pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repack_gitops.planner.disruption import DIMENSIONS, GroupFacts, Share

#: (-nodes freed, PodGroups, breaches, damaged cards, moved cards, moved pods): the smaller the better.
Score = tuple[int, int, int, int, int, int]

#: What its entries are called in reports.
LEVELS = ("freedNodes", "podGroups", "breaches", "damagedCards", "movedCards", "movedPods")


def score(facts: list[GroupFacts], shares: list[tuple[Share, ...]], nodes: Iterable[int]) -> Score:
    """Return what emptying ``nodes`` is worth; ``shares`` are every node's victims by PodGroup."""
    *_, last = prefix_scores(facts, shares, nodes)
    return last


def prefix_scores(facts: list[GroupFacts], shares: list[tuple[Share, ...]], nodes: Iterable[int]) -> Iterator[Score]:
    """Yield what emptying none of ``nodes`` is worth, then the first, then the first two, up to all."""
    moved: dict[int, tuple[int, int]] = {}
    totals = (0,) * len(DIMENSIONS)
    yield _scored(0, totals)
    for freed, node in enumerate(nodes, start=1):
        for share in shares[node]:
            pods, cards = moved.get(share.group, (0, 0))
            before = _worth(facts[share.group], pods, cards)
            moved[share.group] = (pods + share.pods, cards + share.cards)
            after = _worth(facts[share.group], *moved[share.group])
            totals = tuple(t + a - b for t, a, b in zip(totals, after, before, strict=True))
        yield _scored(freed, totals)


def _worth(group: GroupFacts, pods: int, cards: int) -> tuple[int, ...]:
    """Return what moving that much of one PodGroup adds to each dimension."""
    breached = pods > group.slack
    return (int(pods > 0), int(breached), group.footprint if breached else cards, cards, pods)


def _scored(freed: int, totals: tuple[int, ...]) -> Score:
    return (-freed, totals[0], totals[1], totals[2], totals[3], totals[4])
