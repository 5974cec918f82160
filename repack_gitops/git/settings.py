"""Bounds of the git adapter, and its only two sources of surprise: sleeping and chance."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """How patient the adapter is.

    Parameters
    ----------
    executable
        Name or path of git.
    ca_file
        Certificate authorities to trust instead of the system's.
    local_timeout, network_timeout
        Seconds that one command may take.
    attempts
        How often a command that talks to the remote is tried when the network fails.
    sleep
        Waits that many seconds.
    jitter
        A number in [0, 1), so that several writers do not retry in step.
    """

    executable: str = "git"
    ca_file: Path | None = None
    local_timeout: float = 120
    network_timeout: float = 600
    attempts: int = 4
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
