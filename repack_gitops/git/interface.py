"""What the rest of the program may ask of a git repository, and the answers it may get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final, Literal, Protocol


class _Any(Enum):
    ANY = "any"


ANY: Final = _Any.ANY
"""For ``push``: do not compare with an expected commit; only a fast-forward is accepted then."""

Expected = str | Literal[_Any.ANY] | None
"""What the remote branch must point at for a push to happen; None: it must not exist yet."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a commit is by."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; ``trailers`` are the ``Key: value`` lines of the last paragraph of its message."""

    id: str
    parents: tuple[str, ...]
    author: Identity
    authored_at: datetime
    committer: Identity
    committed_at: datetime
    subject: str
    body: str
    trailers: tuple[tuple[str, str], ...]


ChangeKind = Literal["added", "modified", "deleted", "retyped"]


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs; ``retyped`` means that it became, or ceased to be, a symlink or a submodule."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class Pushed:
    """The remote branch points at ``commit`` now."""

    commit: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """The remote branch is gone; ``existed`` tells whether this call removed it."""

    existed: bool


@dataclass(frozen=True, slots=True)
class NonFastForward:
    """Somebody else moved the remote branch meanwhile; nothing was written."""

    message: str


@dataclass(frozen=True, slots=True)
class Protected:
    """A rule of the server (protected branch, ruleset, hook) refuses this push."""

    message: str


@dataclass(frozen=True, slots=True)
class Denied:
    """The credentials are wrong, expired, or lack the permission to push."""

    message: str


PushAnswer = Pushed | NonFastForward | Protected | Denied
DeleteAnswer = Deleted | NonFastForward | Protected | Denied


class Repository(Protocol):
    """A git repository with one remote.

    ``ref`` is a commit id, ``HEAD``, a branch, a tag, ``origin/<branch>`` as last fetched, or a full ref name, and
    may end in ``~n`` or ``^n``. Paths are relative to the repository's root, with ``/`` between their parts.
    Network failures that pass raise ``TryAgain``; anything else that cannot be answered raises ``GitFailed``.
    """

    def fetch(self, branch: str) -> str | None:
        """Return the commit the remote branch points at, after bringing it here; None if there is no such branch."""

    def resolve(self, ref: str) -> str | None:
        """Return the id of the commit that ``ref`` names, or None."""

    def read(self, ref: str, path: str, limit_bytes: int) -> bytes | None:
        """Return a file's content, or None if there is no such file.

        Raises
        ------
        InvalidInput
            The path is a symlink, a submodule or a directory, or the file is larger than ``limit_bytes``.
        """

    def read_many(self, ref: str, paths: Iterable[str], limit_bytes: int) -> dict[str, bytes]:
        """Return the contents of those ``paths`` that exist; refuses what ``read`` refuses."""

    def list_files(self, ref: str, prefix: str = "") -> tuple[str, ...]:
        """Return every path below directory ``prefix``, sorted; symlinks and submodules are listed, never followed."""

    def remote_branches(self, prefix: str = "") -> dict[str, str]:
        """Return the remote's branches whose name starts with ``prefix``, and the commit each points at."""

    def merge_base(self, left: str, right: str) -> str | None:
        """Return the newest common ancestor, or None; it equals ``left`` exactly if ``right`` contains ``left``."""

    def commits(self, base: str, tip: str) -> tuple[Commit, ...]:
        """Return the commits that ``tip`` has and ``base`` has not, newest first."""

    def changes(self, base: str, tip: str) -> tuple[Change, ...]:
        """Return what differs between the trees of ``base`` and ``tip``, by path; a rename is a delete and an add."""

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str, author: Identity, when: datetime) -> str:
        """Write a commit on top of ``parent`` and return its id; no branch moves.

        Parameters
        ----------
        parent
            Id of the parent commit.
        changes
            New content by path; None deletes.
        message
            The whole message; known secrets are masked.
        author
            Author and committer.
        when
            Aware time of both. The same arguments always give the same id.

        Returns
        -------
        str
            The id; ``parent`` itself if ``changes`` change nothing, so that no empty commit is ever pushed.
        """

    def push(self, commit: str, branch: str, expected: Expected) -> PushAnswer:
        """Make the remote branch point at ``commit``, provided that it points at ``expected`` now."""

    def delete_branch(self, branch: str, expected: Expected) -> DeleteAnswer:
        """Delete the remote branch, provided that it points at ``expected`` now; an absent one is fine."""
