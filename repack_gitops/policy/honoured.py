"""Options that policies may name and this version cannot honour: refused before anything is proposed, never replaced."""

from __future__ import annotations

from repack_gitops.errors import Refused
from repack_gitops.model.policy import RepackPolicy


def check_honoured(policy: RepackPolicy) -> None:
    """Raise Refused if ``policy`` asks for an execution that this version cannot do."""
    execution = policy.spec.execution
    if execution.steering == "Gate" or execution.fence != "None":
        raise Refused(
            f"policy {policy.metadata.name} asks for steering {execution.steering} and fence {execution.fence}, "
            "which this version cannot do",
            hint="Use steering Auto, Nominate or None, and fence None.",
        )
    if execution.max_parallel_nodes != 1:
        raise Refused(
            f"policy {policy.metadata.name} asks for maxParallelNodes {execution.max_parallel_nodes}",
            hint="This version frees one node at a time: set maxParallelNodes to 1.",
        )
