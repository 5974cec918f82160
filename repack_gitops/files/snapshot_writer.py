"""What ``repack snapshot`` writes: a List that ``read_snapshot`` and kubectl read, the same bytes for the same objects."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

import msgspec
import yaml

from repack_gitops.files.atomic import replacing
from repack_gitops.model.kinds import KINDS
from repack_gitops.model.kubernetes import ObjectMeta, Wire

Layout = Literal["json", "yaml"]

_TYPES: dict[type[Wire], tuple[int, str, str]] = {
    struct: (position, api_version, kind) for position, ((api_version, kind), struct) in enumerate(KINDS.items())
}


def write_snapshot(target: Path | BinaryIO, objects: Iterable[Wire], *, layout: Layout | None = None) -> int:
    """Write ``objects`` as a ``v1`` List and return how many they were.

    Parameters
    ----------
    target
        A path, replaced as a whole or not at all, gzipped if it ends in ``.gz``; or an open stream.
    objects
        In any order; written by kind, namespace and name.
    layout
        By default as the path's suffix says (``.yaml``, ``.yml``), else JSON with one object a line.

    Raises
    ------
    InvalidInput
        The file cannot be written.
    """
    ordered = sorted(objects, key=_order)  # before the file is opened: listing may fail
    write = _write_yaml if (layout or _layout(target)) == "yaml" else _write_json
    with _opened(target) as file:
        write(file, ordered)
    return len(ordered)


def _order(item: Wire) -> tuple[int, str, str]:
    meta: ObjectMeta = item.metadata  # type: ignore[attr-defined]
    return (_TYPES[type(item)][0], meta.namespace, meta.name)


def _layout(target: Path | BinaryIO) -> Layout:
    if not isinstance(target, Path):
        return "json"
    name = target.name.removesuffix(".gz")
    return "yaml" if name.endswith((".yaml", ".yml")) else "json"


@contextmanager
def _opened(target: Path | BinaryIO) -> Iterator[BinaryIO]:
    if not isinstance(target, Path):
        yield target
        return
    with replacing(target) as file:
        if target.name.endswith(".gz"):
            # No time and no name in the header: equal snapshots are equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file


def _write_json(file: BinaryIO, ordered: list[Wire]) -> None:
    encode = msgspec.json.Encoder(order="deterministic").encode
    file.write(b'{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[')
    separator = b"\n"
    for item in ordered:
        _, api_version, kind = _TYPES[type(item)]
        head = f'{{"apiVersion":"{api_version}","kind":"{kind}",'.encode()
        file.write(separator + head + encode(item).removeprefix(b"{"))
        separator = b",\n"
    file.write(b"\n]}\n")


def _write_yaml(file: BinaryIO, ordered: list[Wire]) -> None:
    file.write(b"apiVersion: v1\nkind: List\nmetadata:\n  resourceVersion: ''\n")
    file.write(b"items:\n" if ordered else b"items: []\n")
    for item in ordered:
        _, api_version, kind = _TYPES[type(item)]
        fields = msgspec.to_builtins(item, order="deterministic")
        file.write(_dump([{"apiVersion": api_version, "kind": kind, **fields}]))


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - its name is PyYAML's
        return True


def _dump(value: object) -> bytes:
    dump: Callable[..., bytes] = yaml.dump
    return dump(value, Dumper=_Dumper, encoding="utf-8", allow_unicode=True, sort_keys=False, width=2**31 - 1)
