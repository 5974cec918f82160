"""The adapter: a private store, and the remote it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from repack_gitops.errors import GitFailed
from repack_gitops.git import history, tree
from repack_gitops.git.credentials import Credentials, remote_of_checkout
from repack_gitops.git.interface import Change, Commit, DeleteAnswer, Expected, Identity, PushAnswer
from repack_gitops.git.refs import branch_name
from repack_gitops.git.remote import Remote
from repack_gitops.git.settings import Settings
from repack_gitops.git.store import Store, borrow, look_at
from repack_gitops.git.workshop import Workshop, set_up
from repack_gitops.git.writing import write_commit
from repack_gitops.model.redaction import Redactor


class GitRepository:
    """A repository on disk and its remote; implements ``Repository``.

    Make one with ``clone`` or ``open`` and use it in a ``with``, or ``close`` it: it owns a temporary directory.
    """

    def __init__(self, workshop: Workshop, store: Store, remote: Remote | None) -> None:
        self._workshop, self._store, self._remote = workshop, store, remote

    @classmethod
    def clone(
        cls,
        url: str,
        directory: Path | None = None,
        *,
        branch: str,
        credentials: Credentials | None = None,
        redactor: Redactor | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Clone ``branch`` of ``url`` as a bare repository.

        Parameters
        ----------
        url
            An http(s), ssh or file URL, or an absolute path; never with a password in it.
        directory
            New or empty; None: a temporary one that ``close`` removes.
        branch
            The only branch that is brought, with its whole history; ``fetch`` brings others.
        credentials
            A token; only the server it was issued for gets to see it.
        redactor
            Knows further secrets; the token of ``credentials`` is always hidden.
        settings
            Time limits and retries.

        Raises
        ------
        InvalidInput
            The URL, the branch name or the directory cannot be used.
        GitFailed
            There is no such repository or branch, or it may not be read.
        TryAgain
            The server cannot be reached.
        """
        branch_name(branch)
        workshop = set_up(credentials, redactor, settings)
        try:
            remote = workshop.remote(url)
            store = workshop.store(directory, _object_format(remote, branch))
            remote.fetch(store.directory, branch)
        except BaseException:
            workshop.close()
            raise
        return cls(workshop, store, remote)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        url: str | None = None,
        token: str = "",
        redactor: Redactor | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Open somebody's clone as it is now, without ever writing to it and without obeying its config.

        Parameters
        ----------
        path
            A clone, bare or not, or a directory inside its working tree.
        url
            The remote; None: the clone's ``origin``, if that is an http(s) or ssh URL. A path must be given here,
            because pushing to one runs the hooks found there.
        token
            Belongs to the remote; only its server gets to see it.
        redactor, settings
            As for ``clone``.

        Raises
        ------
        InvalidInput
            ``path`` is not a git repository.
        """
        address = url or _origin(path, redactor, settings)
        credentials = Credentials.for_url(address, token) if address and token else None
        workshop = set_up(credentials, redactor, settings)
        try:
            lender = look_at(workshop.git, path)
            store = workshop.store(None, lender.object_format)
            borrow(store, lender)
            remote = workshop.remote(address) if address else None
        except BaseException:
            workshop.close()
            raise
        return cls(workshop, store, remote)

    def close(self) -> None:
        """Remove what is temporary; may be called twice."""
        self._workshop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def fetch(self, branch: str) -> str | None:
        """See ``Repository.fetch``."""
        exists = self._reach().fetch(self._store.directory, branch)
        return self._store.require(f"refs/remotes/origin/{branch}") if exists else None

    def resolve(self, ref: str) -> str | None:
        """See ``Repository.resolve``."""
        return self._store.resolve(ref)

    def read(self, ref: str, path: str, limit_bytes: int) -> bytes | None:
        """See ``Repository.read``."""
        return tree.read(self._store, self._store.require(ref), path, limit_bytes)

    def read_many(self, ref: str, paths: Iterable[str], limit_bytes: int) -> dict[str, bytes]:
        """See ``Repository.read_many``."""
        return tree.read_many(self._store, self._store.require(ref), paths, limit_bytes)

    def list_files(self, ref: str, prefix: str = "") -> tuple[str, ...]:
        """See ``Repository.list_files``."""
        return tree.list_files(self._store, self._store.require(ref), prefix)

    def remote_branches(self, prefix: str = "") -> dict[str, str]:
        """See ``Repository.remote_branches``."""
        return self._reach().branches(prefix)

    def merge_base(self, left: str, right: str) -> str | None:
        """See ``Repository.merge_base``."""
        return history.merge_base(self._store, self._store.require(left), self._store.require(right))

    def commits(self, base: str, tip: str) -> tuple[Commit, ...]:
        """See ``Repository.commits``."""
        return history.commits(self._store, self._store.require(base), self._store.require(tip))

    def changes(self, base: str, tip: str) -> tuple[Change, ...]:
        """See ``Repository.changes``."""
        return tree.changes(self._store, self._store.require(base), self._store.require(tip))

    def commit(self, parent: str, changes: Mapping[str, bytes | None], message: str, author: Identity, when: datetime) -> str:
        """See ``Repository.commit``."""
        return write_commit(self._store, parent, changes, message=message, author=author, when=when)

    def push(self, commit: str, branch: str, expected: Expected) -> PushAnswer:
        """See ``Repository.push``."""
        return self._reach().push(self._store.directory, commit, branch, expected)

    def delete_branch(self, branch: str, expected: Expected) -> DeleteAnswer:
        """See ``Repository.delete_branch``."""
        return self._reach().delete(self._store.directory, branch, expected)

    def _reach(self) -> Remote:
        if self._remote is None:
            raise GitFailed("this clone has no usable remote 'origin'", hint="Pass the repository's URL.")
        return self._remote


def _object_format(remote: Remote, branch: str) -> str:
    tip = remote.branches(branch).get(branch)
    if tip is None:
        raise GitFailed(f"{remote.url} has no branch {branch!r}", hint="Name an existing branch as base branch.")
    return "sha1" if len(tip) == 40 else "sha256"


def _origin(path: Path, redactor: Redactor | None, settings: Settings | None) -> str | None:
    """Return the remote that the clone at ``path`` names, if it is one we use; asked without any credentials."""
    workshop = set_up(None, redactor, settings)
    try:
        return remote_of_checkout(look_at(workshop.git, path).origin)
    finally:
        workshop.close()
