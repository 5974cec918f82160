"""Commits: exactly the asked change, always the same id, nobody's index or working tree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git.interface import Change, Identity
from repack_gitops.git.repository import GitRepository
from repack_gitops.model.redaction import Redactor
from tests.unit.git.scratch import AUTHOR, NO_WAIT, WHEN, Scratch, git

CHANGES: Mapping[str, bytes | None] = {
    "runs/p/r-1/run.yaml": b"kind: RepackRun\r\n",
    "runs/p/r-1/empty": b"",
    "README.md": None,
    "policies/a.yaml": b"a: 2\n",
}


def test_a_commit_holds_exactly_the_changes(clone: GitRepository, scratch: Scratch) -> None:
    base = scratch.tip
    made = clone.commit(base, CHANGES, "Propose r-1\n\nWhy not.\n", AUTHOR, WHEN)
    assert clone.changes(base, made) == (
        Change("README.md", "deleted"),
        Change("policies/a.yaml", "modified"),
        Change("runs/p/r-1/empty", "added"),
        Change("runs/p/r-1/run.yaml", "added"),
    )
    assert clone.read(made, "runs/p/r-1/run.yaml", 100) == b"kind: RepackRun\r\n"
    (commit,) = clone.commits(base, made)
    assert (commit.author, commit.committer, commit.authored_at, commit.committed_at) == (AUTHOR, AUTHOR, WHEN, WHEN)
    assert (commit.parents, commit.subject, commit.body) == ((base,), "Propose r-1", "Why not.")


def test_the_same_arguments_give_the_same_id(clone: GitRepository, scratch: Scratch) -> None:
    made = clone.commit(scratch.tip, CHANGES, "Propose", AUTHOR, WHEN)
    reordered = dict(reversed(list(CHANGES.items())))
    assert clone.commit(scratch.tip, reordered, "Propose", AUTHOR, WHEN) == made
    with GitRepository.open(scratch.checkout, settings=NO_WAIT) as other:
        assert other.commit(scratch.tip, CHANGES, "Propose", AUTHOR, WHEN) == made
    assert clone.commit(scratch.tip, CHANGES, "Propose", AUTHOR, WHEN + timedelta(seconds=1)) != made


def test_time_zones_are_kept(clone: GitRepository, scratch: Scratch) -> None:
    when = datetime(2026, 7, 1, 12, 0, tzinfo=timezone(-timedelta(hours=3, minutes=30)))
    made = clone.commit(scratch.tip, CHANGES, "Propose", AUTHOR, when)
    (commit,) = clone.commits(scratch.tip, made)
    assert commit.authored_at.isoformat() == "2026-07-01T12:00:00-03:30"


def test_changes_that_change_nothing_make_no_commit(clone: GitRepository, scratch: Scratch) -> None:
    for changes in ({}, {"policies/a.yaml": b"a: 1\n"}, {"absent": None}):
        assert clone.commit(scratch.tip, changes, "Nothing", AUTHOR, WHEN) == scratch.tip


def test_a_file_replaces_a_symlink_and_never_follows_it(clone: GitRepository, scratch: Scratch, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("untouched")
    (scratch.checkout / "result.yaml").symlink_to(target)
    git(scratch.checkout, "add", ".")
    git(scratch.checkout, "commit", "--quiet", "-m", "Trap")
    git(scratch.checkout, "push", "--quiet", "origin", "main")
    clone.fetch("main")
    made = clone.commit(scratch.tip, {"result.yaml": b"done\n"}, "Record", AUTHOR, WHEN)
    assert clone.read(made, "result.yaml", 10) == b"done\n"
    assert target.read_text() == "untouched"


@pytest.mark.parametrize("changes", [{"policies": b"x"}, {"README.md/x": b"x"}, {"a": b"x", "a/b": b"y"}])
def test_nothing_but_the_named_paths_is_ever_replaced(
    clone: GitRepository, scratch: Scratch, changes: Mapping[str, bytes]
) -> None:
    with pytest.raises(InvalidInput, match="would replace"):
        clone.commit(scratch.tip, changes, "Clash", AUTHOR, WHEN)


def test_a_directory_may_replace_a_file_if_both_are_named(clone: GitRepository, scratch: Scratch) -> None:
    made = clone.commit(scratch.tip, {"README.md": None, "README.md/x": b"x"}, "Replace", AUTHOR, WHEN)
    assert clone.list_files(made) == ("README.md/x", "policies/a.yaml")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/hooks/x", "a/.GIT/x", "a\nb", ""])
def test_dangerous_paths_are_refused(clone: GitRepository, scratch: Scratch, path: str) -> None:
    with pytest.raises(InvalidInput):
        clone.commit(scratch.tip, {path: b"x"}, "Evil", AUTHOR, WHEN)


@pytest.mark.parametrize(
    ("author", "when"),
    [
        (Identity("", "a@b"), WHEN),
        (Identity("A\nB", "a@b"), WHEN),
        (Identity("A <x>", "a@b"), WHEN),
        (Identity("A", "a b"), WHEN),
        (AUTHOR, WHEN.replace(tzinfo=None)),
    ],
)
def test_authors_and_times_are_checked(clone: GitRepository, scratch: Scratch, author: Identity, when: datetime) -> None:
    with pytest.raises(InvalidInput):
        clone.commit(scratch.tip, CHANGES, "Propose", author, when)


def test_the_message_is_scrubbed_and_otherwise_kept(scratch: Scratch) -> None:
    message = "Über\n\n# not a comment\n\n  indented sesame-open\n"
    with GitRepository.clone(scratch.url, branch="main", redactor=Redactor(["sesame-open"])) as clone:
        made = clone.commit(scratch.tip, CHANGES, message, AUTHOR, WHEN)
        (commit,) = clone.commits(scratch.tip, made)
    assert (commit.subject, commit.body) == ("Über", "# not a comment\n\n  indented ***")


def test_the_parent_must_be_a_commit_that_is_there(clone: GitRepository) -> None:
    with pytest.raises(InvalidInput):
        clone.commit("main", CHANGES, "Propose", AUTHOR, WHEN)
    with pytest.raises(GitFailed):
        clone.commit("f" * 40, CHANGES, "Propose", AUTHOR, WHEN)
