"""What a failed network command of git means; the wordings of git itself, GitHub, GitLab, Gitea and plain hooks."""

from __future__ import annotations

import re
from typing import Literal

Meaning = Literal["denied", "blocked-name", "protected", "moved", "passing", "other"]

# In order: a message may match several, and the first one says more than the later ones.
_MEANINGS: tuple[tuple[Meaning, tuple[str, ...]], ...] = (
    (
        "denied",
        (
            r"authentication failed",
            r"could not read (username|password)",
            r"terminal prompts disabled",
            r"invalid (username|credentials)",
            r"permission denied \(publickey",
            r"host key verification failed",
            r"returned error: 40[134]\b",
            r"http basic: access denied",
            r"permission to \S+ denied",
            r"write access to repository not granted",
            r"repository not found",
            r"project you were looking for could not be found",
            r"you are not allowed to (push|upload) code to this project",
            r"(repository|project) (was|is|has been) (archived|read-only)",
            r"user permission denied",
            r"deploy key .*(read-only|not allowed)",
        ),
    ),
    ("blocked-name", (r"cannot lock ref .*exists; cannot create", r"directory file conflict", r"d/f conflict")),
    (
        "protected",
        (
            r"\bGH0\d\d\b",
            r"protected branch",
            r"not allowed to (force[- ])?push",
            r"hook declined",
            r"denying (non-fast-forward|ref deletion|the deletion)",
            r"repository rule violations",
            r"deletion prohibited",
            r"prohibited by gerrit",
            r"refusing to (update checked out branch|delete the current branch)",
            r"branch is currently checked out",
            r"deny(ing)? updating a hidden ref",
            r"workflows? permission|without `?workflows?`? (scope|permission)",
        ),
    ),
    (
        "moved",
        (
            r"stale info",
            r"fetch first",
            r"non-fast-forward",
            r"cannot lock ref",
            r"incorrect old value provided",
            r"failed to update ref",
            r"reference already exists",
            r"remote ref updated since checkout",
            r"needs force",
        ),
    ),
    (
        "passing",
        (
            r"could not resolve host",
            r"temporary failure in name resolution",
            r"connection (refused|reset|timed out|was reset|closed)",
            r"(failed to connect|couldn't connect) to",
            r"operation (timed out|too slow)",
            r"\btimed out\b|\btimeout\b",
            r"returned error: (408|425|429|5\d\d)",
            r"early eof",
            r"unexpected disconnect",
            r"hung up unexpectedly",
            r"rpc failed",
            r"recv failure|send failure|empty reply from server|transfer closed",
            r"(gnutls|ssl|openssl|tls).*(recv|read|handshake|unexpected eof|syscall)",
            r"http/2 stream \d+ was not closed cleanly",
            r"network is unreachable|no route to host",
            r"remote failure",
            r"internal server error",
            r"\.lock': file exists",
        ),
    ),
)
_COMPILED = tuple((meaning, re.compile("|".join(patterns), re.IGNORECASE)) for meaning, patterns in _MEANINGS)


def meaning_of(text: str) -> Meaning:
    """Return what ``text``, the output of a failed fetch, push or ls-remote, means."""
    for meaning, pattern in _COMPILED:
        if pattern.search(text):
            return meaning
    return "other"
