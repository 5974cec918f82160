"""Durations as people write them in policies, as integers of milliseconds."""

from __future__ import annotations

import re

#: Largest unit first; the order in which a duration is written.
_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_DURATION = re.compile(
    r"(?:(?P<d>\d{1,9})d)?(?:(?P<h>\d{1,9})h)?(?:(?P<m>\d{1,9})m)?(?:(?P<s>\d{1,9})s)?(?:(?P<ms>\d{1,12})ms)?", re.ASCII
)
#: Ten years; more is a typing error, and would not fit every clock.
MAX_MILLISECONDS = 3_650 * _UNITS["d"]


class DurationError(ValueError):
    """The text is not a duration."""


def parse_duration(text: str) -> int:
    """Return ``text`` in milliseconds.

    Parameters
    ----------
    text
        Whole numbers with the units d, h, m, s and ms, each at most once and the largest first: ``"90s"``, ``"10m"``,
        ``"1h30m"``, ``"7d"``, ``"500ms"``. ``"0s"`` is zero.

    Raises
    ------
    DurationError
        When the text is anything else, or more than ten years.
    """
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        raise DurationError("is not a duration such as 90s, 10m, 1h30m or 7d")
    total = sum(int(count) * _UNITS[unit] for unit, count in match.groupdict("0").items())
    if total > MAX_MILLISECONDS:
        raise DurationError("is longer than ten years")
    return total
