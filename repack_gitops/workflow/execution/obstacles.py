"""Why a node's victims cannot all go now: asked before the first of them is evicted (spec 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from repack_gitops.kube.interface import (
    BudgetRefused,
    Evicted,
    EvictionAnswer,
    PermanentRefusal,
    PodGone,
    Throttled,
    TransientRefusal,
)
from repack_gitops.model.cluster import Key, Pod, PodDisruptionBudget
from repack_gitops.model.status import counted
from repack_gitops.planner.disruption_budgets.rules import counts_against
from repack_gitops.workflow.execution.follower import Follower
from repack_gitops.workflow.execution.session import Session


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What is in the way.

    Attributes
    ----------
    passing
        Whether it may pass by itself.
    wait
        The seconds the server asks to wait; 0 where it did not say.
    budgets
        The PodDisruptionBudgets that may recover.
    """

    why: str
    passing: bool = False
    wait: float = 0.0
    budgets: frozenset[Key] = frozenset()


class Obstacles:
    """Asks the cluster; changes nothing."""

    def __init__(self, session: Session, follower: Follower) -> None:
        self._cluster, self._settings, self._follower = session.cluster, session.settings, follower
        self._hopeless: set[Key] = set()

    def waited_in_vain(self, obstacle: Obstacle) -> None:
        """Remember budgets that did not recover in a whole timeout: the next node does not wait for them again."""
        self._hopeless |= obstacle.budgets

    def of(self, victims: Sequence[tuple[int, Pod]]) -> Obstacle | None:
        """Return what keeps ``victims`` (with their indices) from going together, or None.

        Each is evicted by dry run; dry runs do not add up, so every budget is compared with the sum; and each must have
        a place to go now.
        """
        self._follower.pump(0)
        pods = [pod for _, pod in victims]
        refusal = self._protected(pods) or self._follower.why_no_room(victims)
        if refusal:
            return Obstacle(refusal)
        budgets = self._cluster.list_budgets()
        return next((o for pod in pods if (o := self._dry_run(pod, budgets)) is not None), None) or self._sum(pods, budgets)

    def _protected(self, victims: Sequence[Pod]) -> str:
        """Return which annotation, new since the plan, forbids to disrupt a victim or its node, or an empty string."""
        nodes = {n.name: n.do_not_disrupt for n in self._follower.view.nodes if n.do_not_disrupt}
        for pod in victims:
            if pod.do_not_disrupt:
                return f"pod {pod.namespace}/{pod.name} has the annotation {pod.do_not_disrupt}"
            if pod.node in nodes:
                return f"node {pod.node} has the annotation {nodes[pod.node]}"
        return ""

    def _dry_run(self, victim: Pod, budgets: Sequence[PodDisruptionBudget]) -> Obstacle | None:
        answer: EvictionAnswer = self._cluster.evict(
            victim.namespace,
            victim.name,
            victim.uid,
            grace_period_seconds=self._settings.grace_period_seconds,
            dry_run=True,
        )
        name = f"{victim.namespace}/{victim.name}"
        match answer:
            case Evicted() | PodGone():
                return None
            case BudgetRefused(message=message, retry_after=seconds):
                recovering = self._recovering([b for b in budgets if b.selects(victim)])
                return Obstacle(f"{name}: {message}", bool(recovering), seconds, recovering)
            case Throttled(message=message, retry_after=seconds):
                return Obstacle(f"{name}: {message}", passing=True, wait=seconds)
            case TransientRefusal(message=message):
                return Obstacle(f"{name}: {message}", passing=True)
            case PermanentRefusal(message=message):
                return Obstacle(f"{name}: {message}")
        assert_never(answer)

    def _sum(self, victims: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> Obstacle | None:
        for budget in budgets:
            needed = sum(1 for v in victims if budget.selects(v) and counts_against(v, budget))
            if needed > budget.disruptions_allowed:
                allowed = counted(budget.disruptions_allowed, "disruption")
                verb = "is" if needed == 1 else "are"
                why = f"PodDisruptionBudget {budget.namespace}/{budget.name} allows {allowed}, {needed} {verb} needed"
                recovering = self._recovering([budget])
                return Obstacle(why, bool(recovering), budgets=recovering)
        return None

    def _recovering(self, budgets: Sequence[PodDisruptionBudget]) -> frozenset[Key]:
        """Return those that may soon allow more: a pod of theirs is leaving or not Ready yet, or their status is old."""
        unsettled = [p for p in self._follower.view.pods() if p.active and (p.terminating or not p.ready)]
        found = frozenset((b.namespace, b.name) for b in budgets if not b.observed or any(map(b.selects, unsettled)))
        return found - self._hopeless
