"""Keep secrets out of every text that leaves the process, in any form a tool may print them."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

MASK = "***"
# Shorter secrets would mask ordinary words; nothing that guards a forge is this short.
_SHORTEST = 4
# Below this, the base64 fragments of a secret are too short to be told from chance.
_SHORTEST_BASE64 = 8
_USERINFO = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/\s?#\"'<>]{1,4096}@")
_BASE64_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")


class Redactor:
    """Scrubs known secrets from text.

    Handles the secret itself, its URL-encoded, JSON-escaped and HTML-escaped forms, base64 (both alphabets) of any
    text that contains it, such as the ``user:secret`` of Basic authentication, and the userinfo part of any URL.

    Parameters
    ----------
    secrets
        The secrets to hide; empty and very short ones (under four characters) are ignored.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(sorted({s for s in secrets if len(s) >= _SHORTEST}))
        self._plain = _any_of(form for secret in self._secrets for form in _written_forms(secret))
        self._base64 = _any_of(f for s in self._secrets if len(s) >= _SHORTEST_BASE64 for f in _base64_forms(s))

    def __call__(self, text: str) -> str:
        """Return ``text`` with every known secret, and every URL's userinfo, replaced by ``***``."""
        if self._plain:
            text = self._plain.sub(MASK, text)
        if self._base64:
            text = _mask_whole_runs(self._base64, text)
        return _USERINFO.sub(rf"\1{MASK}@", text)

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def also(self, *secrets: str) -> Redactor:
        """Return a redactor that hides ``secrets`` too."""
        return Redactor((*self._secrets, *secrets))


def _any_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    # The longest form first: otherwise a secret that starts with another would be masked in part.
    ordered = sorted(set(forms), key=lambda form: (-len(form), form))
    return re.compile("|".join(_pattern(form) for form in ordered)) if ordered else None


def _pattern(form: str) -> str:
    # Percent escapes may be written in either case, digit by digit.
    return re.sub("%[0-9A-F]{2}", lambda match: f"(?i:{match[0]})", re.escape(form))


def _written_forms(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield html.escape(secret)
    yield from (quote(secret, safe=""), quote(secret), quote_plus(secret))


def _base64_forms(secret: str) -> Iterator[str]:
    # Base64 encodes three bytes at a time, so what precedes the secret decides which of three ways it is cut.
    raw = secret.encode()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
        first = (0, 2, 3)[offset]
        last = len(encoded) - (1 if (offset + len(raw)) % 3 else 0)
        yield encoded[first:last]
        yield encoded[first:last].replace("+", "-").replace("/", "_")


def _mask_whole_runs(pattern: re.Pattern[str], text: str) -> str:
    # The run around a hit is base64 of a text with the secret in it: its edges carry bits of the secret as well.
    kept, done = [], 0
    while match := pattern.search(text, done):
        start, end = match.span()
        while start > done and text[start - 1] in _BASE64_ALPHABET:
            start -= 1
        while end < len(text) and text[end] in _BASE64_ALPHABET:
            end += 1
        kept += [text[done:start], MASK]
        done = end
    return "".join([*kept, text[done:]])
