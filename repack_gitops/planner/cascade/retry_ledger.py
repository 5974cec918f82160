"""Evictions that counters have left while a plan grows: a hard limit per workload, over the whole plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repack_gitops.model.plan import Reason
from repack_gitops.planner.cascade.decision import last_retry
from repack_gitops.planner.cascade.forecast import Counter, Retries


class RetryLedger:
    """Which nodes can no longer be emptied because some workload on them would not survive it.

    Parameters
    ----------
    evictions
        For every node what the evictions of its victims count, in any order; those that count nothing are left out.
    """

    def __init__(self, evictions: Sequence[Sequence[Retries]]) -> None:
        self._spent: dict[Counter, int] = {}
        self._known: dict[Counter, Retries] = {}
        self._uses: list[dict[Counter, int]] = [{} for _ in evictions]
        self._users: dict[Counter, list[int]] = {}
        for node, found in enumerate(evictions):
            for retries in found:
                self._note(node, retries)
        #: Closed nodes so far, with the reason.
        self.exhausted: dict[int, Reason] = {}
        self._fresh: list[int] = []
        for counter, users in self._users.items():
            self._check(counter, users)

    def commit(self, node: int) -> None:
        """Count the evictions of ``node``."""
        for counter, cost in self._uses[node].items():
            self._spent[counter] = self._spent.get(counter, 0) + cost
            self._check(counter, (n for n in self._users[counter] if n != node))

    def newly_exhausted(self) -> list[int]:
        """Return the nodes closed since the last call."""
        found, self._fresh = self._fresh, []
        return found

    def _note(self, node: int, retries: Retries) -> None:
        uses = self._uses[node]
        if retries.counter not in uses:
            self._users.setdefault(retries.counter, []).append(node)
        uses[retries.counter] = uses.get(retries.counter, 0) + retries.cost
        self._known[retries.counter] = retries

    def _check(self, counter: Counter, nodes: Iterable[int]) -> None:
        retries, spent = self._known[counter], self._spent.get(counter, 0)
        for node in nodes:
            if spent + self._uses[node][counter] > retries.left and node not in self.exhausted:
                self.exhausted[node] = last_retry(retries, spent)
                self._fresh.append(node)
