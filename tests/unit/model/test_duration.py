"""Durations as people write them."""

from __future__ import annotations

import pytest

from repack_gitops.model.duration import MAX_MILLISECONDS, DurationError, parse_duration


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("90s", 90_000),
        ("10m", 600_000),
        ("1h30m", 5_400_000),
        ("7d", 604_800_000),
        ("500ms", 500),
        ("1d2h3m4s5ms", 93_784_005),
        ("0s", 0),
        ("007s", 7_000),
        ("3650d", MAX_MILLISECONDS),
    ],
)
def test_durations(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "10", "10 m", "m", "-5m", "+5m", "1.5h", "5s1m", "1m1m", "10M", "1w", "10m\n", "٣m", "9" * 400 + "s", "1ms1s"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(DurationError, match="is not a duration"):
        parse_duration(text)


def test_no_duration_is_longer_than_ten_years() -> None:
    with pytest.raises(DurationError, match="is longer than ten years"):
        parse_duration("3650d1ms")
