"""Writing commits through a temporary index; the same arguments always give the same commit id."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from repack_gitops.errors import InvalidInput
from repack_gitops.git.interface import Identity
from repack_gitops.git.paths import writable_path
from repack_gitops.git.refs import object_id
from repack_gitops.git.store import Store
from repack_gitops.git.tree import changes as changed_paths

_NAME = re.compile(r"[^<>\n\r\0]*[^<>\n\r\0\s][^<>\n\r\0]*")
_EMAIL = re.compile(r"[^<>\s\0]+")


def write_commit(
    store: Store, parent: str, changes: Mapping[str, bytes | None], *, message: str, author: Identity, when: datetime
) -> str:
    """Write a commit on top of ``parent``; ``parent`` itself is returned if the changes change nothing."""
    env = _who_and_when(author, when)
    for path in changes:
        writable_path(path)
    text = store.git.redactor(message).replace("\0", "").encode("utf-8", "replace")
    before = store.check("rev-parse", "--verify", f"{object_id(parent)}^{{tree}}").text.strip()
    tree = _write_tree(store, parent, changes)
    if tree == before:
        return parent
    _check_nothing_else(store, before, tree, changes)
    return store.check("commit-tree", tree, "-p", parent, "-F", "-", env=env, stdin=text).text.strip()


def _check_nothing_else(store: Store, before: str, tree: str, changes: Mapping[str, bytes | None]) -> None:
    # A file written where a directory is would silently delete all that is in it, and the other way round.
    written = [path for path, content in changes.items() if content is not None]
    lost = {change.path for change in changed_paths(store, before, tree)} - set(changes)
    lost |= {path for path in written if any(other.startswith(f"{path}/") for other in written)}
    if lost:
        raise InvalidInput(
            f"writing {sorted(written)} would replace {sorted(lost)[:5]}",
            hint="A file and a directory cannot have the same name; choose another one.",
        )


def _write_tree(store: Store, parent: str, changes: Mapping[str, bytes | None]) -> str:
    with tempfile.TemporaryDirectory(dir=store.area, prefix="index-") as place:
        env = {"GIT_INDEX_FILE": str(Path(place, "index"))}
        store.check("read-tree", parent, env=env)
        records = [_record(store, path, content, len(parent)) for path, content in sorted(changes.items())]
        store.check("update-index", "-z", "--index-info", env=env, stdin=b"".join(records))
        return store.check("write-tree", env=env).text.strip()


def _record(store: Store, path: str, content: bytes | None, digits: int) -> bytes:
    if content is None:
        return f"0 {'0' * digits}\t{path}\0".encode()
    blob = store.check("hash-object", "-w", "--no-filters", "--stdin", stdin=content).text.strip()
    return f"100644 {blob}\t{path}\0".encode()


def _who_and_when(author: Identity, when: datetime) -> dict[str, str]:
    if not _NAME.fullmatch(author.name) or not _EMAIL.fullmatch(author.email):
        raise InvalidInput(
            f"{author.name!r} <{author.email}> cannot be the author of a commit",
            hint="Give a name and an e-mail address without angle brackets and line breaks.",
        )
    if when.tzinfo is None:
        raise InvalidInput("the time of a commit needs a time zone", hint="Pass an aware datetime.")
    date = f"@{int(when.timestamp())} {format(when, '%z')[:5]}"
    roles = ("AUTHOR", "COMMITTER")
    return {
        f"GIT_{role}_{what}": value
        for role in roles
        for what, value in (("NAME", author.name), ("EMAIL", author.email), ("DATE", date))
    }
