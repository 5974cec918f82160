"""A policy's execution options as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repack_gitops.model.duration import parse_duration
from repack_gitops.model.policy import RepackPolicy
from repack_gitops.policy.honoured import check_honoured


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
    check_honoured(policy)
    execution = policy.spec.execution
    return Settings(
        steering="None" if execution.steering == "None" else "Nominate",
        eviction_timeout=parse_duration(execution.eviction_timeout) / 1000,
        placement_timeout=parse_duration(execution.placement_timeout) / 1000,
        cooldown=parse_duration(execution.cooldown) // 1000,
        half_drained_nodes=execution.abort_on.half_drained_nodes,
        rejections=execution.abort_on.rejections,
        grace_period_seconds=grace_period_seconds,
    )
