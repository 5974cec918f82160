"""A dry run commits into its own store and leaves the remote alone."""

from __future__ import annotations

from repack_gitops.git.interface import Deleted, Pushed
from repack_gitops.git.recording import RecordingRepository
from tests.unit.git.scratch import AUTHOR, NO_WAIT, WHEN, Scratch, git


def test_nothing_reaches_the_remote(scratch: Scratch) -> None:
    before = git(scratch.bare, "for-each-ref")
    with RecordingRepository.clone(scratch.url, branch="main", settings=NO_WAIT) as dry:
        made = dry.commit(scratch.tip, {"x": b"x"}, "Write x", AUTHOR, WHEN)
        assert dry.read(made, "x", 10) == b"x"
        assert dry.push(made, "repack/p", None) == Pushed(made)
        assert dry.delete_branch("main", scratch.tip) == Deleted(existed=True)
        assert dry.intents == (f"push {made[:12]} to repack/p", f"delete branch main, now at {scratch.tip[:12]}")
    assert git(scratch.bare, "for-each-ref") == before
