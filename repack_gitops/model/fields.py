"""The vocabulary of our documents: names, labels, counts and times, with their limits.

Each is a type and, at the same time, a piece of the published schema. Editors and our own reader show
``patternErrorMessage``; ``format`` names a rule of ``model.formats``.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_QUALIFIED = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_MAX_INT32 = 2**31 - 1

Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=253,
        pattern=f"^{_SUBDOMAIN}$",
        description="A Kubernetes name, such as nightly-a100.",
        extra_json_schema={
            "patternErrorMessage": "is not a Kubernetes name: lower-case letters, digits, - and ., no - or . at the ends"
        },
    ),
]
Resource = Annotated[
    str,
    Meta(
        max_length=317,
        pattern=r"^[^/]+/[^/]+$",
        description="A fully qualified extended resource, such as nvidia.com/gpu or huawei.com/ascend-1980.",
        extra_json_schema={"format": "extended-resource", "patternErrorMessage": "is not a fully qualified resource"},
    ),
]
PodGroupName = Annotated[
    str,
    Meta(
        max_length=317,
        pattern=f"^[a-z0-9]([-a-z0-9]*[a-z0-9])?/{_SUBDOMAIN}$",
        description="namespace/name of a PodGroup, such as team-a/train-7.",
        extra_json_schema={"patternErrorMessage": "is not the namespace/name of a PodGroup"},
    ),
]
LabelKey = Annotated[
    str,
    Meta(
        max_length=317,
        pattern=f"^({_SUBDOMAIN}/)?{_QUALIFIED}$",
        extra_json_schema={
            "patternErrorMessage": "is not a label key: at most 63 letters, digits, -, _ and ., after an optional domain and /"
        },
    ),
]
LabelValue = Annotated[
    str,
    Meta(
        max_length=63,
        pattern=f"^({_QUALIFIED})?$",
        extra_json_schema={
            "patternErrorMessage": "is not a label value: letters, digits, -, _ and ., a letter or digit at the ends"
        },
    ),
]
Percent = Annotated[int, Meta(ge=0, le=100)]
Count = Annotated[int, Meta(ge=0, le=_MAX_INT32)]
Priority = Annotated[int, Meta(ge=-_MAX_INT32 - 1, le=_MAX_INT32)]
Seconds = Annotated[int, Meta(ge=0, le=_MAX_INT32, description="Seconds.")]
Timestamp = Annotated[str, Meta(description="RFC 3339 time.", extra_json_schema={"format": "date-time"})]
Labels = dict[LabelKey, LabelValue]
Annotations = dict[LabelKey, str]
UNIQUE: Final = {"uniqueItems": True}


_UNITS = r"^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
Duration = Annotated[
    str,
    Meta(
        min_length=2,
        max_length=64,
        pattern=_UNITS,
        description="A duration such as 90s, 10m, 1h30m or 7d.",
        extra_json_schema={"format": "duration", "patternErrorMessage": "is not a duration such as 90s, 10m, 1h30m or 7d"},
    ),
]
Pause = Annotated[
    str,
    Meta(
        min_length=2,
        max_length=64,
        pattern=_UNITS,
        description="A duration such as 90s, 10m, 1h30m or 7d; 0s is none.",
        extra_json_schema={"format": "pause", "patternErrorMessage": "is not a duration such as 90s, 10m, 1h30m, 7d or 0s"},
    ),
]
Cron = Annotated[
    str,
    Meta(
        max_length=256,
        description="Minute, hour, day of month, month and day of week, such as 0 2 * * 1-5.",
        extra_json_schema={"format": "cron"},
    ),
]
TimeZone = Annotated[
    str,
    Meta(max_length=64, description="An IANA time zone, such as Europe/Berlin.", extra_json_schema={"format": "time-zone"}),
]
Text = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        extra_json_schema={"patternErrorMessage": "contains a line break or another control character"},
    ),
]
