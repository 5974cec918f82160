"""What an unquoted YAML word means, and which words must not be left unquoted.

The meaning is YAML 1.2's core schema, without fractions. Whatever a YAML 1.1 reader (PyYAML, kubectl) would read
differently is a trap: the same file must mean the same to us, to kubectl and to the reviewer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Scalar = str | int | bool | None

# An int64 has at most 19 digits; more are no quantity of ours, and thousands are a denial of service in Python.
_MAX_DIGITS = 18

_WORD = re.compile(
    r"""
      (?P<null>      ~|null|Null|NULL|)
    | (?P<true>      true|True|TRUE)
    | (?P<false>     false|False|FALSE)
    | (?P<integer>   [-+]?(?:0|[1-9][0-9]*))
    | (?P<yes>       y|Y|yes|Yes|YES|on|On|ON)
    | (?P<no>        n|N|no|No|NO|off|Off|OFF)
    | (?P<radix>     [-+]?0[0-9_]+|[-+]?0[xXoObB][0-9a-fA-F_]*)
    | (?P<base60>    [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)
    | (?P<fraction>  [-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))
    | (?P<grouped>   [-+]?(?:[0-9][0-9_]*)?\.?[0-9_]*(?:[eE][-+]?[0-9]+)?)
    | (?P<date>      [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}.*)?)
    | (?P<merge>     <<)
    | (?P<default>   =)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Trap:
    """Why a word is refused, and what to write instead; ``final`` where quotes would not make it right."""

    message: str
    advice: str
    final: bool = False


def read_word(text: str) -> tuple[Scalar, Trap | None]:
    """Return the value of the unquoted ``text``, and the trap it is, if it is one (its value is then the text)."""
    match = _WORD.fullmatch(text)
    kind = match.lastgroup if match else None
    if kind is None:
        return text, None
    if kind in _PLAIN:
        return _PLAIN[kind], None
    if kind == "integer" and len(text.lstrip("+-")) <= _MAX_DIGITS:
        return int(text), None
    message, advice = _TRAPS[kind]
    return text, Trap(f"{text[:40]} {message}", advice.format(quoted=f'"{text[:40]}"'), final=kind == "merge")


def must_be_quoted(text: str) -> bool:
    """Tell whether some YAML reader takes the unquoted ``text`` for something else than text."""
    return _WORD.fullmatch(text) is not None


_PLAIN: dict[str, Scalar] = {"null": None, "true": True, "false": False}

_TRAPS = {
    "integer": ("has too many digits for a number", "Write {quoted} in quotes if it is text."),
    "yes": ("without quotes is true to kubectl and text to others", "Write {quoted} in quotes for text, or true."),
    "no": ("without quotes is false to kubectl and text to others", "Write {quoted} in quotes for text, or false."),
    "radix": (
        "without quotes is one number to some readers and another to others",
        "Write {quoted} in quotes for text, or a decimal number without leading zeros.",
    ),
    "base60": ("without quotes is a number in base 60 to some readers", "Write {quoted} in quotes."),
    "fraction": (
        "is a number with a fraction or exponent, which no field takes",
        "Write {quoted} in quotes for text, or a whole number.",
    ),
    "grouped": (
        "without quotes is a number to some readers and text to others",
        "Write {quoted} in quotes for text, or a number without underscores.",
    ),
    "date": ("without quotes is a date to some readers and text to others", "Write {quoted} in quotes."),
    "merge": ("is a merge key, which YAML 1.2 no longer has", "Write the fields out."),
    "default": ("has a special meaning to some readers", "Write {quoted} in quotes."),
}
