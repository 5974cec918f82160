"""Text from outside as one harmless line: the first step of every escaping, whatever the medium.

Names, kinds and messages come from the cluster, so whoever may create a pod chooses them. A control character could
move a terminal's cursor, a bidirectional override could make a name read as another, and neither is allowed in XML.
"""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: No name that Kubernetes accepts is longer; anything beyond is a message or an attack.
LONGEST = 400


def visible(text: str, most: int = LONGEST) -> str:
    """Return ``text`` on one line, invisible characters spelled out, at most ``most`` characters of it."""
    return clip(" ".join("".join(spelled(c) for c in text[: 4 * most]).split()), most)


def clip(text: str, most: int) -> str:
    """Return ``text``, its middle replaced by an ellipsis where it is longer than ``most``: both ends tell names apart."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def spelled(character: str) -> str:
    """Return ``character``, or its escape sequence where it is invisible."""
    if character in " \t\n\r":
        return " "
    return f"\\u{ord(character):04x}" if unicodedata.category(character) in _INVISIBLE else character
