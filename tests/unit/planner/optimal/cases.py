"""Random clusters that are fragmented and small enough for brute force, under limits of every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner import evaluate
from repack_gitops.planner.fragmentation import fragmentation
from tests.unit.planner.budgets import with_budgets
from tests.unit.planner.build import GPU
from tests.unit.planner.random_clusters import SHAPES, Case, shaped_case
from tests.unit.planner.random_safety import safety_case

OPTIMAL = PlannerOptions(strategy="Optimal")


@dataclass(frozen=True)
class Question:
    """What a planner is asked, with a label for failures."""

    label: str
    snapshot: ClusterSnapshot
    spec: RunTemplateSpec
    options: PlannerOptions

    def answer(self) -> Evaluation:
        """Return the planner's evaluation."""
        return evaluate(self.snapshot, self.spec, self.options)

    def by(self, strategy: str) -> Question:
        """Return the same question to another strategy."""
        return replace(self, options=replace(self.options, strategy=strategy))


def fragmented(seed: int, *, related: float = 0.04) -> Question:
    """Return fragmented cluster number ``seed``; every third has PodDisruptionBudgets, every third safety options."""
    random = Random(seed)
    while True:
        shape = random.choice(SHAPES)
        shape = replace(shape, nodes=(3, 6), fill=0.35, related=related, immovable=0.04)
        case = shaped_case(random.randrange(10**9), shape)
        asked = _asked(seed, case)
        found = fragmentation(asked.snapshot, GPU)
        if found.occupied > found.optimal:
            return asked


def _asked(seed: int, case: Case) -> Question:
    label = f"seed {seed}"
    if seed % 3 == 1:
        case = with_budgets(case)
        return Question(label, case.snapshot, case.spec, replace(OPTIMAL, enforce_budgets=True))
    if seed % 3 == 2:
        snapshot, options = safety_case(case)
        return Question(label, snapshot, case.spec, replace(options, strategy="Optimal"))
    return Question(label, case.snapshot, case.spec, OPTIMAL)
