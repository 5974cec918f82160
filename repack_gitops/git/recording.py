"""A repository for dry runs: it reads and commits for real, and only takes note of what it would push."""

from __future__ import annotations

from repack_gitops.git.interface import DeleteAnswer, Deleted, Expected, PushAnswer, Pushed
from repack_gitops.git.remote import Remote
from repack_gitops.git.repository import GitRepository
from repack_gitops.git.store import Store
from repack_gitops.git.workshop import Workshop


class RecordingRepository(GitRepository):
    """Like ``GitRepository``, but the remote never changes; ``intents`` says what would have been done, in order."""

    def __init__(self, workshop: Workshop, store: Store, remote: Remote | None) -> None:
        super().__init__(workshop, store, remote)
        self._intents: list[str] = []

    @property
    def intents(self) -> tuple[str, ...]:
        """What would have been done."""
        return tuple(self._intents)

    def push(self, commit: str, branch: str, expected: Expected) -> PushAnswer:
        """Note the push and say that it worked."""
        self._intents.append(f"push {commit[:12]} to {branch}{_in_place_of(expected)}")
        return Pushed(commit)

    def delete_branch(self, branch: str, expected: Expected) -> DeleteAnswer:
        """Note the deletion and say that it worked."""
        self._intents.append(f"delete branch {branch}{_in_place_of(expected)}")
        return Deleted(existed=True)


def _in_place_of(expected: Expected) -> str:
    return f", now at {expected[:12]}" if isinstance(expected, str) else ""
