"""The PodDisruptionBudgets of one snapshot: which select a pod, whether they ever let it go, what it draws from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod, PodDisruptionBudget
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.disruption_budgets.index import BudgetIndex, Budgets
from repack_gitops.planner.disruption_budgets.rules import allowed_now, asks_budgets, counts_against, why_never
from repack_gitops.planner.quotas import Quota

#: Most budgets that a reason names; somebody may have thousands.
_NAMED = 4


class DisruptionBudgets:
    """Answers for the pods of one snapshot."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._index = BudgetIndex(snapshot.budgets)

    def selecting(self, pod: Pod) -> Budgets:
        """Return the budgets that select ``pod``, sorted, whether an eviction would ask them or not."""
        return self._index.of(pod)

    def why_not(self, pod: Pod) -> Reason | None:
        """Return why no eviction of ``pod`` can ever succeed, or None; "not now" is not "never"."""
        budgets = self._index.of(pod) if asks_budgets(pod) else ()
        if len(budgets) > 1:
            return Reason(Code.SEVERAL_DISRUPTION_BUDGETS, f"pod {pod.namespace}/{pod.name} is selected by {named(budgets)}")
        why = self.why_never(pod, budgets[0]) if budgets else ""
        if not why:
            return None
        detail = f"PodDisruptionBudget {named(budgets)} never lets pod {pod.namespace}/{pod.name} go: {why}"
        return Reason(Code.DISRUPTION_BUDGET_FORBIDS, detail)

    def why_never(self, pod: Pod, budget: PodDisruptionBudget) -> str:
        """Return why ``budget``, the only one that selects ``pod``, never lets it go, or nothing."""
        if not counts_against(pod, budget) or allowed_now(budget):
            return ""
        return why_never(budget, pod, self._sizes[budget.key])

    def quotas(self, pod: Pod) -> tuple[Quota, ...]:
        """Return what evicting ``pod`` draws from: a rule in the sense of ``planner.quotas``."""
        return tuple(
            Quota(f"PodDisruptionBudget {named((b,))}", allowed_now(b), Code.DISRUPTION_BUDGET_EXCEEDED)
            for b in self._index.of(pod)
            if counts_against(pod, b)
        )

    @cached_property
    def _sizes(self) -> Counter[Key]:
        """How many pods each budget selects, whatever their phase, as its controller counts; O(pods), when first needed.

        Members that a gang lacks just now are counted too: they will come, and may be of the kind selected.
        """
        sizes: Counter[Key] = Counter()
        for members in (*self._snapshot.pods_by_group.values(), [p for p in self._snapshot.pods if p.pod_group is None]):
            found = Counter(budget.key for pod in members for budget in self._index.of(pod))
            missing = self._missing(members)
            sizes.update({key: count + missing for key, count in found.items()})
        return sizes

    def _missing(self, members: Sequence[Pod]) -> int:
        group = self._snapshot.pod_groups.get((members[0].namespace, members[0].pod_group or "")) if members else None
        return max(group.min_member - len(members), 0) if group is not None else 0


def named(budgets: Budgets) -> str:
    """Return the names of budgets, as ``namespace/name``; at most four of them."""
    shown = ", ".join(f"{b.namespace}/{b.name}" for b in budgets[:_NAMED])
    rest = len(budgets) - _NAMED
    return f"{shown} and {rest:,} more" if rest > 0 else shown
