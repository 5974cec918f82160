"""No forge: plain git hosting. Runs are proposed as branches; a person merges them with git."""

# ruff: noqa: ARG002  (what does nothing ignores its arguments)

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge.interface import Comment, Permissions, Protection, PullRequest, Review, Shortfall, StatusState

_NOBODY = ""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class NoForge:
    """Git without a forge; implements ``Forge`` with empty answers, and writes that have nowhere to go.

    Parameters
    ----------
    git_url
        Where git finds the repository.
    """

    def __init__(self, git_url: str) -> None:
        self.kind, self.git_url, self.git_username, self.body_limit = "none", git_url, "repack", 1_000_000

    def file_page(self, branch: str, path: str) -> str:
        """Return the empty address: plain git has no pages."""
        return ""

    def file_content(self, branch: str, path: str) -> str:
        """Return the empty address."""
        return ""

    def whoami(self) -> str:
        """Return the empty name."""
        return _NOBODY

    def permissions(self) -> Permissions:
        """Return that all is allowed: only git itself can tell."""
        return Permissions(read=True, write=True, admin=False)

    def protection(self, branch: str) -> Protection | None:
        """Return None: plain git has no rules that could be read."""
        return None

    def open_pull_requests(self, base: str, head_prefix: str) -> tuple[PullRequest, ...]:
        """Return nothing."""
        return ()

    def closed_pull_requests(self, base: str, head_prefix: str, since: datetime) -> tuple[PullRequest, ...]:
        """Return nothing."""
        return ()

    def pull_request(self, number: int) -> PullRequest | None:
        """Return None."""
        return None

    def find_merged(self, head: str) -> PullRequest | None:
        """Return None."""
        return None

    def create_pull_request(self, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequest:
        """Return a pull request number 0 without URL: the pushed branch is all there is."""
        return PullRequest(
            number=0,
            url="",
            title=title,
            body=body,
            head=head,
            base=base,
            head_commit="",
            state="open",
            labels=(),
            author=_NOBODY,
            draft=draft,
            created_at=_LONG_AGO,
        )

    def update_pull_request(self, number: int, title: str, body: str) -> PullRequest:
        """Raise ForgeFailed: there is none to update."""
        raise self._absent(number)

    def close_pull_request(self, number: int) -> PullRequest:
        """Raise ForgeFailed: there is none to close."""
        raise self._absent(number)

    def comment(self, number: int, text: str) -> Comment:
        """Return the comment; nobody will read it."""
        return Comment(0, _NOBODY, text, _LONG_AGO)

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Return nothing."""
        return ()

    def set_labels(self, number: int, add: Iterable[str], remove: Iterable[str] = ()) -> tuple[Shortfall, ...]:
        """Do nothing."""
        return ()

    def request_reviewers(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """Return one shortfall: nobody can be asked."""
        wished = ", ".join(users)
        return (Shortfall(f"without a forge nobody can be asked for a review: {wished}"),) if wished else ()

    def set_assignees(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """Return one shortfall: nobody can be assigned."""
        wished = ", ".join(users)
        return (Shortfall(f"without a forge nobody can be assigned: {wished}"),) if wished else ()

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Return nothing."""
        return ()

    def set_commit_status(self, commit: str, context: str, state: StatusState, description: str, url: str = "") -> None:
        """Do nothing."""

    def _absent(self, number: int) -> ForgeFailed:
        return ForgeFailed(
            f"there is no pull request {number}: the repository is used without a forge",
            hint="Set the kind of forge in repack.yaml.",
        )
