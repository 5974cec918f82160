"""What a strategy answers."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.model.plan import Frontier, Optimality
from repack_gitops.planner.drain import DrainResult


@dataclass(frozen=True, slots=True)
class Answer:
    """A plan; how good it is, and what less disruption would free, where the strategy knows."""

    result: DrainResult
    optimality: Optimality | None = None
    frontier: Frontier | None = None
