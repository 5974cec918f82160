"""Reading files, trees and commits from real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git import tree
from repack_gitops.git.interface import Change, Identity
from repack_gitops.git.repository import GitRepository
from tests.unit.git.scratch import NO_WAIT, Scratch, git


def test_a_file_is_read_at_a_commit_not_at_the_branch(clone: GitRepository, scratch: Scratch) -> None:
    first = scratch.tip
    scratch.human_commits("policies/a.yaml", "a: 2\n")
    assert clone.fetch("main") == scratch.tip
    assert clone.read("main", "policies/a.yaml", 100) == b"a: 2\n"
    assert clone.read(first, "policies/a.yaml", 100) == b"a: 1\n"
    assert clone.read("origin/main~1", "policies/a.yaml", 100) == b"a: 1\n"


@pytest.mark.parametrize("path", ["absent", "policies/absent", "README.md/below", "absent/below"])
def test_absent_files(clone: GitRepository, path: str) -> None:
    assert clone.read("main", path, 100) is None


def test_a_file_that_is_too_large(clone: GitRepository) -> None:
    assert clone.read("main", "README.md", 6) == b"hello\n"
    with pytest.raises(InvalidInput, match="has 6 bytes; at most 5"):
        clone.read("main", "README.md", 5)


def test_symlinks_submodules_and_directories_are_refused(clone: GitRepository, scratch: Scratch) -> None:
    work = scratch.checkout
    (work / "link").symlink_to("/etc/passwd")
    (work / "dir").symlink_to("policies")
    git(work, "add", "link", "dir")
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{scratch.tip},module")
    git(work, "commit", "--quiet", "-m", "Traps")
    git(work, "push", "--quiet", "origin", "main")
    clone.fetch("main")
    for path, kind in (("link", "a symlink"), ("module", "a submodule"), ("policies", "a directory")):
        with pytest.raises(InvalidInput, match=kind):
            clone.read("main", path, 100)
    with pytest.raises(InvalidInput, match="a symlink"):
        clone.read_many("main", ["README.md", "link"], 100)
    assert clone.read("main", "dir/a.yaml", 100) is None
    assert clone.list_files("main") == ("README.md", "dir", "link", "module", "policies/a.yaml")


ODD = ["a b", "ünï", "-rf", "new\nline", "tab\t", 'quo"te', "star*", "[x]", ":(top)x", "back\\slash", "\udcff\udcfe"]


def test_odd_file_names(clone: GitRepository, scratch: Scratch) -> None:
    for name in ODD:
        place = os.fsencode(scratch.checkout / "odd") + b"/" + os.fsencode(name)
        Path(os.fsdecode(place)).parent.mkdir(exist_ok=True)
        Path(os.fsdecode(place)).write_bytes(name.encode("utf-8", "surrogateescape"))
    git(scratch.checkout, "add", "odd")
    git(scratch.checkout, "commit", "--quiet", "-m", "Odd names")
    git(scratch.checkout, "push", "--quiet", "origin", "main")
    clone.fetch("main")
    paths = [f"odd/{name}" for name in ODD]
    assert set(clone.list_files("main", "odd")) == set(paths)
    assert clone.list_files("main", "odd/") == clone.list_files("main", "odd")
    contents = {path: path.removeprefix("odd/").encode("utf-8", "surrogateescape") for path in paths}
    assert {path: clone.read("main", path, 100) for path in paths} == contents
    assert clone.read_many("main", [*paths, "absent"], 100) == contents


def test_reading_nothing_asks_nothing(clone: GitRepository) -> None:
    assert clone.read_many("main", [], 100) == {}


def test_many_files_are_read_in_bounded_batches(
    clone: GitRepository, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        scratch.human_commits(f"n/{number}", "x" * number)
    clone.fetch("main")
    monkeypatch.setattr(tree, "_BATCH_BYTES", 4)
    assert clone.read_many("main", clone.list_files("main", "n"), 100) == {f"n/{n}": b"x" * n for n in range(5)}


def test_a_prefix_is_a_directory(clone: GitRepository, scratch: Scratch) -> None:
    scratch.human_commits("policies-old/b.yaml", "b: 1\n")
    clone.fetch("main")
    assert clone.list_files("main", "policies") == ("policies/a.yaml",)
    assert clone.list_files("main", "absent") == ()


def test_names_resolve_to_commits(clone: GitRepository, scratch: Scratch) -> None:
    tip = scratch.tip
    assert [clone.resolve(ref) for ref in ("main", "origin/main", "refs/remotes/origin/main", tip, tip[:10])] == [tip] * 5
    assert [clone.resolve(ref) for ref in ("absent", "f" * 40, "main~5", "refs/heads/main")] == [None] * 4
    with pytest.raises(GitFailed, match="no commit 'absent'"):
        clone.read("absent", "README.md", 10)


def test_a_tag_cannot_pass_for_a_branch(scratch: Scratch) -> None:
    first = scratch.tip
    tip = scratch.human_commits("x", "x")
    for name in ("main", "origin/main"):
        git(scratch.checkout, "tag", name, first)
    git(scratch.checkout, "fetch", "--quiet", "origin")
    with GitRepository.open(scratch.checkout, settings=NO_WAIT) as opened:
        assert (opened.resolve("main"), opened.resolve("origin/main")) == (tip, tip)


def test_fetching_an_absent_branch_is_an_answer(clone: GitRepository) -> None:
    assert clone.fetch("absent") is None


def test_commits_carry_people_and_trailers(clone: GitRepository, scratch: Scratch) -> None:
    base = scratch.tip
    message = "Subject é\n\nBody\nof two lines.\n\nRepack-Run: r-1\nApproved-By: ada"
    tip = scratch.human_commits("x", "x", message=message)
    clone.fetch("main")
    (commit,) = clone.commits(base, tip)
    assert (commit.id, commit.parents) == (tip, (base,))
    assert commit.author == commit.committer == Identity("Human", "human@example.test")
    assert (commit.subject, commit.body) == ("Subject é", "Body\nof two lines.\n\nRepack-Run: r-1\nApproved-By: ada")
    assert commit.trailers == (("Repack-Run", "r-1"), ("Approved-By", "ada"))
    assert commit.authored_at.tzinfo is not None
    assert clone.commits(tip, tip) == ()


def test_commits_are_newest_first(clone: GitRepository, scratch: Scratch) -> None:
    base = scratch.tip
    made = [scratch.human_commits("x", str(number)) for number in range(3)]
    clone.fetch("main")
    assert [commit.id for commit in clone.commits(base, "main")] == made[::-1]


def test_changes_between_two_commits(clone: GitRepository, scratch: Scratch) -> None:
    base = scratch.tip
    work = scratch.checkout
    git(work, "rm", "--quiet", "README.md")
    (work / "policies/a.yaml").write_text("a: 3\n")
    (work / "new\nname").write_text("")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "Change")
    git(work, "push", "--quiet", "origin", "main")
    middle = scratch.tip
    (work / "policies/a.yaml").unlink()
    (work / "policies/a.yaml").symlink_to("../x")
    git(work, "commit", "--quiet", "-am", "Retype")
    git(work, "push", "--quiet", "origin", "main")
    clone.fetch("main")
    expected = (Change("README.md", "deleted"), Change("new\nname", "added"), Change("policies/a.yaml", "modified"))
    assert clone.changes(base, middle) == expected
    assert clone.changes(middle, "main") == (Change("policies/a.yaml", "retyped"),)
    assert clone.changes("main", "main") == ()


def test_merge_base(clone: GitRepository, scratch: Scratch) -> None:
    base = scratch.tip
    left = scratch.human_commits("l", "l", branch="left")
    git(scratch.checkout, "reset", "--quiet", "--hard", base)
    right = scratch.human_commits("r", "r", branch="right")
    git(scratch.checkout, "checkout", "--quiet", "--orphan", "alone")
    alone = scratch.human_commits("a", "a", branch="alone")
    for branch in ("left", "right", "alone"):
        clone.fetch(branch)
    assert clone.merge_base(left, right) == base
    assert clone.merge_base(base, left) == base
    assert clone.merge_base(left, alone) is None
