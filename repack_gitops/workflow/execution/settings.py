"""A policy's execution options as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repack_gitops.errors import Refused
from repack_gitops.model.duration import parse_duration
from repack_gitops.model.policy import RepackPolicy


@dataclass(frozen=True, slots=True)
class Settings:
    """How one run is executed; times in seconds."""

    steering: Literal["Nominate", "None"]
    eviction_timeout: float
    placement_timeout: float
    cooldown: int
    half_drained_nodes: int
    rejections: int
    grace_period_seconds: int | None


def settings_of(policy: RepackPolicy, grace_period_seconds: int | None) -> Settings:
    """Return the settings of ``policy``.

    Raises
    ------
    Refused
        For options this version cannot honour: they are refused, never silently replaced.
    """
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
    return Settings(
        steering="None" if execution.steering == "None" else "Nominate",
        eviction_timeout=parse_duration(execution.eviction_timeout) / 1000,
        placement_timeout=parse_duration(execution.placement_timeout) / 1000,
        cooldown=parse_duration(execution.cooldown) // 1000,
        half_drained_nodes=execution.abort_on.half_drained_nodes,
        rejections=execution.abort_on.rejections,
        grace_period_seconds=grace_period_seconds,
    )
