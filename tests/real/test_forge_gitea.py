"""Both edge rooms against a real Gitea: what its API and its git server answer, not what we think they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
import requests

from repack_gitops.errors import ForgeFailed, GitFailed
from repack_gitops.forge.gitea import GiteaForge
from repack_gitops.forge.interface import Permissions, Protection, PullRequest, Review
from repack_gitops.forge.kinds import open_forge
from repack_gitops.forge.patience import Patience
from repack_gitops.git.credentials import Credentials
from repack_gitops.git.interface import ANY, Deleted, Denied, Identity, NonFastForward, Protected, Pushed
from repack_gitops.git.repository import GitRepository
from repack_gitops.model.redaction import Redactor
from repack_gitops.workflow.rebase import push_with_rebase
from tests.testbed.gitea_api import ForgeRepo, GiteaApi, GiteaError, MergeStyle
from tests.testbed.waiting import wait_for

WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BOT = Identity("Repack Bot", "bot@example.test")
NO_GAP = Patience(write_gap=0)


def forge_of(repo: ForgeRepo, *secrets: str) -> GiteaForge:
    opened = open_forge("gitea", repo.api.url, repo.slug, repo.token, patience=NO_GAP, redactor=Redactor(secrets))
    return cast(GiteaForge, opened)


def clone_of(repo: ForgeRepo) -> GitRepository:
    credentials = Credentials.for_url(repo.url, repo.token, forge_of(repo).git_username)
    return GitRepository.clone(forge_of(repo).git_url, branch="main", credentials=credentials)


@dataclass(frozen=True)
class Scene:
    """A repository, and both edges of this project looking at it as the user ``repacker``, who may write."""

    repo: ForgeRepo
    forge: GiteaForge
    clone: GitRepository

    def branch(self, name: str, path: str = "runs/r/run.yaml", content: str = "x") -> str:
        """Push a branch with one commit on top of main, and return the commit."""
        base = self.clone.fetch("main")
        assert base
        commit = self.clone.commit(base, {path: content.encode()}, f"Write {path}", BOT, WHEN)
        assert self.clone.push(commit, name, None) == Pushed(commit)
        return commit

    def propose(self, name: str, *, draft: bool = False) -> PullRequest:
        """Push a branch and open its pull request."""
        self.branch(name, f"runs/{name}/run.yaml")
        return self.forge.create_pull_request(name, "main", f"Propose {name}", "Why.", draft)


@pytest.fixture
def repacker(forge_repo: ForgeRepo, gitea: GiteaApi) -> ForgeRepo:
    """The repository as a bot sees it that may write but not administer."""
    api = gitea.create_user("repacker")
    forge_repo.add_collaborator("repacker")
    return forge_repo.seen_by(api)


@pytest.fixture
def scene(repacker: ForgeRepo) -> Iterator[Scene]:
    with clone_of(repacker) as clone:
        yield Scene(repacker, forge_of(repacker), clone)


@pytest.fixture
def reviewer(forge_repo: ForgeRepo, gitea: GiteaApi) -> ForgeRepo:
    """The repository as a colleague sees it who may write."""
    api = gitea.create_user("ada")
    forge_repo.add_collaborator("ada")
    return forge_repo.seen_by(api)


# Pull requests: create, find, update, close.


def test_create_find_update_close(scene: Scene) -> None:
    commit = scene.branch("repack/p/r-1")
    made = scene.forge.create_pull_request("repack/p/r-1", "main", "Propose r-1", "First line\n\n<!-- data -->\n")
    assert (made.head, made.base, made.head_commit) == ("repack/p/r-1", "main", commit)
    assert (made.title, made.body, made.state, made.draft) == ("Propose r-1", "First line\n\n<!-- data -->\n", "open", False)
    assert (made.author, made.labels, made.in_merge_queue) == ("repacker", (), False)
    assert made.url == f"{scene.repo.api.url}/{scene.repo.slug}/pulls/{made.number}"
    assert abs(made.created_at - datetime.now(UTC)) < timedelta(minutes=5)
    assert scene.forge.open_pull_requests("main", "repack/") == (made,)
    assert scene.forge.open_pull_requests("main", "repack/other") == ()
    assert scene.forge.open_pull_requests("release", "repack/") == ()

    updated = scene.forge.update_pull_request(made.number, "Propose r-1 again", "New body ✓")
    assert (updated.title, updated.body, updated.number) == ("Propose r-1 again", "New body ✓", made.number)
    assert scene.forge.pull_request(made.number) == updated

    closed = scene.forge.close_pull_request(made.number)
    assert (closed.state, closed.merged_at, closed.merge_commit) == ("closed", None, None)
    assert closed.closed_at is not None
    assert scene.forge.close_pull_request(made.number) == closed, "closing twice is closing once"
    assert scene.forge.open_pull_requests("main", "") == ()
    assert scene.forge.closed_pull_requests("main", "repack/", closed.closed_at) == (closed,)
    assert scene.forge.closed_pull_requests("main", "repack/", closed.closed_at + timedelta(seconds=2)) == ()
    assert scene.forge.find_merged("repack/p/r-1") is None


def test_creating_twice_gives_the_one_there_is(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene.propose("repack/p/r-1")
    again = scene.forge.create_pull_request("repack/p/r-1", "main", "Another title", "Another body")
    assert again == made


def test_a_race_to_create_is_healed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene.propose("repack/p/r-1")
    looks = iter([None])
    look = scene.forge._find_open

    def blind_at_first(head: str, base: str) -> PullRequest | None:
        return next(looks, look(head, base))

    monkeypatch.setattr(scene.forge, "_find_open", blind_at_first)
    assert scene.forge.create_pull_request("repack/p/r-1", "main", "Another title", "Another body") == made


def test_a_closed_pull_request_does_not_stand_in_the_way(scene: Scene) -> None:
    first = scene.propose("repack/p/r-1")
    scene.forge.close_pull_request(first.number)
    second = scene.forge.create_pull_request("repack/p/r-1", "main", "Propose again", "")
    assert second.number > first.number
    assert second.state == "open"


def test_a_pull_request_from_nothing_is_refused(scene: Scene) -> None:
    with pytest.raises(ForgeFailed, match="404"):
        scene.forge.create_pull_request("repack/absent", "main", "Title", "")


def test_a_branch_without_changes(scene: Scene) -> None:
    base = scene.clone.fetch("main")
    assert base
    scene.clone.push(base, "repack/same", None)
    made = scene.forge.create_pull_request("repack/same", "main", "Nothing to see", "")
    assert made.state == "open", "Gitea accepts it, so the caller must not ask for it"


def test_drafts_are_a_matter_of_the_adapter(scene: Scene, forge_repo: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1", draft=True)
    assert (made.title, made.draft) == ("Propose repack/p/r-1", True)
    assert forge_repo.pull_request(made.number)["title"] == "WIP: Propose repack/p/r-1"
    updated = scene.forge.update_pull_request(made.number, "New title", "New body")
    assert (updated.title, updated.draft) == ("New title", True)
    forge_repo.call("PATCH", f"/pulls/{made.number}", {"title": "New title"})
    assert scene.forge.update_pull_request(made.number, "Newer title", "New body").draft is False


def test_a_body_of_the_full_size(scene: Scene) -> None:
    made = scene.propose("repack/p/r-1")
    body = "✓ line\n" * (scene.forge.body_limit // 7)
    assert scene.forge.update_pull_request(made.number, "Large", body).body == body


def test_an_update_that_changes_nothing_sends_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene.propose("repack/p/r-1")

    def no_write(*args: object, **options: object) -> None:
        raise AssertionError(f"sent {args}")

    monkeypatch.setattr(scene.forge._session, "write", no_write)
    assert scene.forge.update_pull_request(made.number, made.title, made.body) == made
    assert scene.forge.set_labels(made.number, [], ["absent"]) == ()


def test_forks_are_not_ours(scene: Scene, gitea: GiteaApi, forge_repo: ForgeRepo) -> None:
    mallory = gitea.create_user("mallory")
    mallory.call("POST", f"/repos/{forge_repo.slug}/forks", {"name": forge_repo.name})
    fork = replace(forge_repo, api=mallory, owner="mallory")
    with clone_of(fork) as clone:
        base = clone.resolve("main")
        assert base
        commit = clone.commit(base, {"runs/evil/run.yaml": b"x"}, "Evil", BOT, WHEN)
        clone.push(commit, "repack/p/r-1", None)
    forge_repo.seen_by(mallory).open_pull_request("mallory:repack/p/r-1")
    assert scene.forge.open_pull_requests("main", "repack/") == ()
    made = scene.propose("repack/p/r-1")
    assert scene.forge.open_pull_requests("main", "repack/") == (made,)


def test_pages(scene: Scene) -> None:
    made = [scene.propose(f"repack/p/r-{number}") for number in range(4)]
    pulls = list(scene.forge._session.pages(f"{scene.forge._root}/pulls", {"state": "open"}, page_size=1))
    assert sorted(pull["number"] for pull in pulls) == [pull.number for pull in made]


# Merges: whichever style, whoever did it.


@pytest.mark.parametrize("style", ["merge", "squash", "rebase", "rebase-merge"])
def test_merged_pull_requests_are_found(scene: Scene, reviewer: ForgeRepo, style: MergeStyle) -> None:
    made = scene.propose("repack/p/r-1")
    merge_commit = reviewer.merge(made.number, style)
    scene.clone.delete_branch("repack/p/r-1", ANY)

    def seen() -> bool:
        found = scene.forge.pull_request(made.number)
        return bool(found and found.head_commit == made.head_commit)

    wait_for("the head of the merged pull request", seen, 15)
    merged = scene.forge.find_merged("repack/p/r-1")
    assert merged == scene.forge.pull_request(made.number)
    assert merged
    assert (merged.state, merged.merged_by, merged.merge_commit) == ("merged", "ada", merge_commit)
    assert (merged.head, merged.author) == ("repack/p/r-1", "repacker")
    assert merged.merged_at
    assert scene.forge.closed_pull_requests("main", "repack/", merged.merged_at) == (merged,)
    assert scene.clone.fetch("main") == merge_commit
    assert scene.clone.read("main", "runs/repack/p/r-1/run.yaml", 10) == b"x"
    assert scene.forge.close_pull_request(made.number) == merged
    with pytest.raises(GiteaError):
        reviewer.call("PATCH", f"/pulls/{made.number}", {"state": "closed"})


def test_a_merged_pull_request_keeps_its_head_when_the_branch_comes_again(scene: Scene, reviewer: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    reviewer.merge(made.number, "squash")
    scene.clone.delete_branch("repack/p/r-1", ANY)
    scene.branch("repack/p/r-1", "another")
    merged = scene.forge.find_merged("repack/p/r-1")
    assert merged
    assert (merged.number, merged.head_commit) == (made.number, made.head_commit)
    assert scene.forge.open_pull_requests("main", "repack/") == ()


def test_deleting_a_branch_closes_its_pull_request(scene: Scene) -> None:
    made = scene.propose("repack/p/r-1")
    scene.clone.delete_branch("repack/p/r-1", made.head_commit)
    wait_for("Gitea to close it", lambda: scene.forge.open_pull_requests("main", "repack/") == (), 15)
    closed = scene.forge.pull_request(made.number)
    assert closed
    assert (closed.state, closed.head, closed.head_commit) == ("closed", "repack/p/r-1", made.head_commit)


def test_a_merge_between_our_look_and_our_close(scene: Scene, reviewer: ForgeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene.propose("repack/p/r-1")
    reviewer.merge(made.number)
    looks = iter([made])
    look = scene.forge._required
    monkeypatch.setattr(scene.forge, "_required", lambda number: next(looks, None) or look(number))
    assert scene.forge.close_pull_request(made.number).state == "merged"


# Comments, labels, people, reviews, statuses.


def test_comments(scene: Scene, reviewer: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    first = scene.forge.comment(made.number, "Run r-1 **done**.")
    reviewer.call("POST", f"/issues/{made.number}/comments", {"body": "Thanks"})
    assert (first.author, first.body) == ("repacker", "Run r-1 **done**.")
    assert [(c.author, c.body) for c in scene.forge.comments(made.number)] == [
        ("repacker", "Run r-1 **done**."),
        ("ada", "Thanks"),
    ]
    reviewer.merge(made.number)
    scene.forge.comment(made.number, "After the merge")
    assert len(scene.forge.comments(made.number)) == 3


def test_labels(scene: Scene, reviewer: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    reviewer.call("POST", "/labels", {"name": "human", "color": "#ffffff"})
    label = reviewer.call("GET", "/labels")[0]["id"]
    reviewer.call("POST", f"/issues/{made.number}/labels", {"labels": [label]})
    assert scene.forge.set_labels(made.number, ["repack", "risk/low"]) == ()
    assert labels(scene, made) == ("human", "repack", "risk/low")
    assert scene.forge.set_labels(made.number, ["repack", "risk/high"], ["risk/low", "never-there"]) == ()
    assert labels(scene, made) == ("human", "repack", "risk/high")
    assert len(reviewer.call("GET", "/labels")) == 4, "each label was created once"
    (shortfall,) = scene.forge.set_labels(made.number, ["x" * 51, "fine"])
    assert "more than 50 characters" in shortfall.message
    assert labels(scene, made) == ("fine", "human", "repack", "risk/high")


def labels(scene: Scene, pull: PullRequest) -> tuple[str, ...]:
    found = scene.forge.pull_request(pull.number)
    assert found
    return found.labels


def test_reviewers_and_assignees(scene: Scene, reviewer: ForgeRepo, forge_repo: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    shortfalls = scene.forge.request_reviewers(made.number, ["nobody-of-that-name", "ada", "repacker"])
    assert [s.message.split(":")[0] for s in shortfalls] == [
        "'nobody-of-that-name' was not asked for a review",
        "'repacker' was not asked for a review",
    ]
    assert [user["login"] for user in forge_repo.pull_request(made.number)["requested_reviewers"]] == ["ada"]
    assert scene.forge.request_reviewers(made.number, ["ada"]) == ()
    shortfalls = scene.forge.set_assignees(made.number, ["ada", "nobody-of-that-name"])
    assert [s.message.split(":")[0] for s in shortfalls] == ["'nobody-of-that-name' was not made an assignee"]
    assert scene.forge.set_assignees(made.number, ["repacker"]) == ()
    assignees = {user["login"] for user in forge_repo.pull_request(made.number)["assignees"]}
    assert assignees == {"ada", "repacker"}


def test_reviewers_may_be_teams(scene: Scene, gitea: GiteaApi, forge_repo: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    body = {"name": f"ops-{made.created_at:%H%M%S%f}", "permission": "write", "units": ["repo.code", "repo.pulls"]}
    team = gitea.call("POST", f"/orgs/{forge_repo.owner}/teams", body)
    gitea.call("PUT", f"/teams/{team['id']}/repos/{forge_repo.slug}")
    assert scene.forge.request_reviewers(made.number, [f"{forge_repo.owner}/{team['name']}"]) == ()
    asked = forge_repo.pull_request(made.number)["requested_reviewers_teams"]
    assert [one["name"] for one in asked] == [team["name"]]
    assert scene.forge.request_reviewers(made.number, [f"{forge_repo.owner}/{team['name']}"]) == ()
    (shortfall,) = scene.forge.request_reviewers(made.number, [f"{forge_repo.owner}/no-such-team"])
    assert "no-such-team" in shortfall.message


def test_reviews(scene: Scene, reviewer: ForgeRepo, gitea: GiteaApi, forge_repo: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    outsider = forge_repo.seen_by(gitea.create_user("outsider"))
    assert scene.forge.reviews(made.number) == ()
    outsider.approve(made.number)
    reviewer.approve(made.number)
    reviewer.call("POST", f"/pulls/{made.number}/reviews", {"event": "COMMENT", "body": "By the way"})
    assert [verdict(review) for review in scene.forge.reviews(made.number)] == [
        ("ada", "approved", made.head_commit, True),
        ("outsider", "approved", made.head_commit, False),
    ]
    reviewer.call("POST", f"/pulls/{made.number}/reviews", {"event": "REQUEST_CHANGES", "body": "On second thought"})
    assert verdict(scene.forge.reviews(made.number)[0])[:2] == ("ada", "changes-requested")


def verdict(review: Review) -> tuple[str, str, str, bool]:
    return review.user, review.state, review.commit, review.counts


def test_an_approval_names_the_commit_it_is_about(scene: Scene, reviewer: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    reviewer.approve(made.number)
    base = scene.clone.fetch("main")
    assert base
    moved = scene.clone.commit(base, {"runs/other": b"y"}, "Rebuilt", BOT, WHEN)
    assert scene.clone.push(moved, "repack/p/r-1", made.head_commit) == Pushed(moved)

    def seen() -> bool:
        found = scene.forge.pull_request(made.number)
        return bool(found and found.head_commit == moved)

    wait_for("the new head", seen, 15)
    (review,) = scene.forge.reviews(made.number)
    assert (review.state, review.commit) == ("approved", made.head_commit)


def test_commit_statuses(scene: Scene, reviewer: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    commit = made.head_commit
    for _ in range(2):
        scene.forge.set_commit_status(commit, "repack/fresh", "success", "checked 12:00", "https://example.test/x")
    assert len(reviewer.call("GET", f"/commits/{commit}/statuses")) == 1, "the same status is sent once"
    scene.forge.set_commit_status(commit, "repack/fresh", "failure", "stale")
    scene.forge.set_commit_status(commit, "repack/other", "pending", "")
    latest = {s["context"]: s["status"] for s in reviewer.call("GET", f"/commits/{commit}/status")["statuses"]}
    assert latest == {"repack/fresh": "failure", "repack/other": "pending"}


def test_secrets_never_arrive(scene: Scene) -> None:
    made = scene.propose("repack/p/r-1")
    forge = forge_of(scene.repo, "open-sesame-123")
    said = forge.comment(made.number, f"token {scene.repo.token} and open-sesame-123 and https://u:p@h/x")
    assert said.body == "token *** and *** and https://***@h/x"
    assert forge.update_pull_request(made.number, "open-sesame-123", "open-sesame-123").title == "***"


# Who we are, and what we may do.


def test_who_and_what(scene: Scene, forge_repo: ForgeRepo) -> None:
    assert scene.forge.whoami() == "repacker"
    assert scene.forge.permissions() == Permissions(read=True, write=True, admin=False)
    assert forge_of(forge_repo).permissions().admin is True


def test_addresses_of_files(scene: Scene) -> None:
    scene.branch("repack/p", "runs/r/layout.svg", "<svg/>")
    picture = requests.get(scene.forge.file_content("repack/p", "runs/r/layout.svg"), timeout=30)
    assert (picture.status_code, picture.text) == (200, "<svg/>")


def test_protection(scene: Scene, forge_repo: ForgeRepo) -> None:
    scene.branch("release/1")
    assert scene.forge.protection("absent") is None
    assert scene.forge.protection("release/1") == Protection(False, True, 0, ())
    forge_repo.protect_branch("main", approvals=2, checks=["repack/check"], dismiss_stale_approvals=True)
    assert scene.forge.protection("main") == Protection(True, False, 2, ("repack/check",))
    assert forge_of(forge_repo).protection("main") == Protection(True, False, 2, ("repack/check",), True)


def test_a_wrong_token(scene: Scene) -> None:
    wrong = forge_of(replace(scene.repo, api=replace(scene.repo.api, token="0" * 40)))
    with pytest.raises(ForgeFailed, match=r"401.*token is expired or wrong") as caught:
        wrong.whoami()
    assert "Create a new token" in caught.value.hint


def test_a_repository_that_may_not_be_seen(scene: Scene) -> None:
    hidden = forge_of(replace(scene.repo, name="absent"))
    with pytest.raises(ForgeFailed, match="forges answer 404 for both"):
        hidden.open_pull_requests("main", "")


def test_a_token_that_may_only_read(scene: Scene, gitea: GiteaApi, forge_repo: ForgeRepo) -> None:
    made = scene.propose("repack/p/r-1")
    reader = forge_of(forge_repo.seen_by(gitea.create_user("outsider")))
    assert reader.permissions() == Permissions(read=True, write=False, admin=False)
    with pytest.raises(ForgeFailed, match="403"):
        reader.close_pull_request(made.number)
    (shortfall,) = reader.set_labels(made.number, ["repack"])
    assert "label 'repack' was not set" in shortfall.message


# Git over HTTP with the same server.


def test_pushing_to_a_protected_branch(scene: Scene, forge_repo: ForgeRepo) -> None:
    forge_repo.protect_branch("main", approvals=1)
    base = scene.clone.resolve("main")
    assert base
    commit = scene.clone.commit(base, {"x": b"x"}, "Direct", BOT, WHEN)
    answer = scene.clone.push(commit, "main", base)
    assert isinstance(answer, Protected)
    assert "protected branch main" in answer.message
    assert scene.clone.fetch("main") == base


def test_a_protected_branch_that_the_bot_may_push_to(scene: Scene, forge_repo: ForgeRepo) -> None:
    forge_repo.protect_branch("main", approvals=1, pushers=["repacker"])
    answer = push_with_rebase(scene.clone, record(scene), "main")
    assert isinstance(answer, Pushed)


def record(scene: Scene) -> Callable[[str], str]:
    return lambda parent: scene.clone.commit(parent, {"runs/r/result.yaml": b"done"}, "Record", BOT, WHEN)


def test_force_pushing_a_protected_branch(scene: Scene, forge_repo: ForgeRepo) -> None:
    first = scene.branch("audit/x")
    forge_repo.protect_branch("audit/*", pushers=["repacker"])
    base = scene.clone.resolve("main")
    assert base
    other = scene.clone.commit(base, {"y": b"y"}, "Other", BOT, WHEN)
    assert isinstance(scene.clone.push(other, "audit/x", first), Protected)
    assert isinstance(scene.clone.delete_branch("audit/x", first), Protected)


def test_leases_over_http(scene: Scene) -> None:
    commit = scene.branch("repack/p")
    base = scene.clone.resolve("main")
    assert base
    other = scene.clone.commit(base, {"y": b"y"}, "Other", BOT, WHEN)
    assert isinstance(scene.clone.push(other, "repack/p", None), NonFastForward)
    assert isinstance(scene.clone.push(other, "repack/p", base), NonFastForward)
    assert isinstance(scene.clone.push(other, "repack/p", ANY), NonFastForward)
    assert scene.clone.push(other, "repack/p", commit) == Pushed(other)
    assert scene.clone.remote_branches("repack/") == {"repack/p": other}
    assert scene.clone.delete_branch("repack/p", other) == Deleted(existed=True)
    assert scene.clone.delete_branch("repack/p", other) == Deleted(existed=False)


def test_git_without_the_right_to_push(scene: Scene, gitea: GiteaApi, forge_repo: ForgeRepo) -> None:
    with clone_of(forge_repo.seen_by(gitea.create_user("outsider"))) as clone:
        base = clone.resolve("main")
        assert base
        commit = clone.commit(base, {"x": b"x"}, "Try", BOT, WHEN)
        assert isinstance(clone.push(commit, "repack/p", None), Denied)
    wrong = Credentials.for_url(forge_repo.url, "0" * 40)
    with GitRepository.clone(forge_repo.url, branch="main", credentials=wrong) as clone:
        assert isinstance(clone.push(base, "repack/p", None), Denied)


def test_a_private_repository(gitea: GiteaApi, forge_repo: ForgeRepo) -> None:
    forge_repo.call("PATCH", "", {"private": True})
    with clone_of(forge_repo) as clone:
        assert clone.list_files("main") == ("README.md",)
    outsider = gitea.create_user("outsider")
    for stranger in (None, Credentials.for_url(forge_repo.url, outsider.token)):
        with pytest.raises(GitFailed, match="token is valid and may read"):
            GitRepository.clone(forge_repo.url, branch="main", credentials=stranger)
    with pytest.raises(ForgeFailed, match="404"):
        forge_of(forge_repo.seen_by(outsider)).open_pull_requests("main", "")
