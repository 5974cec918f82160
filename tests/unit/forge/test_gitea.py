"""The Gitea adapter on scripted answers: what a real server rarely does, and what must not be asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from repack_gitops.errors import ForgeFailed, TryAgain
from repack_gitops.forge.gitea import GiteaForge
from repack_gitops.forge.gitea_json import has_draft_mark, latest_reviews, without_draft_mark
from repack_gitops.forge.interface import Protection, Review
from repack_gitops.forge.kinds import open_forge
from tests.unit.forge.scripted import TOKEN, Answer, Clock, Script

REPO = "/api/v1/repos/o/r"
START = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)


@pytest.fixture
def forge(script: Script, clock: Clock) -> Iterator[GiteaForge]:
    made = cast(GiteaForge, open_forge("gitea", script.url + "/", "o/r", TOKEN, patience=clock.patience()))
    yield made
    made._session.close()


def pull(number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a pull request as Gitea 1.26 describes it, in the fields that we read."""
    head = changes.pop("head", "repack/p")
    return {
        "number": number,
        "html_url": f"https://forge.example/o/r/pulls/{number}",
        "title": "Propose",
        "body": "Why",
        "user": {"login": "bot"},
        "labels": [],
        "state": "open",
        "draft": False,
        "merged": False,
        "merge_commit_sha": None,
        "merged_by": None,
        "merged_at": None,
        "closed_at": None,
        "created_at": "2026-01-02T03:00:00Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "base": {"label": "main", "ref": "main", "repo_id": 7},
        "head": {"label": head, "ref": head, "sha": "a" * 40, "repo_id": 7},
        **changes,
    }


def test_forks_and_bare_pushes_are_left_out(script: Script, forge: GiteaForge) -> None:
    fork = pull(2, head="repack/p") | {"head": {"label": "repack/p", "ref": "repack/p", "sha": "b" * 40, "repo_id": 8}}
    gone = pull(3) | {"head": {"label": "repack/p", "ref": "refs/pull/3/head", "sha": "b" * 40, "repo_id": -1}}
    bare = pull(4) | {"head": {"label": "", "ref": "refs/pull/4/head", "sha": "b" * 40, "repo_id": 7}}
    elsewhere = pull(5) | {"base": {"label": "dev", "ref": "dev", "repo_id": 7}}
    script.answers = [Answer(200, [fork, pull(9), gone, pull(1), bare, elsewhere, pull(6, head="feature")])]
    assert [p.number for p in forge.open_pull_requests("main", "repack/")] == [1, 9]
    assert "state=open" in script.lines[0]
    script.answers = [Answer(200, fork)]
    assert forge.pull_request(2) is None


def test_closed_ones_are_read_back_to_a_time_and_no_further(script: Script, forge: GiteaForge) -> None:
    def closed(number: int, updated: str, at: str, **changes: Any) -> dict[str, Any]:
        return pull(
            number, state="closed", updated_at=f"2026-01-{updated}T00:00:00Z", closed_at=f"2026-01-{at}T00:00:00Z", **changes
        )

    merged = closed(3, "08", "08", merged=True, merged_at="2026-01-08T00:00:00Z", merge_commit_sha="c" * 40)
    link = {"Link": '</x?page=2>; rel="next"'}
    old = closed(1, "01", "01")
    commented_later = closed(2, "09", "02")
    script.routes = {
        f"GET {REPO}/pulls": [Answer(200, [commented_later, merged, closed(4, "07", "06"), old], link)],
        f"GET {REPO}/pulls/3": [Answer(200, merged | {"merged_by": {"login": "ada"}})],
        f"GET {REPO}/git/refs/pull/3/head": [Answer(200, {"object": {"sha": "d" * 40}})],
    }
    found = forge.closed_pull_requests("main", "repack/", datetime(2026, 1, 5, tzinfo=UTC))
    assert [(p.number, p.state, p.merged_by, p.head_commit[0]) for p in found] == [
        (3, "merged", "ada", "d"),
        (4, "closed", None, "a"),
    ]
    assert len(script.asked) == 3, "no second page"


def test_a_race_to_create_is_healed(script: Script, forge: GiteaForge) -> None:
    for status in (409, 422):
        script.routes = {
            f"GET {REPO}/pulls": [Answer(200, []), Answer(200, [pull(8)])],
            f"POST {REPO}/pulls": [Answer(status, {"message": "pull request already exists for these targets"})],
        }
        assert forge.create_pull_request("repack/p", "main", "Mine", "").number == 8


def test_a_refusal_to_create_that_is_no_race(script: Script, forge: GiteaForge) -> None:
    script.routes = {
        f"GET {REPO}/pulls": [Answer(200, [])],
        f"POST {REPO}/pulls": [Answer(422, {"message": "There are no changes between the head and the base"})],
    }
    with pytest.raises(ForgeFailed, match="There are no changes"):
        forge.create_pull_request("repack/p", "main", "Mine", "")


