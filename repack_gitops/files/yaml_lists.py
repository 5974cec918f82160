"""Items of Lists in YAML: one item in memory at a time, whatever the size of the file.

YAML is about a hundred times slower to read than JSON. Fine for a few thousand objects; JSON is for more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar, cast

import msgspec
import yaml
from yaml.composer import Composer, ComposerError

from repack_gitops.errors import InvalidInput
from repack_gitops.files.contents import TAKE_AGAIN
from repack_gitops.files.items import Item, check_complete_list, item_type
from repack_gitops.model.kubernetes import ListMeta, TypeMeta

_TOP_LEVEL = re.compile(rb"^(apiVersion|kind|items|metadata)[\"']?[ \t]*:", re.MULTILINE)
_HEAD_BYTES = 2**16

T = TypeVar("T")


class _Loader(Composer, yaml.CSafeLoader):
    """libyaml's scanner under PyYAML's composer, so that single nodes can be composed.

    As Kubernetes reads YAML: dates stay text, and there are no aliases, which could blow up a small file.
    """

    def __init__(self, content: bytes) -> None:
        yaml.CSafeLoader.__init__(self, content)
        Composer.__init__(self)

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = cast(yaml.AliasEvent, self.peek_event()).start_mark
            raise ComposerError(None, None, "an alias (*name), which no List has", cast(yaml.Mark, mark))
        return super().compose_node(parent, index)

    def value(self) -> Any:
        """Return the next node as Python's types."""
        return self.construct_document(self.compose_node(None, None))


_NOT_RESOLVED = frozenset({"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value", "tag:yaml.org,2002:merge"})
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NOT_RESOLVED]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def yaml_items(content: bytearray) -> Iterator[Item]:
    """Yield the items of all Lists of the stream.

    Raises
    ------
    InvalidInput
        The YAML is broken, or a document is no List or an incomplete one: possibly after items were yielded, since
        kubectl writes ``items`` before ``kind`` and ``metadata``.
    """
    if not _TOP_LEVEL.search(content, 0, _HEAD_BYTES):
        raise InvalidInput("neither JSON nor the YAML of a List", hint=TAKE_AGAIN)
    loader = _Loader(bytes(content))
    try:
        yield from _stream(loader)
    except yaml.YAMLError as error:
        raise InvalidInput(f"broken YAML: {_said(error)}", hint=TAKE_AGAIN) from error
    except RecursionError as error:
        raise InvalidInput("YAML nested too deeply", hint=TAKE_AGAIN) from error
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        # PyYAML's constructors of numbers and dates raise these for what only looks like one (`0x_`, `!!int abc`).
        raise InvalidInput(f"broken YAML: a value cannot be read: {error}", hint=TAKE_AGAIN) from error
    finally:
        loader.dispose()


def _said(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return where + str(getattr(error, "problem", None) or error)


def _stream(loader: _Loader) -> Iterator[Item]:
    loader.get_event()
    document = 0
    while not loader.check_event(yaml.StreamEndEvent):
        loader.get_event()
        document += 1
        yield from _document(loader, f"document {document}, " if document > 1 else "")
        loader.get_event()


def _document(loader: _Loader, where: str) -> Iterator[Item]:
    """Yield items as they come; those that do not say what they are wait for the List's own kind."""
    if not loader.check_event(yaml.MappingStartEvent):
        if loader.value() is None:
            return  # nothing between two --- lines
        raise InvalidInput(f"{where}a document that is no mapping, not a List", hint=TAKE_AGAIN)
    loader.get_event()
    head: dict[str, Any] = {}
    waiting: list[Item] = []
    while not loader.check_event(yaml.MappingEndEvent):
        key = loader.value()
        if key in head:
            raise InvalidInput(f"{where}{key!r} occurs twice in one List", hint=TAKE_AGAIN)
        if key == "items" and loader.check_event(yaml.SequenceStartEvent):
            for item in _sequence(loader, where):
                if item.type_meta.kind:
                    yield item
                else:
                    waiting.append(item)
            head[key] = []
        else:
            head[str(key)] = loader.value()
    loader.get_event()
    of_list = _checked(head)
    for item in waiting:
        yield Item(item.where, item_type(item.type_meta, of_list), item.value)


def _sequence(loader: _Loader, where: str) -> Iterator[Item]:
    loader.get_event()
    index = 0
    while not loader.check_event(yaml.SequenceEndEvent):
        value = loader.value()
        yield Item(f"{where}item {index}", _convert(value, TypeMeta, f"{where}item {index}: "), value)
        index += 1
    loader.get_event()


def _checked(head: dict[str, Any]) -> TypeMeta:
    of_list = _convert(head, TypeMeta, "")
    metadata = head.get("metadata")
    check_complete_list(of_list, None if metadata is None else _convert(metadata, ListMeta, "metadata: "))
    return of_list


def _convert(value: Any, struct: type[T], where: str) -> T:
    try:
        return msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{where}{error}", hint=TAKE_AGAIN) from error
