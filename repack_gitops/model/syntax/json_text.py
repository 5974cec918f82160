"""Reads JSON with positions, which the standard library does not give."""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from repack_gitops.model.syntax.scalars import Trap, read_word
from repack_gitops.model.syntax.tree import Mark, TreeBuilder

_TOKEN = re.compile(r'[ \t\r\n:,]*([{}\[\]"]|[^ \t\r\n:,{}\[\]"]+)')
_SURROGATE = re.compile("[\ud800-\udfff]")
_ADVICE = "Correct the JSON here or just before."


class NotJsonError(ValueError):
    """The text does not follow JSON's grammar."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.mark = mark


def read_json(text: str) -> TreeBuilder:
    """Return the document in ``text``.

    Raises
    ------
    NotJsonError
        When the text is not JSON.
    UnreadableError
        When it exceeds the limits of ``tree``.
    """
    try:
        # Numbers are read below; here thousands of digits must not cost anything.
        json.loads(text, parse_int=len, parse_float=len, parse_constant=len)
    except json.JSONDecodeError as error:
        raise NotJsonError(error.msg, (error.lineno, error.colno)) from error
    except RecursionError:
        pass  # the walk below stops at the place where the nesting gets too deep
    return _walk(text)


def _walk(text: str) -> TreeBuilder:
    """Take the tokens of valid JSON; commas and colons carry no information then."""
    builder = TreeBuilder()
    lines = [0, *(m.end() for m in re.finditer("\n", text))]
    offset = 0
    while token := _TOKEN.match(text, offset):
        start, offset = token.span(1)
        line = bisect_right(lines, start)
        offset = _take(builder, text, token[1], offset, (line, start - lines[line - 1] + 1))
    return builder


def _take(builder: TreeBuilder, text: str, token: str, offset: int, mark: Mark) -> int:
    match token:
        case "{":
            builder.open({}, mark)
        case "[":
            builder.open([], mark)
        case "}" | "]":
            builder.close()
        case '"':
            value, offset = json.JSONDecoder().raw_decode(text, offset - 1)
            builder.scalar(value, mark, trap=_half_character(value))
        case "NaN" | "Infinity" | "-Infinity":
            builder.stop_text(mark, f"is not JSON: {token} is no number", "Write a whole number.")
        case _:
            word, trap = read_word(token)  # JSON's words and numbers are a subset of YAML's
            builder.scalar(word, mark, trap=trap)
    return offset


def _half_character(value: str) -> Trap | None:
    if _SURROGATE.search(value):
        advice = "Write both halves, or the character."
        return Trap("contains half of a surrogate pair, which is no character", advice, final=True)
    return None
