"""What the Eviction API will answer to a plan, pod by pod in the order of execution, if nothing recovers meanwhile.

A pessimistic reading on purpose: a replacement that is Ready in time gives its disruption back, but whether it will be
is not in a snapshot. So "Waits" means: in waves, each as soon as the replacements of the wave before are Ready.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repack_gitops.model.budget_forecast import Forecast, PodForecast, PodVerdict
from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod, PodDisruptionBudget
from repack_gitops.model.plan import Step
from repack_gitops.planner.disruption_budgets.index import Budgets
from repack_gitops.planner.disruption_budgets.outlook import Demand, outlook
from repack_gitops.planner.disruption_budgets.rules import asks_budgets, counts_against
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets


def forecast(snapshot: ClusterSnapshot, budgets: DisruptionBudgets, steps: Sequence[Step]) -> Forecast:
    """Return what ``steps``, in this order, meet on ``snapshot``; pods that are gone by now are left out.

    O(pods + moves times the budgets of each). ``budgets`` must be those of ``snapshot``.
    """
    tally = _Tally(budgets)
    pods = tuple(tally.count(pod, node, number) for pod, node, number in _victims(snapshot, steps))
    found = (outlook(demand) for _, demand in sorted(tally.demands.items()))
    return Forecast(tuple(found), pods)


def _victims(snapshot: ClusterSnapshot, steps: Sequence[Step]) -> Iterator[tuple[Pod, str, int]]:
    moved = {(m.namespace, m.pod) for s in steps for m in s.moves}
    pods = {p.key: p for p in snapshot.pods if p.key in moved} if snapshot.budgets else {}
    for number, step in enumerate(steps, start=1):
        for move in step.moves:
            pod = pods.get((move.namespace, move.pod))
            if pod is not None and pod.uid == move.uid:
                yield pod, step.node, number


class _Tally:
    """What the plan has asked of every budget so far."""

    def __init__(self, budgets: DisruptionBudgets) -> None:
        self._budgets = budgets
        self.demands: dict[Key, Demand] = {}

    def count(self, pod: Pod, node: str, number: int) -> PodForecast:
        selecting = self._budgets.selecting(pod)
        demands = [self._demand(budget) for budget in selecting]
        for demand in demands:
            demand.moved += 1
        return PodForecast(pod.key, node, self._verdict(pod, selecting, (node, number)), tuple(b.key for b in selecting))

    def _demand(self, budget: PodDisruptionBudget) -> Demand:
        if budget.key not in self.demands:
            self.demands[budget.key] = Demand(budget)
        return self.demands[budget.key]

    def _verdict(self, pod: Pod, selecting: Budgets, step: tuple[str, int]) -> PodVerdict:
        if not selecting or not asks_budgets(pod):
            return PodVerdict.EVICTABLE
        if len(selecting) > 1:
            for budget in selecting:
                self.demands[budget.key].block(f"pod {pod.namespace}/{pod.name} is selected by other budgets too")
            return PodVerdict.BLOCKED_BY_SEVERAL
        (budget,) = selecting
        if not counts_against(pod, budget):
            return PodVerdict.EVICTABLE
        why = self._budgets.why_never(pod, budget)
        demand = self.demands[budget.key]
        demand.take(step)
        if why:
            demand.block(why)
            return PodVerdict.BLOCKED_FOR_GOOD
        return PodVerdict.WAITS_FOR_BUDGET if demand.dry else PodVerdict.EVICTABLE
