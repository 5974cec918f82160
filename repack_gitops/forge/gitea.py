"""Gitea and Forgejo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge import gitea_json
from repack_gitops.forge.gitea_json import DRAFT_MARK, Json, understood
from repack_gitops.forge.gitea_wishes import GiteaWishes
from repack_gitops.forge.http import HttpSession, Query
from repack_gitops.forge.interface import Comment, Permissions, Protection, PullRequest, Review, Shortfall, StatusState
from repack_gitops.forge.refusals import refusal

NEEDS = "the scopes repository: write, issue: write and user: read, of a user who may write to the repository"
_LONGEST_TITLE = 255


class GiteaForge:
    """A repository on Gitea or Forgejo; implements ``Forge``.

    Parameters
    ----------
    kind
        ``gitea`` or ``forgejo``.
    url
        The forge's root, without a slash at its end.
    repository
        ``owner/name``.
    session
        Speaks with ``<url>/api/v1``.
    """

    def __init__(self, kind: str, url: str, repository: str, session: HttpSession) -> None:
        self.kind, self.git_url, self.git_username = kind, f"{url}/{repository}.git", "repack"
        # Gitea's column takes far more; larger bodies only make the page slow.
        self.body_limit = 1_000_000
        self._repository, self._session = repository, session
        self._web = f"{url}/{repository}"
        self._root = f"/repos/{quote(repository)}"
        self._wishes = GiteaWishes(session, self._root)

    def file_page(self, branch: str, path: str) -> str:
        """Return the address of the page that shows a file or folder of a branch."""
        return f"{self._web}/src/branch/{quote(branch)}/{quote(path)}"

    def file_content(self, branch: str, path: str) -> str:
        """Return the address a page can load a file's content from."""
        return f"{self._web}/raw/branch/{quote(branch)}/{quote(path)}"

    def whoami(self) -> str:
        """See ``Forge.whoami``."""
        user = self._session.get("/user").content
        with understood("the token's user"):
            return str(user["login"])

    def permissions(self) -> Permissions:
        """See ``Forge.permissions``."""
        answer = self._session.get(self._root).content
        with understood(self._repository):
            return gitea_json.permissions(answer)

    def protection(self, branch: str) -> Protection | None:
        """See ``Forge.protection``."""
        reply = self._session.get(f"{self._root}/branches/{quote(branch)}", expect=(404,))
        if reply.status == 404:
            return None
        with understood(f"branch {branch!r}"):
            return gitea_json.protection(reply.content, self._rule(reply.content["effective_branch_protection_name"]))

    def open_pull_requests(self, base: str, head_prefix: str) -> tuple[PullRequest, ...]:
        """See ``Forge.open_pull_requests``."""
        pulls = self._own({"state": "open", "base_branch": base})
        return _by_number(p for p in pulls if p.base == base and p.head.startswith(head_prefix))

    def closed_pull_requests(self, base: str, head_prefix: str, since: datetime) -> tuple[PullRequest, ...]:
        """See ``Forge.closed_pull_requests``."""
        pulls = self._own({"state": "closed", "base_branch": base, "sort": "recentupdate"}, touched_since=since)
        recent = [p for p in pulls if p.base == base and p.head.startswith(head_prefix) and _closed_since(p, since)]
        return _by_number(self._in_full(p) for p in recent)

    def pull_request(self, number: int) -> PullRequest | None:
        """See ``Forge.pull_request``."""
        reply = self._session.get(f"{self._root}/pulls/{number}", expect=(404,))
        with understood(f"pull request {number}"):
            if reply.status == 404 or not gitea_json.is_own(reply.content):
                return None
            parsed = gitea_json.pull_request(reply.content)
        return parsed if parsed.state == "open" else replace(parsed, head_commit=self._final_head(parsed))

    def find_merged(self, head: str) -> PullRequest | None:
        """See ``Forge.find_merged``."""
        pulls = self._own({"state": "closed", "sort": "recentclose"})
        found = next((p for p in pulls if p.head == head and p.state == "merged"), None)
        return self._in_full(found) if found else None

    def create_pull_request(self, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequest:
        """See ``Forge.create_pull_request``."""
        existing = self._find_open(head, base)
        if existing:
            return existing
        content = {"head": head, "base": base, "title": _title(title, draft), "body": body}
        reply = self._session.write("POST", f"{self._root}/pulls", content, expect=(409, 422))
        if reply.status < 400:
            return self._parsed(reply.content)
        # Another run may have created it between our look and our request.
        existing = self._find_open(head, base)
        if existing is None:
            raise refusal(reply.status, f"a pull request from {head!r} to {base!r}", reply.message, NEEDS)
        return existing

    def update_pull_request(self, number: int, title: str, body: str) -> PullRequest:
        """See ``Forge.update_pull_request``."""
        current = self._required(number)
        wanted = _title(title, current.draft)
        if (_title(current.title, current.draft), _lines(current.body)) == (wanted, _lines(body)):
            return current
        reply = self._session.write("PATCH", f"{self._root}/pulls/{number}", {"title": wanted, "body": body})
        return self._parsed(reply.content)

    def close_pull_request(self, number: int) -> PullRequest:
        """See ``Forge.close_pull_request``."""
        current = self._required(number)
        if current.state != "open":
            return current
        # 412: it was merged a moment ago.
        reply = self._session.write("PATCH", f"{self._root}/pulls/{number}", {"state": "closed"}, expect=(412,))
        return self._required(number) if reply.status == 412 else self._parsed(reply.content)

    def comment(self, number: int, text: str) -> Comment:
        """See ``Forge.comment``."""
        reply = self._session.write("POST", f"{self._root}/issues/{number}/comments", {"body": text})
        with understood("the new comment"):
            return gitea_json.comment(reply.content)

    def comments(self, number: int) -> tuple[Comment, ...]:
        """See ``Forge.comments``."""
        answers = list(self._session.pages(f"{self._root}/issues/{number}/comments"))
        with understood(f"the comments of pull request {number}"):
            return tuple(sorted(map(gitea_json.comment, answers), key=lambda c: (c.created_at, c.id)))

    def set_labels(self, number: int, add: Iterable[str], remove: Iterable[str] = ()) -> tuple[Shortfall, ...]:
        """See ``Forge.set_labels``."""
        return self._wishes.set_labels(number, add, remove)

    def request_reviewers(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """See ``Forge.request_reviewers``."""
        return self._wishes.request_reviewers(number, users)

    def set_assignees(self, number: int, users: Iterable[str]) -> tuple[Shortfall, ...]:
        """See ``Forge.set_assignees``."""
        return self._wishes.set_assignees(number, users)

    def reviews(self, number: int) -> tuple[Review, ...]:
        """See ``Forge.reviews``."""
        answers = list(self._session.pages(f"{self._root}/pulls/{number}/reviews"))
        with understood(f"the reviews of pull request {number}"):
            return gitea_json.latest_reviews(answers)

    def set_commit_status(self, commit: str, context: str, state: StatusState, description: str, url: str = "") -> None:
        """See ``Forge.set_commit_status``."""
        wanted = {"context": context, "state": state, "description": description, "target_url": url}
        current = self._session.get(f"{self._root}/commits/{quote(commit)}/status").content
        with understood(f"the statuses of {commit}"):
            if gitea_json.has_status(current, wanted):
                return
        self._session.write("POST", f"{self._root}/statuses/{quote(commit)}", wanted, repeatable=True)

    def _own(self, query: Query, touched_since: datetime | None = None) -> Iterator[PullRequest]:
        for pull in self._session.pages(f"{self._root}/pulls", query):
            with understood("pull requests"):
                # Closing touches: whatever was last touched before a time was closed before it, too.
                if touched_since and gitea_json.updated_at(pull) < touched_since:
                    return
                if not gitea_json.is_own(pull):
                    continue
                parsed = gitea_json.pull_request(pull)
            yield parsed

    def _in_full(self, listed: PullRequest) -> PullRequest:
        # Lists do not say who merged.
        return self._required(listed.number) if listed.state == "merged" else listed

    def _final_head(self, pull: PullRequest) -> str:
        # A closed pull request is shown with the branch's present commit, should the branch live on or come again.
        reply = self._session.get(f"{self._root}/git/refs/pull/{pull.number}/head", expect=(404,))
        with understood(f"the last commit of pull request {pull.number}"):
            refs = reply.content if isinstance(reply.content, list) else [reply.content]
            return str(refs[0]["object"]["sha"]) if reply.status < 400 else pull.head_commit

    def _find_open(self, head: str, base: str) -> PullRequest | None:
        return next((p for p in self.open_pull_requests(base, head) if p.head == head), None)

    def _required(self, number: int) -> PullRequest:
        found = self.pull_request(number)
        if found is None:
            raise ForgeFailed(f"{self._repository} has no pull request {number}", hint="It may have been deleted by hand.")
        return found

    def _rule(self, name: str) -> Json | None:
        if not name:
            return None
        reply = self._session.get(f"{self._root}/branch_protections/{quote(name)}", expect=(403, 404))
        return reply.content if reply.status < 400 else None

    def _parsed(self, content: Any) -> PullRequest:
        with understood("the pull request"):
            return gitea_json.pull_request(content)


def _closed_since(pull: PullRequest, since: datetime) -> bool:
    return pull.closed_at is not None and pull.closed_at >= since


def _title(title: str, draft: bool) -> str:
    plain = " ".join(title.split())
    return (f"{DRAFT_MARK}{plain}" if draft else plain)[:_LONGEST_TITLE]


def _lines(body: str) -> list[str]:
    return body.strip().splitlines()


def _by_number(pulls: Iterable[PullRequest]) -> tuple[PullRequest, ...]:
    return tuple(sorted(pulls, key=lambda pull: pull.number))
