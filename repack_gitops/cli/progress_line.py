"""One line on a terminal, rewritten in place and gone when it is done."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TextIO

#: Columns of a terminal that does not say how many it has.
_COLUMNS = 80


class ProgressLine:
    """A line on ``stream``, which is a terminal; whoever stopped reading it must not stop the work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._shown = stream, ""

    @property
    def unicode(self) -> bool:
        """Whether the terminal shows more than ASCII."""
        return (self._stream.encoding or "").lower().replace("-", "") == "utf8"

    def show(self, text: str) -> None:
        """Show ``text``, as far as there is room, instead of what was shown."""
        # The last column stays free: a terminal may begin a new line once it is written to.
        text = text[: self._width() - 1]
        if text != self._shown:
            self._write("\r" + text.ljust(len(self._shown)))
            self._shown = text

    def erase(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()

    def _width(self) -> int:
        with suppress(OSError):
            return os.get_terminal_size(self._stream.fileno()).columns or _COLUMNS
        return _COLUMNS
