"""From bytes to a document: size, encoding and characters first, then JSON or YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from repack_gitops.model.problems import InvalidDocument, Path, Problem
from repack_gitops.model.syntax.json_text import NotJsonError, read_json
from repack_gitops.model.syntax.tree import Mark, Place, TreeBuilder, UnreadableError
from repack_gitops.model.syntax.yaml_text import read_yaml

#: A plan that moves 20,000 pods takes 5 MiB; etcd, which keeps runs while they execute, stops at 1.5 MiB.
MAX_BYTES = 8 * 1024 * 1024

_BOMS = ((b"\xef\xbb\xbf", "UTF-8"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
# What YAML does not allow, and what would make a reviewer see something else than the reader: line separators that
# editors do not count as lines, and marks that turn the direction of text.
_FORBIDDEN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document as plain data.

    Attributes
    ----------
    source
        What messages call the document.
    data
        Mappings, lists, text, integers, booleans and None; nothing else.
    problems
        What is wrong with the text although it could be read; ``parse`` never returns any.
    """

    source: str
    data: Any
    place: Place
    problems: tuple[Problem, ...] = ()

    def position(self, path: Path) -> Mark:
        """Return line and column of the value at ``path``, or of its key where that stands on a line before.

        Where there is no such value, return the position of the nearest enclosing key.
        """
        place = self.place
        for part in path:
            if part not in place.children:
                return place.key
            place = place.children[part]
        return place.value if place.value[0] == place.key[0] else place.key

    def key_position(self, path: Path) -> Mark:
        """Return line and column of the key at the end of ``path``."""
        place = self.place
        for part in path:
            place = place.children.get(part, place)
        return place.key


def parse(text: str | bytes, source: str) -> Parsed:
    """Return the one document in ``text``, YAML or JSON.

    Parameters
    ----------
    text
        At most ``MAX_BYTES``; bytes must be UTF-8.
    source
        A file name for messages. A name that ends in ``.json`` makes anything but JSON an error.

    Raises
    ------
    InvalidDocument
        With every problem of the text, or the first that makes reading on impossible.
    """
    parsed = scan(text, source)
    if parsed.problems:
        raise InvalidDocument(source, parsed.problems)
    return parsed


def scan(text: str | bytes, source: str) -> Parsed:
    """Like ``parse``, but problems that leave the rest readable are returned instead of raised."""
    try:
        tree = _read(_decode(text), source)
    except UnreadableError as error:
        raise InvalidDocument(source, error.problems) from error
    return Parsed(source, tree.root, tree.place, tuple(tree.problems))


def _read(text: str, source: str) -> TreeBuilder:
    tree = _read_json_or_yaml(text, source)
    if tree.root is None:
        raise UnreadableError(Problem(1, 1, (), "is empty", "Write a document with apiVersion, kind, metadata and spec."))
    return tree


def _read_json_or_yaml(text: str, source: str) -> TreeBuilder:
    only_json = source.endswith(".json")
    if not only_json and not text.lstrip().startswith("{"):
        return read_yaml(text)
    try:
        return read_json(text)
    except NotJsonError as error:
        if not only_json:
            return read_yaml(text)  # {a: b} is YAML
        raise UnreadableError(Problem(*error.mark, (), f"is not JSON: {error}", "Correct the JSON here.")) from error


def _decode(text: str | bytes) -> str:
    if len(text) > MAX_BYTES:
        _refuse(f"is larger than {MAX_BYTES // 1024**2} MiB", "Documents are small; is this the right file?")
    if isinstance(text, bytes):
        text = _decode_bytes(text)
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        code = f"U+{ord(forbidden[0]):04X}"
        message = f"contains the character {code}, which is invisible or not allowed"
        advice = rf'Remove it, or write it as "\u{ord(forbidden[0]):04x}" in double quotes.'
        _refuse(message, advice, _mark_of(text, forbidden.start()))
    return text


def _decode_bytes(raw: bytes) -> str:
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            _refuse(f"begins with the byte order mark of {encoding}", "Save the file as UTF-8 without byte order mark.")
    if b"\0" in raw:
        _refuse("is a binary file", "Give a YAML or JSON document.", _mark_of_byte(raw, raw.index(b"\0")))
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        message = f"is not UTF-8: byte 0x{raw[error.start]:02x}"
        _refuse(message, "Save the file as UTF-8.", _mark_of_byte(raw, error.start))


def _refuse(message: str, advice: str, mark: Mark = (1, 1)) -> NoReturn:
    raise UnreadableError(Problem(*mark, (), message, advice))


def _mark_of(text: str, offset: int) -> Mark:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _mark_of_byte(raw: bytes, offset: int) -> Mark:
    return _mark_of(raw[:offset].decode(errors="replace"), len(raw[:offset].decode(errors="replace")))
