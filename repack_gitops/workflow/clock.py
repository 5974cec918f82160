"""Time as a port, so that no test waits for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time for records, monotonic time for deadlines."""

    def now(self) -> datetime:
        """Return the aware current time."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


def timestamp(moment: datetime) -> str:
    """Return RFC 3339 in UTC with whole seconds, as Kubernetes writes times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(moment: datetime) -> str:
    """Return RFC 3339 in UTC with microseconds, as Leases have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_timestamp(text: str) -> datetime:
    """Return the aware time of RFC 3339 ``text``."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
