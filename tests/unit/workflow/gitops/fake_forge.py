"""A forge in memory beside a real bare repository: pull requests, reviews, labels, comments, statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge.interface import (
    Comment,
    Permissions,
    Protection,
    PullRequest,
    PullRequestState,
    Review,
    ReviewState,
    Shortfall,
    StatusState,
)

BOT = "repack-bot"
Tips = Callable[[str], str | None]


@dataclass
class Store:
    """What the forge keeps; ``tips`` tells what a branch of its repository points at now."""

    tips: Tips
    now: Callable[[], datetime]
    requests: dict[int, PullRequest] = field(default_factory=dict)
    said: dict[int, list[Comment]] = field(default_factory=dict)
    given: dict[int, list[Review]] = field(default_factory=dict)
    reviewers: dict[int, list[str]] = field(default_factory=dict)
    assignees: dict[int, list[str]] = field(default_factory=dict)
    statuses: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    unknown_users: frozenset[str] = frozenset()
    #: Gitea takes a moment to close the request of a branch that was deleted.
    closes_late: bool = False


class FakeForge:
    """Implements ``Forge`` on a Store; the last block is what people do, outside the interface."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.kind, self.git_url, self.git_username, self.body_limit = "fake", "", BOT, 58_000

    # ---- reads ----
    def file_page(self, branch: str, path: str) -> str:
        return f"https://forge.example/src/{branch}/{path}"

    def file_content(self, branch: str, path: str) -> str:
        return f"https://forge.example/raw/{branch}/{path}"

    def whoami(self) -> str:
        return BOT

    def permissions(self) -> Permissions:
        return Permissions(read=True, write=True, admin=False)

    def protection(self, branch: str) -> Protection | None:
        return None

    def open_pull_requests(self, base: str, head_prefix: str) -> tuple[PullRequest, ...]:
        return tuple(p for p in self._of(base, head_prefix) if p.state == "open")

    def closed_pull_requests(self, base: str, head_prefix: str, since: datetime) -> tuple[PullRequest, ...]:
        found = (p for p in self._of(base, head_prefix) if p.state != "open")
        return tuple(p for p in found if (p.merged_at or p.closed_at or since) >= since)

    def pull_request(self, number: int) -> PullRequest | None:
        return self._current(number) if number in self.store.requests else None

    def find_merged(self, head: str) -> PullRequest | None:
        found = [p for p in self._all() if p.head == head and p.state == "merged"]
        return max(found, key=lambda p: p.number, default=None)

    def comments(self, number: int) -> tuple[Comment, ...]:
        return tuple(self.store.said.get(number, ()))

    def reviews(self, number: int) -> tuple[Review, ...]:
        return tuple(sorted(self.store.given.get(number, ()), key=lambda r: r.user))

    # ---- writes ----
    def create_pull_request(self, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequest:
        existing = next((p for p in self.open_pull_requests(base, head) if p.head == head), None)
        if existing is not None:
            return existing
        tip = self.store.tips(head)
        if tip is None:
            raise ForgeFailed(f"there is no branch {head}", hint="Push it first.")
        return self._put(self._new(head, base, tip, title=title, body=body, draft=draft))

    def update_pull_request(self, number: int, title: str, body: str) -> PullRequest:
        return self._put(replace(self._current(number), title=title, body=body))

    def close_pull_request(self, number: int) -> PullRequest:
        current = self._current(number)
        return current if current.state != "open" else self._end(current, "closed")

    def comment(self, number: int, text: str) -> Comment:
        return self.somebody_comments(number, text, BOT)

    def set_labels(self, number: int, add: Iterable[str], remove: Iterable[str] = ()) -> tuple[Shortfall, ...]:
        current = self._current(number)
        self._put(replace(current, labels=tuple(sorted((set(current.labels) | set(add)) - set(remove)))))
        return ()

    def request_reviewers(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        return self._people(self.store.reviewers.setdefault(number, []), users)

    def set_assignees(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        return self._people(self.store.assignees.setdefault(number, []), users)

    def set_commit_status(self, commit: str, context: str, state: StatusState, description: str, url: str = "") -> None:
        self.store.statuses[commit, context] = (state, description)

    # ---- what people do ----
    def somebody_comments(self, number: int, text: str, author: str) -> Comment:
        found = self.store.said.setdefault(number, [])
        found.append(Comment(len(found) + 1, author, text, self.store.now()))
        return found[-1]

    def somebody_opens(self, head: str, base: str, author: str = "human", body: str = "") -> PullRequest:
        made = self._new(head, base, self.store.tips(head) or "", title="By hand", body=body, draft=False)
        return self._put(replace(made, author=author))

    def somebody_closes(self, number: int) -> None:
        self._end(self._current(number), "closed")

    def somebody_merges(self, number: int, merge_commit: str, by: str = "human") -> None:
        merged = self._end(self._current(number), "merged")
        self._put(replace(merged, merge_commit=merge_commit, merged_by=by, merged_at=self.store.now()))

    def somebody_labels(self, number: int, *labels: str) -> None:
        self.set_labels(number, labels)

    def somebody_unlabels(self, number: int, *labels: str) -> None:
        self.set_labels(number, (), labels)

    def somebody_edits(self, number: int, body: str) -> None:
        self._put(replace(self._current(number), body=body))

    def enqueue(self, number: int, queued: bool = True) -> None:
        self._put(replace(self._current(number), in_merge_queue=queued))

    def review(self, number: int, user: str, state: ReviewState = "approved", *, commit: str = "", counts: bool = True) -> None:
        commit = commit or self._current(number).head_commit
        others = [r for r in self.store.given.get(number, ()) if r.user != user]
        self.store.given[number] = [*others, Review(user, state, commit, self.store.now(), counts)]

    # ---- inside ----
    def _new(self, head: str, base: str, tip: str, *, title: str, body: str, draft: bool) -> PullRequest:
        number = len(self.store.requests) + 1
        return PullRequest(
            number=number,
            url=f"https://forge.example/pulls/{number}",
            title=title,
            body=body,
            head=head,
            base=base,
            head_commit=tip,
            state="open",
            labels=(),
            author=BOT,
            draft=draft,
            created_at=self.store.now(),
        )

    def _all(self) -> list[PullRequest]:
        return [self._current(number) for number in sorted(self.store.requests)]

    def _of(self, base: str, head_prefix: str) -> list[PullRequest]:
        return [p for p in self._all() if p.base == base and p.head.startswith(head_prefix)]

    def _current(self, number: int) -> PullRequest:
        """An open pull request shows its branch as it is now; one whose branch is gone is closed, as forges do."""
        found = self.store.requests[number]
        if found.state != "open":
            return found
        tip = self.store.tips(found.head)
        if tip is None:
            return found if self.store.closes_late else self._end(found, "closed")
        return replace(found, head_commit=tip)

    def _end(self, current: PullRequest, state: PullRequestState) -> PullRequest:
        return self._put(replace(current, state=state, closed_at=self.store.now()))

    def _put(self, request: PullRequest) -> PullRequest:
        self.store.requests[request.number] = request
        return request

    def _people(self, present: list[str], users: Iterable[str]) -> tuple[Shortfall, ...]:
        wished = [u for u in users if u not in present]
        present.extend(u for u in wished if u not in self.store.unknown_users)
        return tuple(Shortfall(f"{u!r} is unknown") for u in wished if u in self.store.unknown_users)
