"""How long to wait between attempts."""

from __future__ import annotations

LONGEST_SECONDS = 30.0


def backoff(attempt: int, jitter: float) -> float:
    """Return the seconds to wait after failure number ``attempt`` (from 1): 1, 1.5, 2.25 ... 30, half of it by chance.

    Parameters
    ----------
    jitter
        A number from 0 to 1, drawn by the caller.
    """
    full = min(LONGEST_SECONDS, 1.5 ** (attempt - 1))
    return full * (0.5 + jitter / 2)
