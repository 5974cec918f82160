"""What is wrong with a document, where, and what to do: the one form in which all checks of documents answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from repack_gitops.errors import InvalidInput

#: Keys and indexes from the document's root down to a value.
Path = tuple[str | int, ...]

MAX_SHOWN = 20
_BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    line, column
        Where, counted from 1.
    path
        The field; empty for the document as a whole.
    message
        What is wrong and why.
    advice
        What to write instead.
    """

    line: int
    column: int
    path: Path
    message: str
    advice: str = ""

    def located(self, source: str) -> str:
        """Return ``source:line:column: field: message``."""
        field = f"{format_path(self.path)}: " if self.path else ""
        return f"{source}:{self.line}:{self.column}: {field}{self.message}"


class InvalidDocument(InvalidInput):
    """A document with everything that is wrong with it; ``problems`` are sorted by position."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column)))
        message, hint = _one(self) if len(self.problems) == 1 else _many(self)
        super().__init__(message, hint=hint)


def format_path(path: Path) -> str:
    """Return ``spec.goals[0].resource``; keys that are no plain short words stand in brackets and quotes."""
    text = ""
    for part in path:
        if isinstance(part, str) and _BARE_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{shown(part)}]"
    return text


def shown(value: object) -> str:
    """Return ``value`` as a message shows it: on one line, escaped, at most 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= 60 else text[:57] + "..."


def _one(error: InvalidDocument) -> tuple[str, str]:
    problem = error.problems[0]
    return problem.located(error.source), problem.advice or "Correct it, then run the same command again."


def _many(error: InvalidDocument) -> tuple[str, str]:
    lines = []
    for problem in error.problems[:MAX_SHOWN]:
        lines.append(problem.located(error.source))
        lines.extend([f"  {problem.advice}"] if problem.advice else [])
    hidden = len(error.problems) - MAX_SHOWN
    if hidden > 0:
        lines.append(f"{error.source}: {hidden} more problems are not shown")
    return "\n".join(lines), f"Correct these {len(error.problems)} problems, then run the same command again."
