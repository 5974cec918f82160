"""Bounded polling, the only way in which a test waits for something real."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(what: str, ready: Callable[[], T | None], seconds: float = 60, every: float = 0.1) -> T:
    """Call ``ready`` until it returns something true, and return that.

    Parameters
    ----------
    what
        The name of what is awaited, for the error.
    ready
        Looks once, without waiting.
    seconds
        How long to go on.
    every
        Pause between two looks, in seconds.

    Raises
    ------
    TimeoutError
        Nothing true came back in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = ready()
        if found:
            return found
        if time.monotonic() >= deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(every)
