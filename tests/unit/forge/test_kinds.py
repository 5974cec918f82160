"""Opening a forge: what is known, what is refused, and what no forge at all does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from repack_gitops.errors import ForgeFailed, InvalidInput
from repack_gitops.forge.kinds import KINDS, open_forge
from repack_gitops.forge.none import NoForge
from tests.unit.forge.scripted import TOKEN


@pytest.mark.parametrize("kind", ["gitea", "forgejo"])
def test_gitea_and_its_fork(kind: str) -> None:
    forge = open_forge(kind, "https://git.example/sub/", "o/r", TOKEN)
    assert (forge.kind, forge.git_url, forge.git_username) == (kind, "https://git.example/sub/o/r.git", "repack")
    assert forge.body_limit >= 65_536
    page, content = forge.file_page("repack/p", "runs/a b/#1"), forge.file_content("repack/p", "x.svg")
    assert page == "https://git.example/sub/o/r/src/branch/repack/p/runs/a%20b/%231"
    assert content == "https://git.example/sub/o/r/raw/branch/repack/p/x.svg"


@pytest.mark.parametrize(
    ("kind", "url", "repository", "token"),
    [
        ("svn", "https://h", "o/r", TOKEN),
        ("", "https://h", "o/r", TOKEN),
        ("gitea", "ssh://h", "o/r", TOKEN),
        ("gitea", "h", "o/r", TOKEN),
        ("gitea", f"https://bot:{TOKEN}@h", "o/r", TOKEN),
        ("gitea", "https://h/?x", "o/r", TOKEN),
        ("gitea", "https://h", "r", TOKEN),
        ("gitea", "https://h", "o/r/x", TOKEN),
        ("gitea", "https://h", "../r", TOKEN),
        ("gitea", "https://h", "o/r", ""),
        ("gitea", "https://h", "o/r", "a b"),
        ("gitea", "https://h", "o/r", "abc\n"),
    ],
)
def test_what_cannot_be_opened(kind: str, url: str, repository: str, token: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_forge(kind, url, repository, token)
    assert caught.value.hint
    assert TOKEN not in str(caught.value)


def test_a_missing_ca_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        open_forge("gitea", "https://h", "o/r", TOKEN, ca_file=tmp_path / "ca.pem")


def test_unknown_kinds_name_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as caught:
        open_forge("github-enterprise", "https://h", "o/r", TOKEN)
    assert all(kind in caught.value.hint for kind in KINDS)


def test_no_forge() -> None:
    forge = open_forge("none", "ssh://git@h/r.git", "", "")
    assert isinstance(forge, NoForge)
    assert (forge.kind, forge.git_url, forge.whoami()) == ("none", "ssh://git@h/r.git", "")
    made = forge.create_pull_request("repack/p", "main", "Title", "Body", draft=True)
    assert (made.number, made.url, made.state, made.head, made.draft) == (0, "", "open", "repack/p", True)
    assert forge.open_pull_requests("main", "") == forge.closed_pull_requests("main", "", datetime.now(UTC)) == ()
    assert forge.pull_request(0) is None
    assert forge.find_merged("repack/p") is None
    assert forge.protection("main") is None
    assert forge.comment(0, "Done").body == "Done"
    assert (forge.comments(0), forge.reviews(0), forge.set_labels(0, ["x"])) == ((), (), ())
    assert (forge.request_reviewers(0, []), forge.set_assignees(0, [])) == ((), ())
    assert "ada, bob" in forge.request_reviewers(0, ["ada", "bob"])[0].message
    assert "ada" in forge.set_assignees(0, ["ada"])[0].message
    forge.set_commit_status("abc", "x", "success", "ok")
    assert forge.permissions().write
    with pytest.raises(ForgeFailed, match="used without a forge"):
        forge.close_pull_request(0)
    with pytest.raises(ForgeFailed, match="used without a forge"):
        forge.update_pull_request(0, "t", "b")
