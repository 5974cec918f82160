"""When a policy is due and when execution is allowed: every tick once, whole windows, also where clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from repack_gitops.model.plan import Fragmentation
from repack_gitops.model.policy import Trigger, Window, Windows
from repack_gitops.policy.due import cron_due, fragmentation_due, is_open, why_closed

BERLIN = ZoneInfo("Europe/Berlin")
QUARTER = timedelta(minutes=15)


def at(text: str) -> datetime:
    """Return a UTC time."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def ticks(schedule: str, zone: str, start: str, end: str, *, step: timedelta = QUARTER, late: float = 3.0) -> list[datetime]:
    """Return the moments at which a CronJob of period ``step``, some seconds late, finds the policy due."""
    trigger, now, found = Trigger(cron_schedule=schedule, time_zone=zone), at(start) + timedelta(seconds=late), []
    while now < at(end):
        if cron_due(trigger, now, step):
            found.append(now)
        now += step
    return found


@pytest.mark.parametrize(
    ("now", "due"),
    [
        ("2026-11-02T01:59:59", False),
        ("2026-11-02T02:00:00", True),
        ("2026-11-02T02:00:59.999999", True),
        ("2026-11-02T02:14:59.999999", True),
        ("2026-11-02T02:15:00", False),
    ],
)
def test_lookback_is_half_open(now: str, due: bool) -> None:
    assert cron_due(Trigger(cron_schedule="0 2 * * *"), at(now), QUARTER) is due


@pytest.mark.parametrize("late", [0.0, 0.5, 3.0, 59.0, 700.0])
@pytest.mark.parametrize("schedule", ["0 2 * * *", "7 2 * * *", "59 23 * * *"])
def test_each_daily_tick_is_seen_exactly_once(schedule: str, late: float) -> None:
    assert len(ticks(schedule, "UTC", "2026-11-02T00:00", "2026-11-09T00:00", late=late)) == 7


def test_each_tick_of_a_dense_schedule_is_seen() -> None:
    found = ticks("*/15 * * * *", "UTC", "2026-11-02T00:00", "2026-11-03T00:00")
    assert len(found) == 96


@pytest.mark.parametrize(("zone", "hour"), [("UTC", 2), ("Europe/Berlin", 1), ("Asia/Kolkata", 21), ("America/New_York", 7)])
def test_schedule_is_in_its_own_zone(zone: str, hour: int) -> None:
    """Two o'clock in Kolkata is 20:30 in UTC; an hourly CronJob sees it at 21:00."""
    found = ticks("0 2 * * *", zone, "2026-11-02T00:00", "2026-11-03T00:00", step=timedelta(hours=1))
    assert [f.hour for f in found] == [hour]


def test_spring_forward_runs_a_skipped_time_once_right_after_the_gap() -> None:
    """2026-03-29, 02:00 becomes 03:00: half past two does not exist."""
    found = ticks("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-30T12:00")
    assert [f.isoformat(timespec="minutes") for f in found] == ["2026-03-29T01:00+00:00", "2026-03-30T00:30+00:00"]


def test_spring_forward_leaves_other_times_alone() -> None:
    found = ticks("0 4 * * *", "Europe/Berlin", "2026-03-28T00:00", "2026-03-31T00:00")
    assert [f.hour for f in found] == [3, 2, 2]


def test_autumn_sees_a_time_that_occurs_twice_both_times() -> None:
    """2026-10-25, 03:00 becomes 02:00: half past two occurs twice, and a proposal made twice is the same proposal."""
    found = ticks("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", "2026-10-26T12:00")
    assert [f.isoformat(timespec="minutes") for f in found] == [
        "2026-10-25T00:30+00:00",
        "2026-10-25T01:30+00:00",
        "2026-10-26T01:30+00:00",
    ]


def test_autumn_leaves_other_times_alone() -> None:
    found = ticks("0 4 * * *", "Europe/Berlin", "2026-10-24T00:00", "2026-10-27T00:00")
    assert [f.hour for f in found] == [2, 3, 3]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-11-02"])
def test_hourly_schedule_over_a_change(day: str) -> None:
    assert len(ticks("0 * * * *", "Europe/Berlin", f"{day}T00:00", f"{day}T12:00")) == 12


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_the_zone_of_now_does_not_matter(day: str) -> None:
    """Arithmetic on local times is off by an hour across a change."""
    trigger = Trigger(cron_schedule="30 1 * * *", time_zone="Europe/Berlin")
    windows = Windows(allow=[Window(schedule="30 1 * * *", duration="2h", time_zone="Europe/Berlin")])
    for minutes in range(0, 360, 10):
        now = at(f"{day}T00:00") - timedelta(hours=2) + timedelta(minutes=minutes)
        local = now.astimezone(BERLIN)
        assert cron_due(trigger, now, timedelta(hours=1)) == cron_due(trigger, local, timedelta(hours=1)), now
        assert why_closed(windows, now) == why_closed(windows, local), now


