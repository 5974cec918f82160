"""A long text that must fit: whole sections give way, least important first, so Markdown is never cut apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a text.

    Attributes
    ----------
    forms
        The same content from complete to short, each whole Markdown by itself.
    name
        What the notice calls the part where it was shortened.
    """

    name: str
    forms: tuple[str, ...]


def whole(sections: Mapping[str, Section]) -> str:
    """Return all sections in their complete form."""
    return _joined([s.forms[0] for s in sections.values()])


def fitted(
    head: str, sections: Mapping[str, Section], order: Sequence[str], *, limit: int, notice: Callable[[str], str]
) -> str:
    """Return ``head`` and the sections, shortened until the text has at most ``limit`` characters.

    Parameters
    ----------
    sections
        In reading order, by key.
    order
        Keys in the order in which sections give way; a key's n-th mention takes that section's n-th shorter form, and
        beyond its shortest form the section is left out.
    notice
        Makes the note that follows ``head`` once anything was shortened, from the names of what was.

    Raises
    ------
    ValueError
        When even the head and the notice are longer than ``limit``: the caller asked for the impossible.
    """
    levels = dict.fromkeys(sections, 0)
    text = _render(head, sections, levels, notice)
    for key in order:
        if len(text) <= limit:
            break
        levels[key] += 1
        text = _render(head, sections, levels, notice)
    if len(text) > limit:
        raise ValueError(f"{len(text)} characters are left where {limit} are allowed")
    return text


def _render(head: str, sections: Mapping[str, Section], levels: Mapping[str, int], notice: Callable[[str], str]) -> str:
    forms = {key: _form(section, levels[key]) for key, section in sections.items()}
    shortened = [section.name for key, section in sections.items() if forms[key] != section.forms[0]]
    said = notice(", ".join(shortened)) if shortened else ""
    return _joined([head, said, *forms.values()])


def _form(section: Section, level: int) -> str:
    return section.forms[level] if level < len(section.forms) else ""


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
