"""Rules for single values that no pattern can say, by the name that a field's ``format`` gives them.

Each takes the text and raises FormatError, or returns. They cost microseconds to milliseconds and touch nothing but
the time zone database.
"""

from __future__ import annotations

import re
import warnings
import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlsplit

from croniter import croniter

from repack_gitops.model.duration import DurationError, parse_duration
from repack_gitops.model.quantity import is_device

_CORE = frozenset({"cpu", "memory", "ephemeral-storage", "storage", "pods"})
_RESOURCE = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_BRANCH = re.compile(
    r"(?!-)(?!.*(\.\.|//|/\.|@\{|\.lock(/|$)))[^\s~^:?*\[\\\x00-\x1f\x7f./][^\s~^:?*\[\\\x00-\x1f\x7f]*(?<![./])"
)
_CRON_NAMES = ("minute", "hour", "day of month", "month", "day of week")
# croniter's H and R fields are left out: they name another time on every machine.
_CRON_FIELD = re.compile(
    r"(?:[0-9]{1,2}|[*/,#?L-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)+", re.IGNORECASE
)
_CRON_NOISE = re.compile(r"^(\[.*?\] )?is not acceptable[.,]? *")
# Any moment does; this one begins four years that hold a 29 February.
_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
# These name whatever the machine at hand is set to, not a zone.
_NO_ZONES = frozenset({"localtime", "posixrules", "Factory"})

_RESOURCE_ADVICE = "Name an extended resource as nodes report it, such as nvidia.com/gpu or huawei.com/ascend-1980."
_CRON_ADVICE = 'Write minute, hour, day of month, month and day of week, such as "0 2 * * 1-5".'


class FormatError(ValueError):
    """A value breaks its format's rule.

    Parameters
    ----------
    message
        What is wrong, to be read after the value.
    advice
        What to write instead.
    secret
        Whether the value must not be shown.
    """

    def __init__(self, message: str, advice: str = "", *, secret: bool = False) -> None:
        super().__init__(message)
        self.advice = advice
        self.secret = secret


def check_resource(name: str) -> None:
    """Require a fully qualified extended resource."""
    if name in _CORE or name.startswith("hugepages-"):
        raise FormatError("is a core resource; only devices such as GPUs and NPUs are rearranged", _RESOURCE_ADVICE)
    if "/" not in name:
        raise FormatError("is not fully qualified: it has no domain and no /", _RESOURCE_ADVICE)
    if not is_device(name):
        raise FormatError("belongs to Kubernetes itself, which does not count it in devices", _RESOURCE_ADVICE)
    if name.startswith("requests.") or not _RESOURCE.fullmatch(name):
        raise FormatError("is not the name of an extended resource", _RESOURCE_ADVICE)


def check_duration(text: str) -> None:
    """Require a duration above zero."""
    check_pause(text)
    if parse_duration(text) == 0:
        raise FormatError("is no time at all", "Write a duration above zero.")


def check_pause(text: str) -> None:
    """Require a duration; zero is one."""
    try:
        parse_duration(text)
    except DurationError as error:
        advice = "Write whole numbers with d, h, m, s or ms, the largest unit first, such as 1h30m."
        raise FormatError(str(error), advice) from error


def check_cron(text: str) -> None:
    """Require five cron fields that come true some day."""
    fields = text.split()
    if len(fields) != 5:
        raise FormatError(f"is not a cron schedule: 5 fields are needed, this has {len(fields)}", _CRON_ADVICE)
    for name, field in zip(_CRON_NAMES, fields, strict=True):
        if not _CRON_FIELD.fullmatch(field):
            raise FormatError(f"is not a cron schedule: {field[:20]} is no {name}", _CRON_ADVICE)
    try:
        croniter(text, _EPOCH).get_next()
    except ValueError as error:
        reason = (
            "it never comes true"
            if "next date" in str(error)
            else _CRON_NOISE.sub("", str(error)) or "a field is not understood"
        )
        raise FormatError(f"is not a cron schedule: {reason}", _CRON_ADVICE) from error


def check_time_zone(name: str) -> None:
    """Require a time zone that this machine knows."""
    try:
        if name in _NO_ZONES:
            raise ValueError
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        near = get_close_matches(name, zoneinfo.available_timezones() - _NO_ZONES, n=1)
        advice = f"Did you mean {near[0]}?" if near else "Write an IANA time zone, such as Europe/Berlin."
        raise FormatError("is not a time zone", advice) from None


def check_regular_expression(text: str) -> None:
    """Require a regular expression that Python compiles without doubts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(text)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise FormatError(f"is not a regular expression: {error}", "See docs.python.org/3/library/re.html.") from error


def check_time(text: str) -> None:
    """Require an RFC 3339 time."""
    try:
        if not _TIME.fullmatch(text):
            raise ValueError
        datetime.fromisoformat(text.upper())
    except ValueError:
        raise FormatError("is not an RFC 3339 time", "Write a time such as 2026-07-30T10:00:00Z.") from None


def check_web_url(text: str) -> None:
    """Require an http or https URL without credentials."""
    if re.search("^[^/]*//[^/]*@", text):
        raise FormatError("contains credentials", "Remove them; tokens come from the environment.", secret=True)
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if text and (not valid or re.search(r"[\s\x00-\x1f]", text)):
        raise FormatError("is not a web address", "Write a URL such as https://git.example.com.")


def check_git_branch(text: str) -> None:
    """Require what ``git check-ref-format --branch`` accepts."""
    if text == "@" or not _BRANCH.fullmatch(text):
        raise FormatError("is not a branch name", "Write the name of a branch, such as main.")


FORMATS: Final[dict[str, Callable[[str], None]]] = {
    "cron": check_cron,
    "date-time": check_time,
    "duration": check_duration,
    "extended-resource": check_resource,
    "git-branch": check_git_branch,
    "pause": check_pause,
    "regular-expression": check_regular_expression,
    "time-zone": check_time_zone,
    "web-url": check_web_url,
}
