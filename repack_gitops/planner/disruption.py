"""Disruption by PodGroup (spec 2.3): slack, breaches, damaged cards, and what one more node would add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod
from repack_gitops.model.impact import Disruption, GroupImpact
from repack_gitops.model.quantity import whole

Costs = NDArray[np.int64]

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
    return GroupFacts(key, group_owner(snapshot, key), running, group.min_member, whole(footprint))


def group_owner(snapshot: ClusterSnapshot, key: Key) -> Owner | None:
    """Return who owns PodGroup ``key``: its own controller, else the first member's that has one."""
    members = snapshot.pods_by_group.get(key, ())
    return snapshot.pod_groups[key].owner or next((p.owner for p in members if p.owner is not None), None)


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
        self._shares = shares
        self._members = [_Members(group, found) for group, found in zip(facts, _hosts(len(facts), shares), strict=True)]
        #: shape (5, nodes): rows as DIMENSIONS.
        self.costs: Costs = np.zeros((len(DIMENSIONS), len(shares)), dtype=np.int64)
        self.groups_touched = 0
        self.cards_moved = 0
        for members in self._members:
            self.costs[:, members.nodes] += members.marginal

    def commit(self, node: int) -> None:
        """Count ``node``'s victims as moved and refresh the nodes that share their PodGroups."""
        for share in self._shares[node]:
            members = self._members[share.group]
            self.groups_touched += members.moved_pods == 0
            self.cards_moved += share.cards
            self.costs[:, members.nodes] += members.move(share)


def _hosts(groups: int, shares: list[tuple[Share, ...]]) -> list[list[tuple[int, int, int]]]:
    """Return (node, pods, cards) by PodGroup."""
    found: list[list[tuple[int, int, int]]] = [[] for _ in range(groups)]
    for node, parts in enumerate(shares):
        for share in parts:
            found[share.group].append((node, share.pods, share.cards))
    return found


class _Members:
    """One PodGroup's victims by node, and what of it already moved; a node occurs once."""

    def __init__(self, facts: GroupFacts, hosts: list[tuple[int, int, int]]) -> None:
        self._slack, self._footprint = facts.slack, facts.footprint
        self.nodes, self._pods, self._cards = np.array(hosts, dtype=np.int64).reshape(-1, 3).T
        self.moved_pods = 0
        self._moved_cards = 0
        #: What emptying each node would add, shape (5, nodes of the group).
        self.marginal = self._marginal()

    def move(self, share: Share) -> Costs:
        """Count ``share`` as moved, and return by how much ``marginal`` changes."""
        before = self.marginal
        self.moved_pods += share.pods
        self._moved_cards += share.cards
        self.marginal = self._marginal()
        return self.marginal - before

    def _marginal(self) -> Costs:
        breached = self.moved_pods > self._slack
        breaches = self.moved_pods + self._pods > self._slack
        damage = np.where(breaches, self._footprint, self._moved_cards + self._cards)
        damage -= self._footprint if breached else self._moved_cards
        touches = np.full(len(self.nodes), self.moved_pods == 0)
        return np.array([touches, breaches & (not breached), damage, self._cards, self._pods], dtype=np.int64)
