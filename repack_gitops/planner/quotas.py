"""Limits over a whole plan: named counters, from which victims draw, and which never fill up again.

What draws from what is a rule (`QuotaRule`), and ``planner.quota_rules`` lists the rules in force; the search, the judge
and the tests' references all go by them. A search keeps count with `Quotas`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repack_gitops.model.cluster import Pod
from repack_gitops.model.plan import Code, Reason


@dataclass(frozen=True, slots=True)
class Quota:
    """A counter with a limit; ``name`` says what it counts, ``code`` why a node stays that would exceed it."""

    name: str
    limit: int
    code: Code


#: What evicting a pod draws from: one of each quota returned, more where a quota is returned more than once.
QuotaRule = Callable[[Pod], Iterable[Quota]]


class Quotas:
    """What a growing plan has drawn, and which nodes no longer fit into it.

    Parameters
    ----------
    rules
        The rules in force.
    victims
        For every node, the pods that would leave it (empty for nodes that are no candidates).
    """

    def __init__(self, rules: Sequence[QuotaRule], victims: Sequence[Sequence[Pod]]) -> None:
        self._draws = [draws(rules, pods) if rules else Counter() for pods in victims]
        #: Nodes that would exceed a quota now, shape (nodes,); once so, always so.
        self.exceeded: NDArray[np.bool_] = np.zeros(len(victims), dtype=bool)
        self._used: Counter[Quota] = Counter()
        self._drawing = _by_quota(self._draws)
        for quota in self._drawing:
            self._check(quota)

    def commit(self, node: int) -> None:
        """Count what ``node``'s victims draw."""
        for quota, amount in self._draws[node].items():
            self._used[quota] += amount
            self._check(quota)

    def why_not(self, node: int) -> Reason:
        """Return which quota an exceeding ``node`` exceeds: the first by name."""
        over = [q for q, amount in self._draws[node].items() if self._used[q] + amount > q.limit]
        quota = min(over, key=lambda q: (q.name, q.code.value))
        used, needed = self._used[quota], self._draws[node][quota]
        return Reason(quota.code, f"{quota.name}: {quota.limit} left, {used} taken by nodes before it, {needed} needed here")

    def _check(self, quota: Quota) -> None:
        nodes, amounts = self._drawing[quota]
        self.exceeded[nodes[amounts > quota.limit - self._used[quota]]] = True


def draws(rules: Sequence[QuotaRule], pods: Iterable[Pod]) -> Counter[Quota]:
    """Return what evicting ``pods`` draws from every quota."""
    return Counter(quota for pod in pods for rule in rules for quota in rule(pod))


def _by_quota(found: Sequence[Counter[Quota]]) -> dict[Quota, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for every quota, the nodes that draw from it and how much each does."""
    lists: dict[Quota, list[tuple[int, int]]] = {}
    for node, drawn in enumerate(found):
        for quota, amount in drawn.items():
            lists.setdefault(quota, []).append((node, amount))
    columns = {quota: np.array(pairs, dtype=np.int64).T for quota, pairs in lists.items()}
    return {quota: (pair[0], pair[1]) for quota, pair in columns.items()}
