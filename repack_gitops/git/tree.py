"""Reading trees and files straight from the object database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git.interface import Change, ChangeKind
from repack_gitops.git.paths import readable_path
from repack_gitops.git.store import Store

_REGULAR = ("100644", "100755")
_KIND_OF_MODE = {"120000": "a symlink", "160000": "a submodule", "040000": "a directory"}
_BATCH_BYTES = 32 << 20
_CHANGE_OF_STATUS: dict[str, ChangeKind] = {"A": "added", "M": "modified", "D": "deleted", "T": "retyped"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a tree."""

    mode: str
    id: str
    size: int
    path: str


def list_entries(store: Store, commit: str, path: str = "", *, recurse: bool = True) -> tuple[Entry, ...]:
    """Return the entries of ``commit`` at or below ``path``."""
    options = ["-r"] if recurse else []
    where = ["--", path] if path else []
    out = store.check("ls-tree", *options, "-l", "-z", "--full-tree", commit, *where).text
    return tuple(_entry(record) for record in out.split("\0") if record)


def list_files(store: Store, commit: str, prefix: str) -> tuple[str, ...]:
    """Return the paths below directory ``prefix``, sorted; the whole tree if it is empty."""
    directory = readable_path(prefix.rstrip("/")) + "/" if prefix.rstrip("/") else ""
    return tuple(sorted(entry.path for entry in list_entries(store, commit, directory)))


def read(store: Store, commit: str, path: str, limit_bytes: int) -> bytes | None:
    """Return one file, or None."""
    entries = list_entries(store, commit, readable_path(path), recurse=False)
    found = [_readable(entry, limit_bytes) for entry in entries if entry.path == path]
    return store.check("cat-file", "blob", found[0].id, limit=limit_bytes + 1).out if found else None


def read_many(store: Store, commit: str, paths: Iterable[str], limit_bytes: int) -> dict[str, bytes]:
    """Return those of ``paths`` that exist, with two calls of git for each 32 MiB."""
    wanted = {readable_path(path) for path in paths}
    entries = [entry for entry in list_entries(store, commit) if entry.path in wanted] if wanted else []
    contents: dict[str, bytes] = {}
    for batch in _batches([_readable(entry, limit_bytes) for entry in entries]):
        contents |= _read_batch(store, batch)
    return contents


def changes(store: Store, base: str, tip: str) -> tuple[Change, ...]:
    """Return what differs between two commits' trees."""
    out = store.check("diff-tree", "-r", "-z", "--no-renames", "--raw", base, tip).text
    fields = out.split("\0")[:-1]
    return tuple(_change(raw, path) for raw, path in zip(fields[::2], fields[1::2], strict=True))


def _entry(record: str) -> Entry:
    facts, _, path = record.partition("\t")
    mode, _, object_id, size = facts.split()
    return Entry(mode, object_id, 0 if size == "-" else int(size), path)


def _readable(entry: Entry, limit_bytes: int) -> Entry:
    if entry.mode not in _REGULAR:
        kind = _KIND_OF_MODE.get(entry.mode, f"of mode {entry.mode}")
        raise InvalidInput(f"{entry.path!r} is {kind}, not a file", hint="Replace it by a regular file.")
    if entry.size > limit_bytes:
        raise InvalidInput(
            f"{entry.path!r} has {entry.size} bytes; at most {limit_bytes} are read", hint="Make the file smaller."
        )
    return entry


def _batches(entries: list[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries:
        if batch and sum(e.size for e in batch) + entry.size > _BATCH_BYTES:
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch


def _read_batch(store: Store, batch: list[Entry]) -> dict[str, bytes]:
    ids = "".join(f"{entry.id}\n" for entry in batch).encode()
    limit = sum(entry.size + 200 for entry in batch)
    out, at = store.check("cat-file", "--batch", stdin=ids, limit=limit).out, 0
    contents: dict[str, bytes] = {}
    for entry in batch:
        header = re.compile(rb"[0-9a-f]+ blob (\d+)\n").match(out, at)
        if not header:
            raise GitFailed(f"{entry.path!r} cannot be read: its content is missing from the repository",
                            hint="Clone the whole repository, not a part of it.")  # fmt: skip
        at = header.end() + int(header[1])
        contents[entry.path] = out[header.end() : at]
        at += 1
    return contents


def _change(raw: str, path: str) -> Change:
    status = raw.rsplit(" ", 1)[1][:1]
    return Change(path, _CHANGE_OF_STATUS.get(status, "modified"))
