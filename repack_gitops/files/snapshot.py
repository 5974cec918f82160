"""The file door of a ClusterSnapshot: what kubectl prints, and what ``repack snapshot`` writes.

A file is a ``v1`` List of mixed kinds (``kubectl get nodes,pods,... -A -o json``), a typed list such as PodList, or a YAML
stream of several; JSON or YAML, plain or gzipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from repack_gitops.errors import InvalidInput
from repack_gitops.files.contents import STANDARD_INPUT, TAKE_AGAIN, read_content
from repack_gitops.files.items import Item
from repack_gitops.files.json_lists import json_items
from repack_gitops.files.snapshot_writer import write_snapshot
from repack_gitops.files.yaml_lists import yaml_items
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.kinds import KINDS
from repack_gitops.model.kubernetes import UNREADABLE, ObjectMeta, Wire, keep_annotations

__all__ = ["read_objects", "read_snapshot", "write_snapshot"]

_KNOWN = {(api_version.rpartition("/")[0], kind): api_version for api_version, kind in KINDS}
_MAX_SHOWN = 400
_FIELD = re.compile(r"(?P<what>.*) - at `\$(?P<path>.*)`", re.DOTALL)


class _Named(Wire, frozen=True):
    metadata: ObjectMeta


def read_snapshot(path: Path, *, skipped: Counter[str] | None = None) -> ClusterSnapshot:
    """Return the snapshot in ``path``.

    Parameters
    ----------
    path
        A file, a pipe, or ``-`` for standard input.
    skipped
        Counts the objects of kinds that a snapshot does not consist of, by ``Kind.group``.

    Raises
    ------
    InvalidInput
        The file cannot be read, is broken, incomplete or inconsistent; the message names item, object and field.
    """
    reader = _Reader(path, skipped)
    try:
        return build_snapshot(reader)
    except InvalidInput as error:
        raise reader.located(error) from error


def read_objects(path: Path, *, skipped: Counter[str] | None = None) -> Iterator[Wire]:
    """Yield the objects of ``path`` that a snapshot consists of, in the order of the file; see ``read_snapshot``."""
    reader = _Reader(path, skipped)
    try:
        yield from reader
    except InvalidInput as error:
        raise reader.located(error) from error


class _Reader:
    """Iterates over the objects of one file and remembers where it is."""

    def __init__(self, path: Path, skipped: Counter[str] | None) -> None:
        self._path = path
        self._skipped: Counter[str] = Counter() if skipped is None else skipped
        self._where = ""

    def __iter__(self) -> Iterator[Wire]:
        content = read_content(self._path)
        is_json = content[:4096].lstrip().startswith((b"{", b"["))
        for item in json_items(content) if is_json else yaml_items(content):
            self._where = f"{item.where}: "
            struct = _struct(item)
            if struct is None:
                self._skipped[_kind(item)] += 1
            else:
                yield _decoded(item, struct)
            self._where = ""

    def located(self, error: InvalidInput) -> InvalidInput:
        """Return ``error`` with the file's name and the place in it."""
        name = "standard input" if self._path == STANDARD_INPUT else str(self._path)
        said = " ".join(error.message.split())  # garbage may hold anything, also as a name
        shown = said if len(said) <= _MAX_SHOWN else said[: _MAX_SHOWN - 3] + "..."
        return InvalidInput(f"{name}: {self._where}{shown}", hint=error.hint)


def _kind(item: Item) -> str:
    group = item.type_meta.api_version.rpartition("/")[0]
    return f"{item.type_meta.kind}.{group}" if group else item.type_meta.kind


def _struct(item: Item) -> type[Wire] | None:
    """Return what decodes ``item``; None for a kind that a snapshot does not consist of."""
    api_version, kind = item.type_meta.api_version, item.type_meta.kind
    if not kind or not api_version:
        raise InvalidInput("the item has no kind or no apiVersion", hint=TAKE_AGAIN)
    if kind.endswith("List"):
        raise InvalidInput(f"a {kind} within a List", hint="Put its items into the outer List.")
    known = _KNOWN.get((api_version.rpartition("/")[0], kind))
    if known is not None and known != api_version:
        raise InvalidInput(f"{kind} has apiVersion {api_version}; {known} is read", hint=f"Take it again as {known}.")
    return KINDS.get((api_version, kind))


def _decoded(item: Item, struct: type[Wire]) -> Wire:
    try:
        decoded = item.convert(struct)
    except UNREADABLE as error:
        raise InvalidInput(f"{_name(item)}: {_said(error)}", hint=TAKE_AGAIN) from error
    keep_annotations(decoded.metadata)  # type: ignore[attr-defined]
    return decoded


def _said(error: Exception) -> str:
    """Return msgspec's message with the field first."""
    match = _FIELD.fullmatch(str(error))
    return f"{match['path'].removeprefix('.')}: {match['what']}" if match else str(error)


def _name(item: Item) -> str:
    try:
        meta = item.convert(_Named).metadata
    except UNREADABLE:
        return item.type_meta.kind
    return f"{item.type_meta.kind} {meta.namespace}/{meta.name}" if meta.namespace else f"{item.type_meta.kind} {meta.name}"
