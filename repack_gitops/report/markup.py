"""Markdown from parts: every text from outside is escaped here, so that it can only ever be read.

Escaping is by numeric entities rather than backslashes: entities cannot take part in Markdown's structure, survive
table cells, and mean the same to GitHub, Gitea and GitLab. Forges link ``@name``, ``#1`` and addresses after entities
are decoded, so those are also broken by a zero-width space, which shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from repack_gitops.report.plain import visible

_PLAIN_CODE = re.compile(r"[A-Za-z0-9 ._/:=,()%+-]+")
_SPECIAL = re.compile(r"(?P<links>[@#]|!(?=\d)|:(?=//)|(?<=www)\.|(?<=GH)-(?=\d))|[\\`*_\[\]<>|~&$]", re.IGNORECASE)
_BLOCK_START = re.compile(r"[-+=:]|\d+[.)]")
_ADDRESS = re.compile(r"(?:https?://|(?![a-zA-Z][a-zA-Z0-9+.-]*:))")


def code(text: str) -> str:
    """Return ``text`` as inline code: a plain code span where it is an ordinary name, entities in ``<code>`` otherwise."""
    shown = visible(text)
    if not shown:
        return "–"
    if _PLAIN_CODE.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{_escaped(shown)}</code>"


def prose(text: str) -> str:
    """Return ``text`` as words of a sentence, without any meaning to Markdown, HTML or the forge."""
    shown = visible(text)
    return ("&#8203;" if _BLOCK_START.match(shown) else "") + _escaped(shown)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda m: f"{m[0]}&#8203;" if m["links"] else f"&#{ord(m[0])};", text)


def link(text: str, address: str) -> str:
    """Return a link shown as ``text`` (escaped Markdown); only relative and http(s) addresses become links."""
    if not _ADDRESS.match(address):
        return text
    return f"[{text}]({quote(address, safe=_SAFE_IN_ADDRESS)})"


def image(text: str, address: str) -> str:
    """Return an image; ``text`` is its plain description."""
    return "!" + link(prose(text), address) if _ADDRESS.match(address) else ""


_SAFE_IN_ADDRESS = "/:?#@!$&+,;=-._~%"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of escaped cells.

    Parameters
    ----------
    header
        Column titles; a trailing ``:`` aligns that column to the right.
    rows
        Cells that are Markdown already.
    """
    titles = [title.removesuffix(":") for title in header]
    rules = ["--:" if title.endswith(":") else ":--" for title in header]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows))


def bullets(items: Iterable[str]) -> str:
    """Return a list of escaped items."""
    return "\n".join(f"- {item}" for item in items)


def details(summary: str, body: str) -> str:
    """Return ``body`` collapsed under ``summary``, which is our own wording and never a text from outside."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def alert(kind: str, body: str) -> str:
    """Return a coloured note (``NOTE``, ``WARNING``, ``CAUTION``); a plain quotation where the forge has none."""
    return "\n".join(f"> {line}".rstrip() for line in [f"[!{kind}]", *body.split("\n")])


def shell(command: str) -> str:
    """Return ``command`` as a block to copy; the fence outgrows any backticks in it."""
    line = visible(command, 2000)
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{line}\n{fence}"
