"""Lines as the text a terminal shows; the same lines give the same bytes, whatever the environment."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from repack_gitops.report.terminal import Look


def printed(parts: Sequence[Sequence[Text]], look: Look, *, colour: bool) -> str:
    """Return ``parts`` with a blank line between them."""
    output = io.StringIO()
    # An empty environment: NO_COLOR, TERM and COLUMNS are the caller's business, or the bytes would depend on them.
    console = Console(
        file=output,
        width=look.width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    for i, part in enumerate(parts):
        if i:
            console.print(Text())
        for line in part:
            console.print(line)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"