def test_policy_without_schedule_is_never_due_by_time() -> None:
    assert not cron_due(Trigger(on_frag_above_percent=5), at("2026-11-02T02:00"), QUARTER)


def test_rare_schedules() -> None:
    assert ticks("0 0 29 2 *", "UTC", "2028-02-28T00:00", "2028-03-02T00:00")
    assert not ticks("0 0 29 2 *", "UTC", "2026-02-28T00:00", "2026-03-02T00:00")


@pytest.mark.parametrize(
    ("occupied", "threshold", "due"),
    [(3, 9, True), (3, 10, False), (3, 11, False), (2, 0, False), (3, 0, True), (10, None, False)],
)
def test_fragmentation_must_be_above(occupied: int, threshold: int | None, due: bool) -> None:
    """10 nodes provide it, 2 would do: 3 occupied are exactly 10 %."""
    trigger = Trigger(cron_schedule="0 0 1 1 *", on_frag_above_percent=threshold)
    assert fragmentation_due(trigger, Fragmentation(10, occupied, 2, exact=True)) is due


def test_fragmentation_compares_exactly() -> None:
    """1 of 3 nodes is 33.3 %: above 33, although both are shown as 33 %."""
    assert fragmentation_due(Trigger(on_frag_above_percent=33), Fragmentation(3, 2, 1, exact=True))


# ---- windows ----
NIGHT = Window(schedule="0 22 * * *", duration="8h", time_zone="Europe/Berlin")


def open_times(window: Window, start: str, end: str) -> list[datetime]:
    """Return every tenth minute at which ``window`` is open."""
    now, found = at(start), []
    while now < at(end):
        if is_open(window, now):
            found.append(now)
        now += timedelta(minutes=10)
    return found


@pytest.mark.parametrize(
    ("now", "open_"),
    [
        ("2026-11-02T20:59:59", False),
        ("2026-11-02T21:00:00", True),
        ("2026-11-02T23:30:00", True),
        ("2026-11-03T04:59:59.999999", True),
        ("2026-11-03T05:00:00", False),
    ],
)
def test_window_over_midnight(now: str, open_: bool) -> None:
    assert is_open(NIGHT, at(now)) is open_


@pytest.mark.parametrize("day", ["2026-03-28", "2026-10-24", "2026-11-02"])
def test_window_lasts_as_long_as_it_says_over_a_change(day: str) -> None:
    """Eight hours are eight hours, in the night that has seven, nine or eight of them."""
    found = open_times(NIGHT, f"{day}T12:00", (at(f"{day}T12:00") + timedelta(days=1)).isoformat()[:16])
    assert len(found) == 8 * 6
    assert found[-1] - found[0] == timedelta(hours=8) - timedelta(minutes=10)


def test_window_that_opens_in_the_gap_opens_after_it() -> None:
    window = Window(schedule="30 2 * * *", duration="1h", time_zone="Europe/Berlin")
    found = open_times(window, "2026-03-29T00:00", "2026-03-29T12:00")
    assert (found[0], len(found)) == (at("2026-03-29T01:00"), 6)


def test_no_windows_is_always() -> None:
    assert why_closed(Windows(), at("2026-11-02T09:00")) is None


def test_allow_closes_the_rest() -> None:
    rules = Windows(allow=[NIGHT, Window(schedule="0 12 * * 6", duration="1h")])
    assert why_closed(rules, at("2026-11-02T23:00")) is None
    assert why_closed(rules, at("2026-11-07T12:30")) is None
    assert why_closed(rules, at("2026-11-02T12:30")) == "none of windows.allow is open"


def test_deny_wins() -> None:
    freeze = Window(schedule="0 0 24 12 *", duration="14d")
    rules = Windows(allow=[NIGHT], deny=[freeze])
    why = why_closed(rules, at("2027-01-03T23:00"))
    assert why == "windows.deny 0 0 24 12 * (UTC) for 14d is in force"
    assert why_closed(rules, at("2027-01-07T23:00")) is None


def test_deny_alone_allows_the_rest() -> None:
    rules = Windows(deny=[Window(schedule="0 8 * * 1-5", duration="10h", time_zone="Europe/Berlin")])
    assert why_closed(rules, at("2026-11-02T09:00")) is not None
    assert why_closed(rules, at("2026-11-02T18:00")) is None
    assert why_closed(rules, at("2026-11-07T09:00")) is None


def test_window_longer_than_its_period_never_closes() -> None:
    assert len(open_times(Window(schedule="0 * * * *", duration="2h"), "2026-11-02T00:00", "2026-11-02T05:00")) == 30
