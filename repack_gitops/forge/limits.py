"""Rate limits: when a forge says to come back later, and when later is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

# GitHub's advice for a limit that names no time.
_UNSPECIFIED = 60.0
_RESETS = ("x-ratelimit-reset", "ratelimit-reset")
_REMAINING = ("x-ratelimit-remaining", "ratelimit-remaining")


def is_limit(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Tell whether an answer means "not so fast" rather than "not allowed"; GitHub answers 403 for both.

    Parameters
    ----------
    status
        HTTP status.
    headers
        With lower-case names.
    message
        What the forge said.
    """
    if status == 429:
        return True
    exhausted = any(headers.get(name) == "0" for name in _REMAINING)
    spoken = any(word in message.lower() for word in ("rate limit", "abuse detection", "too many requests"))
    return status == 403 and ("retry-after" in headers or exhausted or spoken)


def wait_asked_for(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the headers ask to wait, at least one; None if they do not say."""
    if "retry-after" in headers:
        return _at_least_one(_retry_after(headers["retry-after"], now))
    if any(headers.get(name) == "0" for name in _REMAINING):
        resets = [_number(headers[name]) for name in _RESETS if name in headers]
        return _at_least_one(resets[0] - now if resets and resets[0] else None)
    return None


def wait_for_limit(headers: Mapping[str, str], now: float) -> float:
    """Return the seconds to wait at a limit."""
    return wait_asked_for(headers, now) or _UNSPECIFIED


def _retry_after(value: str, now: float) -> float | None:
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _at_least_one(seconds: float | None) -> float | None:
    return None if seconds is None else max(1.0, seconds)
