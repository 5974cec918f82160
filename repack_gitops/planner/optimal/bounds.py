"""What no plan can beat, from one model or from several."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.planner.optimal.objective import LEVELS, Score


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds on the objective.

    Attributes
    ----------
    most
        No plan frees more nodes.
    solved
        Whether ``most`` is a model's optimum; else a limit on work cut the search for it.
    best
        No plan scores better, as far as this goes: values of the first levels of the objective.
    """

    most: int
    solved: bool = False
    best: tuple[int, ...] = ()

    def and_also(self, other: Bounds) -> Bounds:
        """Return what holds if both do: where the scores first differ, the worse one decides."""
        sharper = other if other.most < self.most or (other.most == self.most and other.solved) else self
        return Bounds(sharper.most, sharper.solved, max(self.best, other.best))

    def contradict(self, found: Score) -> bool:
        """Tell whether a plan is better than they allow: then the solver erred, and nothing it said counts."""
        return -found[0] > self.most or found[: len(self.best)] < self.best

    def settled(self, found: Score) -> tuple[str, ...]:
        """Return the levels of the objective, from the first on, in which ``found`` is as good as can be."""
        levels = []
        for level, value, least in zip(LEVELS, found, self.best, strict=False):
            if value != least:
                break
            levels.append(level)
        return tuple(levels)
