"""A forge for dry runs: it reads for real, and only takes note of what it would write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge.interface import Comment, Forge, Permissions, Protection, PullRequest, Review, Shortfall, StatusState


class RecordingForge:
    """Wraps a forge and never writes to it; implements ``Forge``.

    Parameters
    ----------
    forge
        The forge to read from.
    now
        The time that new pull requests and comments carry.
    """

    def __init__(self, forge: Forge, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._forge, self._now, self._intents = forge, now, list[str]()
        self.kind, self.git_url, self.git_username = forge.kind, forge.git_url, forge.git_username
        self.body_limit = forge.body_limit

    @property
    def intents(self) -> tuple[str, ...]:
        """What would have been done, in order."""
        return tuple(self._intents)

    def file_page(self, branch: str, path: str) -> str:
        """Ask the forge."""
        return self._forge.file_page(branch, path)

    def file_content(self, branch: str, path: str) -> str:
        """Ask the forge."""
        return self._forge.file_content(branch, path)

    def whoami(self) -> str:
        """Ask the forge."""
        return self._forge.whoami()

    def permissions(self) -> Permissions:
        """Ask the forge."""
        return self._forge.permissions()

    def protection(self, branch: str) -> Protection | None:
        """Ask the forge."""
        return self._forge.protection(branch)

    def open_pull_requests(self, base: str, head_prefix: str) -> tuple[PullRequest, ...]:
        """Ask the forge."""
        return self._forge.open_pull_requests(base, head_prefix)

    def closed_pull_requests(self, base: str, head_prefix: str, since: datetime) -> tuple[PullRequest, ...]:
        """Ask the forge."""
        return self._forge.closed_pull_requests(base, head_prefix, since)

    def pull_request(self, number: int) -> PullRequest | None:
        """Ask the forge."""
        return self._forge.pull_request(number)

    def find_merged(self, head: str) -> PullRequest | None:
        """Ask the forge."""
        return self._forge.find_merged(head)

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Ask the forge; the pull request that was not created has none."""
        return self._forge.comments(number) if number else ()

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Ask the forge; the pull request that was not created has none."""
        return self._forge.reviews(number) if number else ()

    def create_pull_request(self, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequest:
        """Return the one there is, or note that it would be made and return it as number 0."""
        existing = next((p for p in self._forge.open_pull_requests(base, head) if p.head == head), None)
        if existing:
            return existing
        self._intents.append(f"create a {'draft ' if draft else ''}pull request from {head} to {base}: {title}")
        return PullRequest(0, "", title, body, head, base, "", "open", (), "", draft, self._now())

    def update_pull_request(self, number: int, title: str, body: str) -> PullRequest:
        """Note the update and return the pull request as it would be."""
        current = self._required(number)
        if (current.title, current.body) != (title, body):
            self._intents.append(f"update pull request {number}: {title}")
        return replace(current, title=title, body=body)

    def close_pull_request(self, number: int) -> PullRequest:
        """Note the closing and return the pull request as it would be."""
        current = self._required(number)
        if current.state != "open":
            return current
        self._intents.append(f"close pull request {number}")
        return replace(current, state="closed", closed_at=self._now())

    def comment(self, number: int, text: str) -> Comment:
        """Note the comment."""
        self._intents.append(f"comment on pull request {number}: {text.strip().partition(chr(10))[0]}")
        return Comment(0, "", text, self._now())

    def set_labels(self, number: int, add: Iterable[str], remove: Iterable[str] = ()) -> tuple[Shortfall, ...]:
        """Note the labels."""
        return self._wished(number, ("label", add), ("remove label", remove))

    def request_reviewers(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """Note the reviewers."""
        return self._wished(number, ("ask for a review:", users))

    def set_assignees(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """Note the assignees."""
        return self._wished(number, ("assign", users))

    def set_commit_status(self, commit: str, context: str, state: StatusState, description: str, url: str = "") -> None:
        """Note the status."""
        self._intents.append(f"set status {context} of {commit[:12]} to {state}: {description} {url}".rstrip())

    def _wished(self, number: int, *wishes: tuple[str, Iterable[str]]) -> tuple[Shortfall, ...]:
        for verb, names in wishes:
            if told := ", ".join(names):
                self._intents.append(f"pull request {number}: {verb} {told}")
        return ()

    def _required(self, number: int) -> PullRequest:
        found = self._forge.pull_request(number)
        if found is None:
            raise ForgeFailed(f"there is no pull request {number}", hint="It may have been deleted by hand.")
        return found
