"""Reads YAML: one document, no tags, and the words of ``scalars`` instead of YAML 1.1's."""

from __future__ import annotations

import re
from typing import Any

import yaml

from repack_gitops.model.syntax.scalars import Scalar, Trap, read_word
from repack_gitops.model.syntax.tree import Mark, TreeBuilder

# libyaml is six times faster; PyYAML built without it still reads the same documents.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"
_TAG_ADVICE = "Remove the tag; tags are not supported."


def read_yaml(text: str) -> TreeBuilder:
    """Return the one document in ``text``.

    Raises
    ------
    UnreadableError
        When the text is not YAML, holds no document or several, or exceeds the limits of ``tree``.
    """
    builder = TreeBuilder()
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                advice = "Keep one document per file, without a further line of three dashes."
                builder.stop_text(_mark(event.start_mark), "a second document begins here", advice)
            _take(builder, event)
    except yaml.MarkedYAMLError as error:
        _refuse(builder, text, error)
    except yaml.YAMLError as error:
        builder.stop_text((1, 1), f"is not YAML: {error}", "Correct the text.")
    return builder


def _take(builder: TreeBuilder, event: yaml.Event) -> None:
    mark = _mark(event.start_mark)
    match event:
        case yaml.ScalarEvent():
            value, trap = _scalar(event)
            builder.scalar(value, mark, trap=trap, anchor=event.anchor)
        case yaml.MappingStartEvent():
            builder.open({}, mark, anchor=event.anchor)
            _refuse_tag(builder, event, mark, "map")
        case yaml.SequenceStartEvent():
            builder.open([], mark, anchor=event.anchor)
            _refuse_tag(builder, event, mark, "seq")
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            builder.close()
        case yaml.AliasEvent():
            builder.alias(str(event.anchor), mark)


def _scalar(event: yaml.ScalarEvent) -> tuple[Scalar, Trap | None]:
    text: str = event.value
    if event.tag in (None, "!", f"{_STANDARD}str"):
        plain = event.tag is None and event.implicit[0] and not event.style
        return read_word(text) if plain else (text, None)
    return text, Trap(f"has the tag {_tag(event.tag)}", _TAG_ADVICE, final=True)


def _refuse_tag(builder: TreeBuilder, event: yaml.CollectionStartEvent, mark: Mark, allowed: str) -> None:
    if event.tag not in (None, "!", _STANDARD + allowed):
        builder.report(mark, f"has the tag {_tag(event.tag)}", _TAG_ADVICE)


def _tag(tag: str) -> str:
    return tag.replace(_STANDARD, "!!")[:60]


def _refuse(builder: TreeBuilder, text: str, error: yaml.MarkedYAMLError) -> None:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        builder.stop_text((1, 1), f"is not YAML: {error.problem}", "Correct the text.")
    line = text.splitlines()[mark.line : mark.line + 1]
    if line and "\t" in line[0][: len(line[0]) - len(line[0].lstrip())]:
        builder.stop_text(_mark(mark), "is indented with a tab, which YAML does not allow", "Indent with spaces.")
    where = error.context_mark
    context = f" {error.context} that starts at line {where.line + 1}" if error.context and where else ""
    builder.stop_text(_mark(mark), f"is not YAML: {error.problem}{context}", _advice(f"{error.problem} {error.context}"))


def _advice(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "Check the indentation, and write a value that contains a colon and a space in quotes."
    if re.search("cannot start any token|scanning an (alias|anchor)", problem):
        return "Write a value that begins with one of @ ` % & * ! | > in quotes."
    return "Check indentation, colons, brackets and quotes here and in the line before."


def _mark(mark: Any) -> Mark:
    return mark.line + 1, mark.column + 1
