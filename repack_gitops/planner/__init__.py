"""Pure planning: snapshot and spec in, Evaluation out."""

from repack_gitops.planner.evaluate import evaluate
from repack_gitops.planner.options import Envelope, PlannerOptions

__all__ = ["Envelope", "PlannerOptions", "evaluate"]
