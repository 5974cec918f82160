"""The secrets this process was given: what it prints about its own failures is scrubbed of them."""

from __future__ import annotations

import os

from repack_gitops.model.redaction import Redactor
from repack_gitops.report.plain import spelled

TOKEN = "REPACK_TOKEN"  # noqa: S105 - the name of a variable

_given: set[str] = set()


def remember(secret: str) -> None:
    """Scrub ``secret`` from now on."""
    _given.add(secret)


def scrubbed(text: str) -> str:
    """Return ``text`` without the secrets that were given, in any form, and without anybody's in a URL.

    Invisible characters are spelled out: names come from clusters, and a terminal obeys escape sequences.
    """
    clean = Redactor([*sorted(_given), os.environ.get(TOKEN, "").strip()])(text)
    return "\n".join("".join(spelled(c) for c in line) for line in clean.split("\n"))
