"""Pure planning: snapshot and spec in, Evaluation out."""

from repack_gitops.model.options import Envelope, PlannerOptions
from repack_gitops.planner.evaluate import evaluate

__all__ = ["Envelope", "PlannerOptions", "evaluate"]
