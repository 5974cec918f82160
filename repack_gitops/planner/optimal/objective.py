"""The objective: most nodes freed; then fewest PodGroups, breaches, damaged cards, moved cards, moved pods."""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.planner.disruption import DIMENSIONS, GroupFacts, Share

#: (-nodes freed, PodGroups, breaches, damaged cards, moved cards, moved pods): the smaller the better.
Score = tuple[int, int, int, int, int, int]

#: What its entries are called in reports.
LEVELS = ("freedNodes", "podGroups", "breaches", "damagedCards", "movedCards", "movedPods")


def score(facts: list[GroupFacts], shares: list[tuple[Share, ...]], nodes: Iterable[int]) -> Score:
    """Return what emptying ``nodes`` is worth; ``shares`` are every node's victims by PodGroup."""
    moved: dict[int, tuple[int, int]] = {}
    freed = 0
    for node in nodes:
        freed += 1
        for share in shares[node]:
            pods, cards = moved.get(share.group, (0, 0))
            moved[share.group] = (pods + share.pods, cards + share.cards)
    totals = [0] * len(DIMENSIONS)
    for group, (pods, cards) in moved.items():
        breached = pods > facts[group].slack
        found = (1, int(breached), facts[group].footprint if breached else cards, cards, pods)
        totals = [total + value for total, value in zip(totals, found, strict=True)]
    return (-freed, totals[0], totals[1], totals[2], totals[3], totals[4])
