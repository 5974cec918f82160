"""Disruption by PodGroup (spec 2.3): slack, breaches, damaged cards, and what one more node would add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod
from repack_gitops.model.plan import Disruption, GroupImpact
from repack_gitops.model.quantity import whole

#: Rows of a cost matrix, in the guide's order of weights.
DIMENSIONS = ("pod_groups", "breaches", "damaged_cards", "moved_cards", "moved_pods")
#: The guide's weights in tenths: integers, so that scores can be compared exactly.
WEIGHTS = (10, 8, 6, 3, 1)


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """One PodGroup before anything moves; ``footprint`` is in whole cards of the target resource."""

    key: Key
    owner: Owner | None
    running: int
    min_available: int
    footprint: int

    @property
    def slack(self) -> int:
        """Members that may be missing."""
        return max(self.running - self.min_available, 0)


def group_facts(snapshot: ClusterSnapshot, key: Key, resource: str) -> GroupFacts:
    """Return the facts of PodGroup ``key``.

    ``running`` counts members as Volcano counts ready ones: Running and not terminating, or Succeeded.
    """
    group = snapshot.pod_groups[key]
    members = snapshot.pods_by_group.get(key, ())
    running = sum(1 for p in members if _ready(p))
    footprint = sum(p.requests.get(resource, 0) for p in members if p.active and p.node is not None)
    owner = group.owner or next((p.owner for p in members if p.owner is not None), None)
    return GroupFacts(key, owner, running, group.min_member, whole(footprint))


def _ready(pod: Pod) -> bool:
    return pod.phase == "Succeeded" or (pod.phase == "Running" and not pod.terminating)


def impacts(snapshot: ClusterSnapshot, resource: str, moved: Mapping[Key, tuple[int, int]]) -> tuple[GroupImpact, ...]:
    """Return what moving (pods, cards) of each PodGroup means, sorted by key."""
    found = []
    for key in sorted(moved):
        facts, (pods, cards) = group_facts(snapshot, key, resource), moved[key]
        found.append(GroupImpact(key, facts.owner, facts.running, facts.min_available, pods, cards, facts.footprint))
    return tuple(found)


def total(found: Iterable[GroupImpact]) -> Disruption:
    """Return the five dimensions over all impacts."""
    touched = [i for i in found if i.moved_pods]
    return Disruption(
        pod_groups=len(touched),
        breaches=sum(1 for i in touched if i.breached),
        damaged_cards=sum(i.footprint_cards if i.breached else i.moved_cards for i in touched),
        moved_cards=sum(i.moved_cards for i in touched),
        moved_pods=sum(i.moved_pods for i in touched),
    )


@dataclass(frozen=True, slots=True)
class Share:
    """A node's victims of one PodGroup."""

    group: int
    pods: int
    cards: int


class Ledger:
    """What the plan so far moved, and the marginal cost of every node, kept up to date.

    Parameters
    ----------
    facts
        PodGroups by index.
    shares
        For every node, its victims by PodGroup (empty for nodes that are no candidates).
    """

    def __init__(self, facts: list[GroupFacts], shares: list[tuple[Share, ...]]) -> None:
        self._facts, self._shares = facts, shares
        self._pods = [0] * len(facts)
        self._cards = [0] * len(facts)
        self._hosts: list[list[int]] = [[] for _ in facts]
        #: shape (5, nodes): rows as DIMENSIONS.
        self.costs: NDArray[np.int64] = np.zeros((len(DIMENSIONS), len(shares)), dtype=np.int64)
        self.groups_touched = 0
        self.cards_moved = 0
        for node, found in enumerate(shares):
            for share in found:
                self._hosts[share.group].append(node)
            self._refresh(node)

    def commit(self, node: int) -> None:
        """Count ``node``'s victims as moved and refresh the nodes that share their PodGroups."""
        touched: dict[int, None] = {}
        for share in self._shares[node]:
            self.groups_touched += self._pods[share.group] == 0
            self.cards_moved += share.cards
            self._pods[share.group] += share.pods
            self._cards[share.group] += share.cards
            touched.update(dict.fromkeys(self._hosts[share.group]))
        for other in touched:
            self._refresh(other)

    def _refresh(self, node: int) -> None:
        column = [0] * len(DIMENSIONS)
        for share in self._shares[node]:
            facts, pods, cards = self._facts[share.group], self._pods[share.group], self._cards[share.group]
            column[0] += pods == 0
            column[1] += pods <= facts.slack < pods + share.pods
            column[2] += _damage(facts, pods + share.pods, cards + share.cards) - _damage(facts, pods, cards)
            column[3] += share.cards
            column[4] += share.pods
        self.costs[:, node] = column


def _damage(facts: GroupFacts, pods: int, cards: int) -> int:
    return facts.footprint if pods > facts.slack else cards
