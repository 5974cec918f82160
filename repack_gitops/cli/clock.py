"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Implements ``workflow.clock.Clock``."""

    def now(self) -> datetime:
        """Return the aware current time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
