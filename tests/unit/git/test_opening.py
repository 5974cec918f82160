"""Opening somebody's clone: hostile config runs nothing, nothing of theirs is written, odd clones work."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git.interface import ANY, Pushed
from repack_gitops.git.repository import GitRepository
from tests.unit.git.scratch import AUTHOR, NO_WAIT, WHEN, Scratch, git, make_scratch


def fingerprint(place: Path) -> dict[str, str]:
    files = (p for p in place.rglob("*") if p.is_file())
    return {str(p.relative_to(place)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def set_traps(scratch: Scratch, marker: Path) -> None:
    """Make every setting that can start a program leave a mark."""
    trap = scratch.checkout.parent / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\nexit 0\n')
    trap.chmod(0o755)
    hooks = scratch.checkout / ".git/evil-hooks"
    hooks.mkdir()
    for name in ("pre-push", "post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "post-commit"):
        (hooks / name).symlink_to(trap)
        (scratch.checkout / ".git/hooks").mkdir(exist_ok=True)
        (scratch.checkout / ".git/hooks" / name).symlink_to(trap)
    commands = (
        "core.fsmonitor core.sshCommand core.askPass core.pager core.editor core.gitProxy core.alternateRefsCommand "
        "gpg.program gpg.ssh.program diff.external filter.x.clean filter.x.smudge filter.x.process diff.x.textconv "
        "remote.origin.uploadpack remote.origin.receivepack uploadpack.packObjectsHook sequence.editor interactive.diffFilter"
    )
    shells = "credential.helper alias.rev-parse alias.for-each-ref alias.log alias.push alias.fetch alias.config"
    url = scratch.url
    traps = [(name, str(trap)) for name in commands.split()] + [(name, f"!{trap}") for name in shells.split()]
    traps += [("commit.gpgSign", "true"), ("push.gpgSign", "true"), ("log.showSignature", "true")]
    traps += [("core.hooksPath", str(hooks)), (f"remote.{url}.receivepack", str(trap)), (f"remote.{url}.uploadpack", str(trap))]
    traps += [(f"url.ext::{trap} .insteadOf", url), (f"url.ext::{trap} .pushInsteadOf", url), ("protocol.ext.allow", "always")]
    traps += [("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"), ("core.repositoryFormatVersion", "1")]
    for name, value in traps:
        git(scratch.checkout, "config", "--local", "--add", name, value)
    (scratch.checkout / ".git/info").mkdir(exist_ok=True)
    (scratch.checkout / ".git/info/attributes").write_text("* filter=x diff=x\n")


def test_nothing_of_a_hostile_config_runs(scratch: Scratch, tmp_path: Path) -> None:
    marker = tmp_path / "trapped"
    set_traps(scratch, marker)
    before, tip = fingerprint(scratch.checkout), scratch.tip
    with GitRepository.open(scratch.checkout, url=scratch.url, settings=NO_WAIT) as opened:
        assert opened.resolve("HEAD") == opened.resolve("main") == opened.fetch("main") == tip
        assert opened.read("HEAD", "README.md", 100) == b"hello\n"
        assert opened.read_many("HEAD", opened.list_files("HEAD"), 100)
        made = opened.commit(tip, {"x": b"x"}, "Write x", AUTHOR, WHEN)
        assert len(opened.commits(tip, made)) == len(opened.changes(tip, made)) == 1
        assert opened.push(made, "repack/p", None) == Pushed(made)
        assert opened.remote_branches("repack/") == {"repack/p": made}
        opened.delete_branch("repack/p", ANY)
    assert not marker.exists(), marker.read_text()
    assert fingerprint(scratch.checkout) == before


def test_the_traps_do_spring_for_plain_git(scratch: Scratch, tmp_path: Path) -> None:
    marker = tmp_path / "trapped"
    set_traps(scratch, marker)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(["git", "status"], cwd=scratch.checkout, env=env, capture_output=True, check=False)
    assert marker.exists()


def test_a_head_that_is_missing_fetches_nothing(scratch: Scratch, tmp_path: Path) -> None:
    # In a partial clone, a missing object makes git start the transport that the config names.
    marker = tmp_path / "trapped"
    set_traps(scratch, marker)
    (scratch.checkout / ".git/refs/heads/main").write_text("f" * 40 + "\n")
    with pytest.raises(GitFailed):
        GitRepository.open(scratch.checkout, url=scratch.url, settings=NO_WAIT)
    assert not marker.exists(), marker.read_text()


def test_a_checkout_with_work_in_progress_stays_as_it_is(scratch: Scratch) -> None:
    (scratch.checkout / "README.md").write_text("edited\n")
    (scratch.checkout / "staged").write_text("staged\n")
    git(scratch.checkout, "add", "staged")
    before = fingerprint(scratch.checkout)
    with GitRepository.open(scratch.checkout / "policies", url=scratch.url, settings=NO_WAIT) as opened:
        made = opened.commit(scratch.tip, {"README.md": b"ours\n"}, "Write", AUTHOR, WHEN)
        opened.push(made, "main", ANY)
    assert fingerprint(scratch.checkout) == before


def test_bare_and_linked_and_detached_clones(scratch: Scratch, tmp_path: Path) -> None:
    tip = scratch.tip
    linked = tmp_path / "linked"
    git(scratch.checkout, "worktree", "add", "--quiet", "--detach", str(linked), tip)
    scratch.human_commits("x", "x")
    for path, head in ((scratch.bare, scratch.tip), (linked, tip)):
        with GitRepository.open(path, settings=NO_WAIT) as opened:
            assert opened.resolve("HEAD") == head
            assert opened.read("HEAD", "README.md", 100) == b"hello\n"


def test_any_branch_may_be_checked_out(scratch: Scratch) -> None:
    for branch in ("master", "main", "feature/x"):
        tip = scratch.human_commits(branch, "x", branch=branch)
        with GitRepository.open(scratch.checkout, settings=NO_WAIT) as opened:
            assert opened.resolve("HEAD") == opened.resolve(branch) == tip


def test_a_shallow_clone(scratch: Scratch, tmp_path: Path) -> None:
    scratch.human_commits("x", "x")
    tip = scratch.human_commits("y", "y")
    git(tmp_path, "clone", "--quiet", "--depth=1", scratch.url, "shallow")
    with GitRepository.open(tmp_path / "shallow", url=scratch.url, settings=NO_WAIT) as opened:
        assert opened.resolve("HEAD") == tip
        assert opened.resolve("HEAD~1") is None
        assert opened.read("HEAD", "x", 10) == b"x"
        made = opened.commit(tip, {"z": b"z"}, "Write z", AUTHOR, WHEN)
        assert [commit.id for commit in opened.commits(tip, made)] == [made]
        assert opened.push(made, "main", tip) == Pushed(made)


def test_a_clone_without_commits(scratch: Scratch, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    with GitRepository.open(tmp_path / "empty", url=scratch.url, settings=NO_WAIT) as opened:
        assert opened.resolve("HEAD") is None
        assert opened.fetch("main") == scratch.tip


def test_no_repository_at_all(tmp_path: Path) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    with pytest.raises(InvalidInput, match="not a usable git repository"):
        GitRepository.open(place, settings=NO_WAIT)


@pytest.mark.parametrize(
    ("origin", "used"),
    [
        ("https://user:sesame@h.example/o/r.git", "https://h.example/o/r.git"),
        ("git@h.example:o/r.git", "git@h.example:o/r.git"),
        ("/somewhere/local", None),
        ("file:///somewhere", None),
        ("ext::sh -c evil", None),
    ],
)
def test_the_origin_of_a_checkout(scratch: Scratch, origin: str, used: str | None) -> None:
    git(scratch.checkout, "remote", "set-url", "origin", origin)
    with GitRepository.open(scratch.checkout, settings=NO_WAIT) as opened:
        if used:
            assert opened._reach().url == used
        else:
            with pytest.raises(GitFailed, match="no usable remote"):
                opened.fetch("main")


def test_cloning_into_a_directory(scratch: Scratch, tmp_path: Path) -> None:
    place = tmp_path / "clone"
    with GitRepository.clone(scratch.url, place, branch="main", settings=NO_WAIT) as clone:
        assert clone.resolve("main") == scratch.tip
    assert (place / "objects").is_dir()
    with pytest.raises(InvalidInput, match="is not empty"):
        GitRepository.clone(scratch.url, place, branch="main", settings=NO_WAIT)
    with GitRepository.open(place, settings=NO_WAIT) as opened:
        assert opened.resolve("origin/main") == scratch.tip


def test_everything_temporary_is_removed(scratch: Scratch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with GitRepository.clone(scratch.url, branch="main", settings=NO_WAIT) as clone:
        clone.commit(scratch.tip, {"x": b"x"}, "Write", AUTHOR, WHEN)
        (private,) = place.iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
    with pytest.raises(GitFailed):
        GitRepository.clone(scratch.url, branch="absent", settings=NO_WAIT)
    assert list(place.iterdir()) == []


def test_sha256_repositories(tmp_path: Path) -> None:
    scratch = make_scratch(tmp_path, "sha256")
    with (
        GitRepository.clone(scratch.url, branch="main", settings=NO_WAIT) as clone,
        GitRepository.open(scratch.checkout, url=scratch.url, settings=NO_WAIT) as opened,
    ):
        for repository, branch in ((clone, "repack/a"), (opened, "repack/b")):
            assert repository.resolve("main") == scratch.tip
            made = repository.commit(scratch.tip, {"x": b"x", "README.md": None}, "Write", AUTHOR, WHEN)
            assert len(made) == 64
            assert repository.list_files(made) == ("policies/a.yaml", "x")
            assert repository.push(made, branch, None) == Pushed(made)
            assert [commit.id for commit in repository.commits("main", made)] == [made]
        assert len(clone.remote_branches("repack/")) == 2
