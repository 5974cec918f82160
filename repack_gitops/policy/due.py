"""When a policy is due, and when execution is allowed: pure functions of the given moment.

Schedules are read in their own time zone, all arithmetic is in UTC: across a change of clocks a window lasts as long as
it says. A local time that a change skips comes right after the gap; one that occurs twice is two ticks.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter

from repack_gitops.model.duration import parse_duration
from repack_gitops.model.plan import Fragmentation
from repack_gitops.model.policy import Trigger, Window, Windows


def cron_due(trigger: Trigger, now: datetime, lookback: timedelta) -> bool:
    """Tell whether a tick of the policy's schedule lies within ``lookback`` before ``now`` (aware).

    The lookback is the period of the CronJob that asks, so that every tick is seen once.
    """
    if trigger.cron_schedule is None:
        return False
    return _last_tick(trigger.cron_schedule, trigger.time_zone, now) > now.astimezone(UTC) - lookback


def fragmentation_due(trigger: Trigger, current: Fragmentation) -> bool:
    """Tell whether the fragmentation rate is above the policy's threshold."""
    return trigger.on_frag_above_percent is not None and current.rate * 100 > trigger.on_frag_above_percent


def why_closed(windows: Windows, now: datetime) -> str | None:
    """Return why execution is not allowed at ``now`` (aware), or None; deny wins, and no allow means always."""
    for window in windows.deny:
        if is_open(window, now):
            return f"windows.deny {window.schedule} ({window.time_zone}) for {window.duration} is in force"
    if windows.allow and not any(is_open(w, now) for w in windows.allow):
        return "none of windows.allow is open"
    return None


def is_open(window: Window, now: datetime) -> bool:
    """Tell whether the last opening of ``window`` still holds at ``now``."""
    return now < _last_tick(window.schedule, window.time_zone, now) + timedelta(milliseconds=parse_duration(window.duration))


def _last_tick(schedule: str, time_zone: str, now: datetime) -> datetime:
    """Return the schedule's last tick at or before ``now``, in UTC."""
    local = now.astimezone(ZoneInfo(time_zone))
    if croniter.match(schedule, local):
        return local.replace(second=0, microsecond=0).astimezone(UTC)
    previous: datetime = croniter(schedule, local).get_prev(datetime)
    return previous.astimezone(UTC)
