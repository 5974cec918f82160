"""Trailers: the ``Key: value`` lines that end a commit message and make git the audit log."""

from __future__ import annotations

import re
from collections.abc import Iterable

from repack_gitops.errors import InvalidInput

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_LINE = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)")
# White space and control characters would end the line; bidirectional marks make a value look like another one.
_NOT_IN_A_VALUE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")

Trailers = tuple[tuple[str, str], ...]


def with_trailers(message: str, trailers: Iterable[tuple[str, str]]) -> str:
    """Return ``message`` with ``trailers`` as its last paragraph; empty values are left out.

    They always form a paragraph of their own: text of the message that looks like a trailer stays text.
    """
    lines = [f"{_checked_key(key)}: {clean}" for key, value in trailers if (clean := one_line(value))]
    parts = [part for part in (message.rstrip(), "\n".join(lines)) if part]
    return "\n\n".join(parts) + "\n"


def one_line(value: str) -> str:
    """Return ``value`` on a single line, without control characters and text-direction marks."""
    return _NOT_IN_A_VALUE.sub(" ", value).strip()


def parse_trailers(body: str) -> Trailers:
    """Return the trailers of a message body (the message without its subject), in order.

    The last paragraph counts if each of its lines is ``Key: value`` or, indented, continues the line before.
    """
    last = re.split(r"\n(?:[ \t]*\n)+", body.strip("\n").rstrip())[-1]
    found: list[tuple[str, str]] = []
    for line in last.split("\n"):
        match = _LINE.fullmatch(line)
        if match:
            found.append((match[1], match[2].strip()))
        elif found and line[:1] in (" ", "\t"):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            return ()
    return tuple(found)


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"{key!r} cannot be the key of a trailer", hint="Use letters, digits and '-' only.")
    return key
