"""Paths, branches and revisions: what is let through agrees with git, and nothing dangerous is."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repack_gitops.errors import InvalidInput
from repack_gitops.git.paths import readable_path, writable_path
from repack_gitops.git.refs import branch_name, object_id, split_revision


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "a/../b",
        "..",
        "a//b",
        "a/",
        "./a",
        "a\0b",
        "a\nb",
        "a\x1bb",
        ".git/config",
        "x/.GIT/hooks/pre-push",
        "x/.git. ./config",
        "git~1/config",
        "a\\b",
        "C:evil",
        "a\udcffb",
        "x" * 5000,
    ],
)
def test_paths_that_must_not_be_written(path: str) -> None:
    with pytest.raises(InvalidInput):
        writable_path(path)


@pytest.mark.parametrize("path", ["a", "runs/p/r-1/run.yaml", "naïve/日本.yaml", "with space/x", "-rf", ".gitignore", "a..b"])
def test_paths_that_may_be_written(path: str) -> None:
    assert writable_path(path) == path


def test_odd_names_may_still_be_read() -> None:
    assert readable_path("a\nb/\udcff") == "a\nb/\udcff"


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("ab.-/@{~^:?*[\\ \x7flock"), min_size=1, max_size=12))
def test_branch_names_agree_with_git(name: str) -> None:
    verdict = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], check=False).returncode == 0
    try:
        branch_name(name)
        accepted = True
    except InvalidInput:
        accepted = False
    # We refuse a little more: names that a command line or a revision could misread.
    assert not accepted or verdict
    assert accepted or not verdict or name.startswith("-") or name in ("@", "HEAD")


@pytest.mark.parametrize("name", ["-x", "HEAD", "@", "refs/heads/x", "a..b", "a.lock", "a b", "a" * 300, "x@{1}", ""])
def test_branch_names_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        branch_name(name)


@pytest.mark.parametrize("ref", ["", "-x", "a..b", ":README.md", ":/text", "main@{1}", "main:README.md", "a b", "^main"])
def test_revision_syntax_that_reads_more_than_a_commit_is_refused(ref: str) -> None:
    with pytest.raises(InvalidInput):
        split_revision(ref)


def test_revisions_may_walk_back() -> None:
    assert split_revision("origin/main~2^1") == ("origin/main", "~2^1")


def test_object_ids_are_complete() -> None:
    assert object_id("a" * 40) == "a" * 40
    assert object_id("b" * 64) == "b" * 64
    for wrong in ("a" * 39, "A" * 40, "HEAD", ""):
        with pytest.raises(InvalidInput):
            object_id(wrong)
