"""Names, UIDs and times that look as Kubernetes makes them, and are the same every time."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta

from examples.fleet import Hour, Object

#: When the snapshots were taken.
NOW = datetime(2026, 7, 30, 2, 0, 0, tzinfo=UTC)
#: The letters of generated suffixes: no vowels, no lookalikes.
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:16])


def uid(*parts: object) -> str:
    """Return the UID of the object that ``parts`` name."""
    return str(uuid.UUID(int=_number("uid", *parts), version=4))


def suffix(length: int, *parts: object) -> str:
    """Return a generated suffix such as ``x7k2p``."""
    number, letters = _number("suffix", *parts), ""
    for _ in range(length):
        number, letter = divmod(number, len(_SUFFIX))
        letters += _SUFFIX[letter]
    return letters


def digits(low: int, high: int, *parts: object) -> int:
    """Return a number in ``low .. high`` that depends on ``parts`` alone."""
    return low + _number("digits", *parts) % (high - low + 1)


def stamp(hour: Hour, seconds: int = 0) -> str:
    """Return the time ``hour`` hours before the snapshot, and ``seconds`` later."""
    moment = NOW - timedelta(hours=hour) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def metadata(kind: str, name: str, hour: Hour, namespace: str = "", **more: object) -> Object:
    """Return an object's metadata."""
    found: Object = {
        "creationTimestamp": stamp(hour, digits(0, 59, kind, namespace, name)),
        "name": name,
        "resourceVersion": str(digits(100_000_000, 999_999_999, "version", kind, namespace, name)),
        "uid": uid(kind, namespace, name),
        **{key: value for key, value in more.items() if value},
    }
    if namespace:
        found["namespace"] = namespace
    return found


def owner(api_version: str, kind: str, name: str, owner_uid: str) -> list[Object]:
    """Return the ownerReferences of an object controlled by ``kind`` ``name``."""
    reference = {"apiVersion": api_version, "blockOwnerDeletion": True, "controller": True}
    return [{**reference, "kind": kind, "name": name, "uid": owner_uid}]
