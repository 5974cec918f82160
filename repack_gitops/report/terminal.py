"""Lines for a terminal of known width: columns, wrapping, bars, and an ASCII fallback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from repack_gitops.report.plain import clip, visible

_ASCII = str.maketrans({"→": "->", "…": "~", "■": "#", "□": ".", "·": "-"})
#: Nodes with more cards than this get a bar that is scaled down.
_LONGEST_BAR = 16
_GAP = 2
#: Columns that a clipped name needs to be told from others.
_LEGIBLE = 14


@dataclass(frozen=True, slots=True)
class Look:
    """How the terminal shows things; ``width`` in columns."""

    width: int
    unicode: bool

    def text(self, text: str, style: str = "", *, indent: int = 0) -> Text:
        """Return a text from anywhere as one harmless line."""
        return Text(" " * indent + self.characters(visible(text)), style=style)

    def characters(self, text: str) -> str:
        """Return ``text`` in characters that the terminal has."""
        if self.unicode:
            return text
        return text.translate(_ASCII).encode("ascii", "backslashreplace").decode()

    def bar(self, used: int, capacity: int) -> Text:
        """Return a node's cards, used ones first."""
        cells = min(capacity, _LONGEST_BAR)
        full = -(-used * cells // capacity) if capacity else 0
        return Text(self.characters("■" * min(full, cells) + "□" * (cells - full)), style="cyan")

    def paragraph(self, text: Text, indent: int, first: str = "") -> list[Text]:
        """Return ``text`` wrapped under ``indent`` columns, ``first`` in front of its first line."""
        lines = _wrapped(text.plain, self.width - indent)
        heads = [first.ljust(indent), *[" " * indent] * (len(lines) - 1)]
        return [Text.assemble(head, (line, text.style)) for head, line in zip(heads, lines, strict=True)]


def _wrapped(text: str, width: int) -> list[str]:
    """Break at blanks, and inside a word only where it is longer than a line."""
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        lines += [line] if line else []
        while cell_len(word) > width:
            lines.append(word[:width])
            word = word[width:]  # noqa: PLW2901 - the rest of the word is the next line's start
        line = word
    return [*lines, line]


def columns(
    rows: Sequence[Sequence[Text]], look: Look, *, right: frozenset[int], flexible: int, indent: int, optional: bool = False
) -> list[Text]:
    """Return rows with aligned columns.

    Parameters
    ----------
    right
        Columns aligned to the right.
    flexible
        The column whose texts are clipped in the middle when a row would be too wide.
    optional
        Whether that column is left out once clipping would leave too little to read.
    """
    widths = [max((cell_len(row[i].plain) for row in rows), default=0) for i in range(len(rows[0]))] if rows else []
    excess = indent + sum(widths) + _GAP * (len(widths) - 1) - look.width
    if rows and excess > 0:
        widths[flexible] -= excess
        if optional and widths[flexible] < _LEGIBLE:
            kept = [i for i in range(len(widths)) if i != flexible]
            aside = frozenset(kept.index(i) for i in right)
            return columns([[row[i] for i in kept] for row in rows], look, right=aside, flexible=0, indent=indent)
        widths[flexible] = max(widths[flexible], _LEGIBLE)
    return [_line(row, widths, right, indent, look) for row in rows]


def _line(row: Sequence[Text], widths: Sequence[int], right: frozenset[int], indent: int, look: Look) -> Text:
    line = Text(" " * indent)
    for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
        shown = Text(look.characters(clip(cell.plain, width)), style=cell.style) if cell_len(cell.plain) > width else cell
        space = " " * (width - cell_len(shown.plain))
        line.append_text(Text.assemble(space, shown) if i in right else Text.assemble(shown, space))
        line.append(" " * _GAP if i < len(widths) - 1 else "")
    line.rstrip()
    return line


def short_list(names: Sequence[str], width: int) -> str:
    """Return as many names as fit on a line, and the number of the others."""
    shown = ""
    for i, name in enumerate(names):
        rest = f" and {len(names) - i - 1:,} more" if i < len(names) - 1 else ""
        longer = f"{shown}, {name}" if shown else name
        if shown and len(longer + rest) > width:
            return f"{shown} and {len(names) - i:,} more"
        shown = longer
    return shown