def test_a_creation_whose_answer_is_lost_is_found_by_the_next_run(script: Script, forge: GiteaForge) -> None:
    script.routes = {
        f"GET {REPO}/pulls": [Answer(200, []), Answer(200, [pull(8)])],
        f"POST {REPO}/pulls": [Answer(201, pull(8), cut=20)],
    }
    with pytest.raises(TryAgain, match="may have been carried out"):
        forge.create_pull_request("repack/p", "main", "Mine", "")
    assert forge.create_pull_request("repack/p", "main", "Mine", "").number == 8
    assert [line for line in script.lines if line.startswith("POST")] == [f"POST {REPO}/pulls"]


def test_titles_fit_and_stay_on_one_line(script: Script, forge: GiteaForge) -> None:
    script.routes = {f"GET {REPO}/pulls": [Answer(200, [])], f"POST {REPO}/pulls": [Answer(201, pull())]}
    forge.create_pull_request("repack/p", "main", "a\nb " + "x" * 300, "", draft=True)
    sent = script.asked[-1].content["title"]
    assert sent.startswith("WIP: a b xxx")
    assert len(sent) == 255


@pytest.mark.parametrize(("title", "plain"), [("WIP: x", "x"), ("wip:x", "x"), (" [WIP]  x", "x"), ("Wiped", "Wiped")])
def test_draft_marks(title: str, plain: str) -> None:
    assert without_draft_mark(title) == plain
    assert has_draft_mark(title) is (title != plain)


def test_an_update_keeps_a_draft_that_a_person_made(script: Script, forge: GiteaForge) -> None:
    script.routes = {
        f"GET {REPO}/pulls/1": [Answer(200, pull(title="[WIP] Propose"))],
        f"PATCH {REPO}/pulls/1": [Answer(201, pull(title="WIP: New"))],
    }
    assert forge.update_pull_request(1, "New", "Why").draft
    assert script.asked[-1].content == {"title": "WIP: New", "body": "Why"}


def test_line_ends_are_no_change(script: Script, forge: GiteaForge) -> None:
    script.routes = {f"GET {REPO}/pulls/1": [Answer(200, pull(body="a\r\nb"))]}
    forge.update_pull_request(1, "Propose", "a\nb\n")
    assert script.lines == [f"GET {REPO}/pulls/1"]


def test_closing_what_was_merged_a_moment_ago(script: Script, forge: GiteaForge) -> None:
    merged = pull(state="closed", merged=True, merged_at="2026-01-02T04:00:00Z", merge_commit_sha="c" * 40)
    script.routes = {
        f"GET {REPO}/pulls/1": [Answer(200, pull()), Answer(200, merged)],
        f"PATCH {REPO}/pulls/1": [Answer(412, {"message": "it was already merged"})],
    }
    assert forge.close_pull_request(1).state == "merged"


def test_what_is_gone(script: Script, forge: GiteaForge) -> None:
    script.answers = [Answer(404, {"message": "not found"})]
    assert forge.pull_request(1) is None
    assert forge.protection("main") is None
    with pytest.raises(ForgeFailed, match="has no pull request 1"):
        forge.close_pull_request(1)
    with pytest.raises(ForgeFailed, match="has no pull request 1"):
        forge.update_pull_request(1, "t", "b")


@pytest.mark.parametrize("content", [{}, [], None, {"number": 1}, pull() | {"head": None}, pull(created_at="yesterday")])
def test_an_answer_that_makes_no_sense(script: Script, forge: GiteaForge, content: object) -> None:
    script.answers = [Answer(200, content)]
    with pytest.raises(ForgeFailed, match="about pull request 1 is not understood"):
        forge.pull_request(1)


def test_deleted_users(script: Script, forge: GiteaForge) -> None:
    script.answers = [Answer(200, pull(user=None))]
    found = forge.pull_request(1)
    assert found
    assert found.author == ""


def review(user: str, state: str, at: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": at,
        "user": {"login": user},
        "state": state,
        "commit_id": "a" * 40,
        "submitted_at": f"2026-01-02T03:{at:02}:00Z",
        "official": True,
        "dismissed": False,
        **changes,
    }


def test_the_latest_verdict_of_each_reviewer_counts() -> None:
    answers = [
        review("ada", "REQUEST_CHANGES", 5),
        review("ada", "APPROVED", 1),
        review("bob", "APPROVED", 2),
        review("bob", "COMMENT", 6),
        review("cyd", "COMMENT", 3),
        review("dee", "APPROVED", 4, dismissed=True),
        review("eve", "APPROVED", 7, official=False),
        review("eve", "REQUEST_REVIEW", 8),
        review("gus", "PENDING", 9),
        review("ghost", "APPROVED", 9) | {"user": None},
    ]
    assert [(r.user, r.state, r.counts) for r in latest_reviews(answers)] == [
        ("ada", "changes-requested", True),
        ("bob", "approved", True),
        ("cyd", "commented", True),
        ("dee", "dismissed", True),
        ("eve", "approved", False),
    ]
    assert latest_reviews(answers)[1] == Review("bob", "approved", "a" * 40, START.replace(minute=2), True)


