"""Gitea's JSON, turned into this project's values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge.interface import Comment, Permissions, Protection, PullRequest, PullRequestState, Review, ReviewState

Json = Mapping[str, Any]

# Gitea knows a draft by the start of its title; these are its default marks, in any case.
DRAFT_MARK = "WIP: "
_DRAFT = re.compile(r"\s*(?:WIP:|\[WIP\])\s*", re.IGNORECASE)
_REVIEW_STATES: Mapping[str, ReviewState] = {
    "APPROVED": "approved",
    "REQUEST_CHANGES": "changes-requested",
    "COMMENT": "commented",
}


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Turn surprises inside an answer into an error that names what was being read."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ForgeFailed(
            f"the forge's answer about {what} is not understood: {type(error).__name__} {error}",
            hint="Check the version of the forge; Gitea 1.26 is known to work.",
        ) from error


def is_own(pull: Json) -> bool:
    """Tell whether the pull request comes from a branch of the repository itself, not from a fork or a bare push."""
    return bool(pull["head"].get("label")) and pull["head"].get("repo_id") == pull["base"].get("repo_id")


def pull_request(pull: Json) -> PullRequest:
    """Return a pull request."""
    return PullRequest(
        number=pull["number"],
        url=pull["html_url"],
        title=without_draft_mark(pull["title"]),
        body=pull["body"] or "",
        # The label keeps the branch's name after the branch was deleted; `ref` does not.
        head=pull["head"]["label"],
        base=pull["base"]["ref"],
        head_commit=pull["head"]["sha"] or "",
        state=_state(pull),
        labels=tuple(sorted(label["name"] for label in pull["labels"] or ())),
        author=_login(pull["user"]) or "",
        draft=bool(pull.get("draft")) or has_draft_mark(pull["title"]),
        created_at=_required_time(pull["created_at"]),
        closed_at=_time(pull.get("closed_at")),
        merged_at=_time(pull.get("merged_at")),
        merge_commit=pull.get("merge_commit_sha") if pull["merged"] else None,
        merged_by=_login(pull.get("merged_by")),
    )


def updated_at(pull: Json) -> datetime:
    """Return when the pull request was last touched."""
    return _required_time(pull["updated_at"])


def has_draft_mark(title: str) -> bool:
    """Tell whether a title marks a draft."""
    return _DRAFT.match(title) is not None


def without_draft_mark(title: str) -> str:
    """Return the title without the mark of a draft."""
    return _DRAFT.sub("", title, count=1) if has_draft_mark(title) else title


def comment(answer: Json) -> Comment:
    """Return a comment."""
    return Comment(answer["id"], _login(answer["user"]) or "", answer["body"] or "", _required_time(answer["created_at"]))


def latest_reviews(answers: Iterable[Json]) -> tuple[Review, ...]:
    """Return each reviewer's latest verdict, by user; a mere comment replaces nothing but a comment."""
    latest: dict[str, Review] = {}
    for answer in sorted(answers, key=lambda a: (a["submitted_at"] or "", a["id"])):
        review = _review(answer)
        if review and (review.state != "commented" or latest.get(review.user, review).state == "commented"):
            latest[review.user] = review
    return tuple(latest[user] for user in sorted(latest))


def permissions(repository: Json) -> Permissions:
    """Return what the token may do."""
    may = repository["permissions"]
    return Permissions(read=bool(may["pull"]), write=bool(may["push"]), admin=bool(may["admin"]))


def protection(branch: Json, rule: Json | None) -> Protection:
    """Return the rules of a branch; ``rule`` is only shown to administrators."""
    return Protection(
        protected=bool(branch["protected"]),
        may_push=bool(branch["user_can_push"]),
        required_approvals=branch["required_approvals"] or 0,
        required_checks=tuple(branch["status_check_contexts"] or ()) if branch["enable_status_check"] else (),
        dismisses_stale_approvals=None if rule is None else bool(rule["dismiss_stale_approvals"]),
    )


def has_status(combined: Json, wanted: Json) -> bool:
    """Tell whether a commit's latest status of that context says just what is wanted."""
    current = next((s for s in combined["statuses"] or () if s["context"] == wanted["context"]), None)
    fields = (("status", "state"), ("description", "description"), ("target_url", "target_url"))
    return current is not None and all((current[theirs] or "") == wanted[ours] for theirs, ours in fields)


def _review(answer: Json) -> Review | None:
    state: ReviewState | None = "dismissed" if answer.get("dismissed") else _REVIEW_STATES.get(answer["state"])
    user = _login(answer.get("user"))
    if state is None or user is None:
        return None
    counts = bool(answer.get("official"))
    return Review(user, state, answer.get("commit_id") or "", _time(answer.get("submitted_at")), counts)


def _state(pull: Json) -> PullRequestState:
    if pull["merged"]:
        return "merged"
    return "open" if pull["state"] == "open" else "closed"


def _login(user: Json | None) -> str | None:
    return user["login"] if user else None


def _required_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
