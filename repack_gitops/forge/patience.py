"""How long to wait for a forge, how often to ask again, and the clock and chance that decide it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds of one HTTP session; all times in seconds.

    Parameters
    ----------
    connect, read
        To connect, and between two pieces of an answer.
    whole_answer
        Until an answer has arrived completely.
    attempts
        How often a request is sent when failures pass.
    longest_wait
        How long one request may wait in all, for its own retries and because the forge asks for it.
    write_gap
        Between the starts of two writes: GitHub asks for at least one second.
    largest_answer
        Bytes of an answer after decompression.
    sleep, clock, now, jitter
        Waiting, a monotonic clock, seconds since 1970, a number in [0, 1).
    """

    connect: float = 10
    read: float = 60
    whole_answer: float = 180
    attempts: int = 4
    longest_wait: float = 120
    write_gap: float = 1.0
    largest_answer: int = 64 << 20
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random

    def backoff(self, attempt: int) -> float:
        """Return how long to wait after failure number ``attempt`` (from 1): 1, 2, 4 ... 30, half of it by chance."""
        return min(30.0, 2.0 ** (attempt - 1)) * (0.5 + self.jitter() / 2)