def test_wishes_that_fail_are_shortfalls_and_asked_for_once(script: Script, forge: GiteaForge, clock: Clock) -> None:
    script.routes = {
        f"GET {REPO}/pulls/1": [Answer(200, pull(assignees=None, requested_reviewers=None))],
        f"GET {REPO}/pulls/1/reviews": [Answer(200, [])],
        f"POST {REPO}/pulls/1/requested_reviewers": [
            Answer(404, {"message": "user does not exist"}),
            Answer(500),
            Answer(201, []),
        ],
        f"PATCH {REPO}/pulls/1": [Answer(422, {"message": "Assignee does not exist"}), Answer(201, pull())],
        f"GET {REPO}/issues/1/labels": [Answer(200, [])],
        f"GET {REPO}/labels": [Answer(200, [{"name": "known", "id": 3}])],
        f"POST {REPO}/labels": [Answer(403, {"message": "not yours"})],
        f"POST {REPO}/issues/1/labels": [Answer(200, [])],
    }
    messages = [s.message for s in forge.request_reviewers(1, ["ada", "bob", "cyd", "ada"])]
    assert [message.split(":")[0] for message in messages] == [
        "'ada' was not asked for a review",
        "'bob' was not asked for a review",
    ]
    assert len(forge.set_assignees(1, ["ada", "bob"])) == 1
    assert script.asked[-1].content == {"assignees": ["bob"]}
    (shortfall,) = forge.set_labels(1, ["new", "known"])
    assert "label 'new' was not set" in shortfall.message
    assert script.asked[-1].content == {"labels": [3]}
    assert clock.sleeps == []


def test_statuses_are_sent_when_they_differ(script: Script, forge: GiteaForge) -> None:
    present = {"context": "repack/fresh", "status": "success", "description": "ok", "target_url": ""}
    script.routes = {
        f"GET {REPO}/commits/abc/status": [Answer(200, {"statuses": [present]})],
        f"POST {REPO}/statuses/abc": [Answer(500), Answer(201, {})],
    }
    forge.set_commit_status("abc", "repack/fresh", "success", "ok")
    assert len(script.asked) == 1
    forge.set_commit_status("abc", "repack/fresh", "failure", "ok", "https://x")
    sent = {"context": "repack/fresh", "state": "failure", "description": "ok", "target_url": "https://x"}
    assert [one.content for one in script.asked[2:]] == [sent, sent]
    script.routes[f"GET {REPO}/commits/abc/status"] = [Answer(200, {"statuses": None})]
    forge.set_commit_status("abc", "repack/fresh", "success", "ok")
    assert script.asked[-1].method == "POST"


def test_rules_that_only_administrators_see(script: Script, forge: GiteaForge) -> None:
    branch = {
        "protected": True,
        "user_can_push": False,
        "required_approvals": 1,
        "enable_status_check": False,
        "status_check_contexts": ["ignored"],
        "effective_branch_protection_name": "release/*",
    }
    script.routes = {
        f"GET {REPO}/branches/release/1": [Answer(200, branch)],
        f"GET {REPO}/branch_protections/release/%2A": [
            Answer(403, {"message": "no"}),
            Answer(200, {"dismiss_stale_approvals": True}),
        ],
    }
    assert forge.protection("release/1") == Protection(True, False, 1, (), None)
    assert forge.protection("release/1") == Protection(True, False, 1, (), True)


def test_merged_ones_are_found_among_many(script: Script, forge: GiteaForge) -> None:
    closed = [pull(n, head=f"repack/{n}", state="closed", closed_at="2026-01-02T04:00:00Z") for n in range(1, 4)]
    merged = pull(9, state="closed", merged=True, merged_at="2026-01-02T04:00:00Z", merge_commit_sha="c" * 40)
    link = {"Link": '</x?page=2>; rel="next"'}
    script.routes = {
        f"GET {REPO}/pulls": [Answer(200, closed, link), Answer(200, [merged])],
        f"GET {REPO}/pulls/9": [Answer(200, merged | {"merged_by": {"login": "ada"}})],
        f"GET {REPO}/git/refs/pull/9/head": [Answer(404)],
    }
    found = forge.find_merged("repack/p")
    assert found
    assert (found.number, found.merged_by, found.merge_commit) == (9, "ada", "c" * 40)
    script.routes[f"GET {REPO}/pulls"] = [Answer(200, closed)]
    assert forge.find_merged("repack/p") is None
