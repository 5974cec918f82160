"""PodDisruptionBudgets for planner tests, random ones, and an Eviction API that takes no short cut."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod, PodDisruptionBudget
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.model.plan import PodMove, Step
from tests.unit.planner.random_clusters import Case


def pdb(name: str, allowed: int, app: str | None = None, **changes: Any) -> PodDisruptionBudget:
    """Return a budget of namespace ``team`` for pods labelled ``app`` (all pods unless given) that is observed and healthy.

    Unless ``changes`` says otherwise it demands 5 healthy pods of 10, so that it could allow 5.
    """
    made = PodDisruptionBudget(
        namespace="team",
        name=name,
        selector=LabelSelector.of({} if app is None else {"app": app}),
        disruptions_allowed=allowed,
        current_healthy=5 + allowed,
        desired_healthy=5,
        unhealthy_policy="IfHealthyBudget",
        observed=True,
        min_available=5,
        expected_pods=10,
    )
    return replace(made, **changes)


def steps_of(*nodes: tuple[str, list[Pod]]) -> tuple[Step, ...]:
    """Return a plan that empties ``nodes`` in this order; where to does not matter."""
    return tuple(Step(name, tuple(_move(p, name) for p in pods)) for name, pods in nodes)


def _move(pod: Pod, source: str) -> PodMove:
    return PodMove(pod.namespace, pod.name, pod.uid, pod.pod_group or "", pod.owner, source, "elsewhere", 1)


class EvictionApi:
    """What the API server answers, as its source has it: every budget is tried on every pod, nothing recovers."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._budgets = snapshot.budgets
        self.left: dict[Key, int] = {b.key: b.disruptions_allowed for b in snapshot.budgets}

    def evict(self, pod: Pod) -> int:
        """Return the HTTP status, and count the disruption where one is used up."""
        if pod.phase in ("Pending", "Succeeded", "Failed") or pod.terminating:
            return 201
        found = [b for b in self._budgets if b.selects(pod)]
        if len(found) > 1:
            return 500
        if not found or self._unhealthy_may_go(pod, found[0]):
            return 201
        key = found[0].key
        if not found[0].observed or self.left[key] == 0:
            return 429
        if self.left[key] < 0:
            return 403
        self.left[key] -= 1
        return 201

    @staticmethod
    def _unhealthy_may_go(pod: Pod, budget: PodDisruptionBudget) -> bool:
        if pod.ready:
            return False
        return budget.unhealthy_policy == "AlwaysAllow" or budget.current_healthy >= budget.desired_healthy > 0


_SELECTORS = (
    LabelSelector.of({"app": "x"}),
    LabelSelector.of({"app": "y"}),
    LabelSelector.of({"app": "z"}),
    LabelSelector.of({}, (Requirement("app", "In", ("x", "y")),)),
    LabelSelector.of({}, (Requirement("app", "NotIn", ("x",)),)),
    LabelSelector.of({}, (Requirement("app", "Exists"),)),
    LabelSelector.of({"app": "x", "other": "label"}),
    LabelSelector(),
    None,
)
_SPECS: tuple[dict[str, object], ...] = (
    {"min_available": 2},
    {"min_available": None, "max_unavailable": 1},
    {"min_available": None, "max_unavailable": 0},
    {"min_available": "100%"},
    {"min_available": "50%"},
    {"min_available": 99},
)


def random_budget(random: Random, name: str) -> PodDisruptionBudget:
    """Return a budget of any kind, most of them with some disruptions left."""
    allowed = random.choice((-1, 0, 0, 1, 1, 2, 3, 5))
    return pdb(
        name,
        allowed,
        namespace=random.choice(("team", "team", "other")),
        selector=random.choice(_SELECTORS),
        current_healthy=random.randint(0, 6),
        desired_healthy=random.randint(0, 4),
        expected_pods=random.randint(0, 8),
        unhealthy_policy=random.choice(("IfHealthyBudget", "AlwaysAllow")),
        observed=random.random() < 0.85,
        sync_failure=random.choice(
            ("",) * 6 + ("found no controllers for pod x", "jobs does not implement the scale subresource")
        ),
        **random.choice(_SPECS),
    )


def with_budgets(case: Case, most: int = 3) -> Case:
    """Return ``case`` with some random budgets, and some pods that are not Ready."""
    random = Random(case.seed)
    budgets = tuple(random_budget(random, f"b{i}") for i in range(random.randint(1, most)))
    pods = tuple(replace(p, ready=random.random() < 0.8) for p in case.snapshot.pods)
    snapshot = replace(case.snapshot, pods=pods, budgets=tuple(sorted(budgets, key=lambda b: b.key)))
    return replace(case, snapshot=snapshot)
