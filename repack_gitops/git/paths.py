"""Paths inside a repository: which may be asked for, and which may be written."""

from __future__ import annotations

from repack_gitops.errors import InvalidInput

_LONGEST = 4096
# Names that some file system takes for `.git`.
_RESERVED = frozenset({".git", "git~1"})


def readable_path(path: str) -> str:
    """Return ``path`` if it may be asked for: relative, no ``.`` or ``..`` parts. Odd characters are allowed."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InvalidInput(
            f"{path!r} is not a path inside the repository", hint="Use a relative path without '.' and '..' parts."
        )
    return path


def writable_path(path: str) -> str:
    """Return ``path`` if it may be written: readable, plain characters, and not git's own."""
    readable_path(path)
    problem = _problem(path)
    if problem:
        raise InvalidInput(f"{path!r} cannot be written to the repository: {problem}", hint="Choose another name.")
    return path


def _problem(path: str) -> str:
    if len(path.encode("utf-8", "surrogateescape")) > _LONGEST:
        return f"it is longer than {_LONGEST} bytes"
    if not path.isprintable() or "\\" in path:
        return "it contains control characters, backslashes, or bytes that are not UTF-8"
    if any(part.rstrip(". ").lower() in _RESERVED or ":" in part for part in path.split("/")):
        return "a part of it means something to git or to a file system"
    return ""
