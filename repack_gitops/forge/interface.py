"""What the rest of the program may ask of a forge, and the answers it may get."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

PullRequestState = Literal["open", "merged", "closed"]
ReviewState = Literal["approved", "changes-requested", "commented", "dismissed"]
StatusState = Literal["pending", "success", "failure", "error"]


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request (merge request) as it was when it was read.

    ``closed`` means closed without a merge. ``head`` and ``base`` are branch names of this repository; a pull request
    from a fork is never returned. ``title`` is without the forge's mark for drafts. ``merge_commit`` is the commit on
    ``base`` that the merge made, whatever the merge style. ``author`` and ``merged_by`` are login names.
    """

    number: int
    url: str
    title: str
    body: str
    head: str
    base: str
    head_commit: str
    state: PullRequestState
    labels: tuple[str, ...]
    author: str
    draft: bool
    created_at: datetime
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merge_commit: str | None = None
    merged_by: str | None = None
    in_merge_queue: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """What one reviewer said last about ``commit``; ``counts`` if the forge lets this reviewer decide on a merge."""

    user: str
    state: ReviewState
    commit: str
    submitted_at: datetime | None
    counts: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a pull request."""

    id: int
    author: str
    body: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Something wished for that the forge did not do; worth a warning, no reason to stop."""

    message: str


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the token may do with the repository."""

    read: bool
    write: bool
    admin: bool


@dataclass(frozen=True, slots=True)
class Protection:
    """The rules of a branch, as far as the token may see them; None where it may not.

    ``may_push`` tells whether the token itself may push to the branch directly.
    """

    protected: bool
    may_push: bool
    required_approvals: int
    required_checks: tuple[str, ...]
    dismisses_stale_approvals: bool | None = None


class Forge(Protocol):
    """A repository on a forge, seen through one token.

    Every text that is sent is scrubbed of known secrets first. ``TryAgain`` is raised when the forge asks for more
    patience than there is or cannot be reached, ``ForgeFailed`` when it refuses for good. Writes can be repeated:
    saying the same thing twice has the effect of saying it once, except for ``comment``.
    """

    @property
    def kind(self) -> str:
        """The name of this kind of forge in ``repack.yaml``."""

    @property
    def git_url(self) -> str:
        """Where git finds the repository; without credentials."""

    @property
    def git_username(self) -> str:
        """The user name that git gives together with the token."""

    @property
    def body_limit(self) -> int:
        """How many characters the body of a pull request or a comment may have."""

    def file_page(self, branch: str, path: str) -> str:
        """Return the address of the page that shows a file or folder of a branch; empty where there is none."""

    def file_content(self, branch: str, path: str) -> str:
        """Return the address a page can load a file's content from, such as a picture's; empty where there is none."""

    def whoami(self) -> str:
        """Return the login name the token belongs to."""

    def permissions(self) -> Permissions:
        """Return what the token may do with the repository."""

    def protection(self, branch: str) -> Protection | None:
        """Return the rules of a branch; None if there is no such branch."""

    def open_pull_requests(self, base: str, head_prefix: str) -> tuple[PullRequest, ...]:
        """Return the open pull requests to ``base`` from branches that start with ``head_prefix``, by number."""

    def closed_pull_requests(self, base: str, head_prefix: str, since: datetime) -> tuple[PullRequest, ...]:
        """Return those merged or closed at or after ``since``, by number."""

    def pull_request(self, number: int) -> PullRequest | None:
        """Return one pull request, or None."""

    def find_merged(self, head: str) -> PullRequest | None:
        """Return the pull request from branch ``head`` that was merged last, or None; the branch may be gone."""

    def create_pull_request(self, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequest:
        """Return the open pull request from ``head`` to ``base``, made now unless there is one.

        One that exists is returned as it is, with its own title and body.
        """

    def update_pull_request(self, number: int, title: str, body: str) -> PullRequest:
        """Set title and body, leaving a draft a draft; nothing is sent if they are what they should be."""

    def close_pull_request(self, number: int) -> PullRequest:
        """Close without merging; one that is merged or closed is returned as it is."""

    def comment(self, number: int, text: str) -> Comment:
        """Add a comment."""

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Return all comments, oldest first; comments on lines of a review are not among them."""

    def set_labels(self, number: int, add: Iterable[str], remove: Iterable[str] = ()) -> tuple[Shortfall, ...]:
        """Add and remove labels, creating those that the repository lacks; all others stay."""

    def request_reviewers(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """Ask users, and teams written ``organization/team``, for a review."""

    def set_assignees(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """Make ``users`` the assignees, in addition to those there are."""

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Return each reviewer's latest verdict, by user; a comment does not replace a verdict."""

    def set_commit_status(self, commit: str, context: str, state: StatusState, description: str, url: str = "") -> None:
        """Set the status ``context`` of a commit; nothing is sent if it is set that way already."""
