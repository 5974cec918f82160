"""Names of branches and revisions: checked before they get near a command line."""

from __future__ import annotations

import re

from repack_gitops.errors import InvalidInput

_LONGEST = 240
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_REVISION = re.compile(r"([^~^]+)((?:[~^][0-9]{0,6})*)")
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def branch_name(name: str) -> str:
    """Return ``name`` if git accepts it as a branch, by the rules of ``git check-ref-format --branch``."""
    parts = name.split("/")
    bad = (
        not name
        or name in ("@", "HEAD")
        or name.startswith(("-", "/", "refs/"))
        or name.endswith((".", "/"))
        or any(part.startswith(".") or part.endswith(".lock") for part in parts)
        or _FORBIDDEN.search(name)
        or len(name.encode("utf-8", "surrogatepass")) > _LONGEST
    )
    if bad:
        raise InvalidInput(
            f"{name!r} is not a valid branch name", hint="See `git help check-ref-format` for the characters allowed."
        )
    return name


def is_object_id(text: str) -> bool:
    """Tell whether ``text`` is a full object id, SHA-1 or SHA-256."""
    return _OBJECT_ID.fullmatch(text) is not None


def object_id(text: str) -> str:
    """Return ``text`` if it is a full object id."""
    if not is_object_id(text):
        raise InvalidInput(f"{text!r} is not a full commit id", hint="Give all 40 (SHA-256: 64) hexadecimal digits.")
    return text


def split_revision(ref: str) -> tuple[str, str]:
    """Return the name in ``ref`` and its ``~n``/``^n`` suffix; every other revision syntax is refused."""
    match = _REVISION.fullmatch(ref)
    if not match or _FORBIDDEN.search(match[1]) or match[1].startswith("-"):
        raise InvalidInput(f"{ref!r} is not a branch, a tag or a commit", hint="Give a branch, a tag, or a commit id.")
    return match[1], match[2]
