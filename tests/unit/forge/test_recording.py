"""A dry run reads everything and writes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge.interface import PullRequest
from repack_gitops.forge.none import NoForge
from repack_gitops.forge.recording import RecordingForge

NOW = datetime(2026, 1, 2, tzinfo=UTC)
EXISTING = PullRequest(7, "u", "Title", "Body", "repack/p", "main", "a" * 40, "open", (), "bot", False, NOW)


class OnePullRequest(NoForge):
    """A forge with one pull request, on which every write is an error."""

    def open_pull_requests(self, base: str, head_prefix: str) -> tuple[PullRequest, ...]:
        return (EXISTING,) if EXISTING.head.startswith(head_prefix) else ()

    def pull_request(self, number: int) -> PullRequest | None:
        return {7: EXISTING, 8: replace(EXISTING, number=8, state="merged")}.get(number)


@pytest.fixture
def forge() -> RecordingForge:
    return RecordingForge(OnePullRequest("https://h/r.git"), now=lambda: NOW)


def test_what_would_be_done_is_noted_in_order(forge: RecordingForge) -> None:
    assert forge.create_pull_request("repack/p", "main", "x", "y") == EXISTING
    made = forge.create_pull_request("repack/q", "main", "New", "Body", draft=True)
    assert (made.number, made.draft, made.created_at) == (0, True, NOW)
    assert forge.update_pull_request(7, "Other", "Body").title == "Other"
    assert forge.update_pull_request(7, "Title", "Body") == EXISTING
    assert forge.close_pull_request(7).state == "closed"
    assert forge.close_pull_request(8).state == "merged"
    assert forge.comment(7, "First line\nsecond").body == "First line\nsecond"
    assert forge.set_labels(7, ["a", "b"], ["c"]) == forge.request_reviewers(7, ["ada"]) == forge.set_assignees(7, []) == ()
    forge.set_commit_status("a" * 40, "repack/fresh", "success", "ok")
    assert forge.intents == (
        "create a draft pull request from repack/q to main: New",
        "update pull request 7: Other",
        "close pull request 7",
        "comment on pull request 7: First line",
        "pull request 7: label a, b",
        "pull request 7: remove label c",
        "pull request 7: ask for a review: ada",
        "set status repack/fresh of aaaaaaaaaaaa to success: ok",
    )


def test_reading_goes_through(forge: RecordingForge) -> None:
    assert forge.open_pull_requests("main", "repack/") == (EXISTING,)
    assert forge.pull_request(7) == EXISTING
    assert (forge.comments(0), forge.reviews(0), forge.comments(7), forge.reviews(7)) == ((), (), (), ())
    assert forge.closed_pull_requests("main", "", NOW) == ()
    assert forge.find_merged("repack/p") is None
    assert forge.protection("main") is None
    assert (forge.kind, forge.git_url, forge.whoami()) == ("none", "https://h/r.git", "")
    assert (forge.file_page("main", "x"), forge.file_content("main", "x")) == ("", "")
    assert forge.permissions().read
    assert forge.intents == ()


def test_what_is_not_there_cannot_be_changed(forge: RecordingForge) -> None:
    with pytest.raises(ForgeFailed):
        forge.update_pull_request(1, "t", "b")
    with pytest.raises(ForgeFailed):
        forge.close_pull_request(1)
