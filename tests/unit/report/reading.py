"""Read Markdown as a forge does: what is shown, and which raw HTML reaches the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: The only raw HTML our templates write; everything else would have come from outside.
OURS = re.compile(
    r"(?:<!-- repack-gitops:[A-Za-z0-9+/=]+ -->|</?details>|<summary>[A-Za-z0-9 ,.;()'-]+</summary>|</?code>|<br>|\s)*"
)
ZERO_WIDTH = "\u200b"


def tokens(text: str) -> list[Token]:
    """Return all tokens, children in place of their parents."""

    def flat(found: list[Token]) -> Iterator[Token]:
        for token in found:
            if token.children is None:
                yield token
            else:
                yield from flat(token.children)

    return list(flat(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)))


def raw_html(text: str) -> list[str]:
    """Return every piece of raw HTML in ``text``."""
    return [t.content for t in tokens(text) if t.type in ("html_block", "html_inline")]


def shown(text: str) -> str:
    """Return what a reader sees, without the zero-width spaces."""
    visible = (t.content for t in tokens(text) if t.type in ("text", "code_inline", "fence", "text_special"))
    return "".join(visible).replace(ZERO_WIDTH, "")


def problems(text: str) -> list[str]:
    """Return what is broken in the Markdown of ``text``: raw HTML from outside, unbalanced folds, ragged tables."""
    foreign = [html for html in raw_html(text) if not OURS.fullmatch(html)]
    markup = "".join(raw_html(text))
    found = [f"raw HTML {html!r}" for html in foreign]
    if markup.count("<details>") != markup.count("</details>") or markup.count("<summary>") != markup.count("</summary>"):
        found.append("unbalanced details")
    found += [f"link to {t.attrs['href']}" for t in tokens(text) if t.type == "link_open" and _foreign(str(t.attrs["href"]))]
    found += [f"image {t.attrs['src']}" for t in tokens(text) if t.type == "image" and _foreign(str(t.attrs["src"]))]
    return found + _ragged(text)


def _foreign(address: str) -> bool:
    return not re.match(r"https://git\.example\.com/|(?:\.\./)*policies/|[a-z.]+\.(?:yaml|md|svg)$", address)


def _ragged(text: str) -> list[str]:
    """Forges drop surplus cells silently, so a pipe that got through would shift or hide a column."""
    found, width = [], 0
    for line in text.split("\n"):
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells and width and cells != width:
            found.append(f"ragged row {line!r}")
        width = cells
    return found
