"""Writes documents as YAML that people review: one fact per line, and the same bytes for equal documents.

The subset written here is small: block style, words that every reader takes for text, and double-quoted text otherwise.
It does not depend on any library's version, and a plan of thousands of moves takes a fraction of a second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from repack_gitops.model.syntax.scalars import must_be_quoted

#: The order people expect; other fields follow as their struct names them.
_SPEC_ORDER: Final = ("mode", "scope", "goals", "maxPerRun", "eviction", "ttlSecondsAfterFinished")
# No indicator of YAML's grammar can arise from these: it begins with none, and no colon ends a word, no hash begins one.
_PLAIN: Final = re.compile(
    r"(?:[A-Za-z0-9_/]|\.(?=[A-Za-z0-9_]))(?:[A-Za-z0-9_./+=@%,;()'-]|[ :](?=[A-Za-z0-9_./+(]))*", re.ASCII
)
_INVISIBLE: Final = re.compile("[\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


def to_yaml(document: msgspec.Struct | Mapping[str, Any]) -> str:
    """Return ``document`` as YAML, ending in a line break.

    Parameters
    ----------
    document
        One of our structs, or plain data of mappings with text keys, lists, text, integers, booleans and None.

    Notes
    -----
    Fields stand in the order of their struct, ``mode`` first; free mappings such as labels are sorted; fields at their
    default are left out. No line is folded, and text is quoted wherever some YAML reader would take it for something
    else. Reading the result back gives an equal document.
    """
    data = document if isinstance(document, Mapping) else msgspec.to_builtins(document, order="deterministic")
    return "".join(_block(_ordered(data), ""))


def _ordered(data: Any) -> Any:
    """Put the spec of a run, or of a policy's runs, into the order of the guide."""
    if not isinstance(data, Mapping):
        return data
    moved = {name: _ordered(part) if name in ("spec", "runTemplate") else part for name, part in data.items()}
    if "goals" not in moved:
        return moved
    first = [name for name in _SPEC_ORDER if name in moved]
    return {name: moved[name] for name in [*first, *moved]}


def _block(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield f"{indent}{_text(key)}:"
            yield from _after(part, indent)
    elif isinstance(value, list) and value:
        for part in value:
            yield from _entry(part, indent)
    else:
        yield f"{indent}{_scalar(value)}\n"


def _after(value: Any, indent: str) -> Iterator[str]:
    """Yield what follows a key's colon."""
    if isinstance(value, Mapping | list) and value:
        yield "\n"
        yield from _block(value, indent + "  ")
    else:
        yield f" {_scalar(value)}\n"


def _entry(value: Any, indent: str) -> Iterator[str]:
    """Yield one entry of a list; its first line stands beside the dash."""
    lines = _block(value, indent + "  ")
    yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
    yield from lines


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    # Empty mappings and lists, numbers, booleans and null look the same in JSON.
    return json.dumps(value)


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and not must_be_quoted(value):
        return value
    return _INVISIBLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
