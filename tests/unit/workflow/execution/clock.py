"""Virtual time: nothing waits, and everything that was to happen meanwhile happens in order."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


class VirtualClock:
    """A Clock whose sleep advances the time and runs what was scheduled until then."""

    def __init__(self, start: datetime = START) -> None:
        self._start, self._elapsed = start, 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._ids = count()
        self.running = False

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def at(self, delay: float, action: Callable[[], None]) -> None:
        """Run ``action`` once ``delay`` seconds have passed."""
        heapq.heappush(self._due, (self._elapsed + delay, next(self._ids), action))

    def until_next(self) -> float | None:
        """Return the seconds until something happens, or None."""
        return max(self._due[0][0] - self._elapsed, 0.0) if self._due else None

    def advance(self, seconds: float) -> None:
        end = self._elapsed + seconds
        while self._due and self._due[0][0] <= end:
            when, _, action = heapq.heappop(self._due)
            self._elapsed = max(self._elapsed, when)
            action()
        self._elapsed = max(self._elapsed, end)

    def jump(self, seconds: float) -> None:
        """Move the wall clock alone, as an administrator or NTP would."""
        self._start += timedelta(seconds=seconds)
