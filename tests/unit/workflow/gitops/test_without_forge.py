"""Forge ``none``: the branch itself is the proposal, and a person merges it with git."""

from __future__ import annotations

import pytest

from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place


@pytest.fixture
def plain(place: Place) -> Place:
    place.without_forge = True
    return place


def the_branch(place: Place) -> str:
    (found,) = place.branches()
    return found


def test_a_branch_is_pushed(plain: Place) -> None:
    assert plain.action() == "opened"
    assert the_branch(plain) == "repack/gpu/gpu-20261102-090130"


def test_the_same_plan_pushes_nothing(plain: Place) -> None:
    plain.tick()
    before = plain.branches()
    assert plain.action() == "unchanged"
    assert plain.branches() == before


def test_a_changed_plan_rebuilds_the_branch(plain: Place) -> None:
    plain.tick()
    before = plain.branches()
    base = plain.write("README.md", "moved on\n")
    plain.cluster.objects = layout(4, 2, 1)
    assert plain.action() == "updated"
    assert plain.branches().keys() == before.keys()
    assert git(plain.scratch.bare, "rev-parse", f"{the_branch(plain)}^") == base


def test_no_longer_recommended(plain: Place) -> None:
    plain.tick()
    plain.cluster.objects = layout(4, 0)
    assert plain.action() == "closed"
    assert plain.branches() == {}


def test_expired(plain: Place) -> None:
    plain.tick()
    before = the_branch(plain)
    plain.clock.pass_by(hours=25)
    assert plain.action() == "opened"
    assert the_branch(plain) != before


@pytest.mark.parametrize("cards", [(4, 2), (4, 2, 1), (4, 0)])
def test_a_human_commit_is_never_overwritten(plain: Place, cards: tuple[int, ...]) -> None:
    plain.tick()
    pushed = plain.push_to(the_branch(plain), "notes.md", "mine")
    plain.cluster.objects = layout(*cards)
    assert plain.action() == "left alone"
    assert list(plain.branches().values()) == [pushed]


def test_merged_with_git_and_the_branch_left_there(plain: Place) -> None:
    plain.tick()
    branch = the_branch(plain)
    plain.merge_branch(branch)
    assert plain.action() == "nothing"
    plain.write(f"runs/{branch.removeprefix('repack/')}/result.yaml", "done\n")
    plain.cluster.objects = layout(4, 2, 1)
    assert plain.action() == "opened"
    assert len(plain.branches()) == 2


def test_fast_forwarded_and_reverted(plain: Place) -> None:
    plain.tick()
    branch = the_branch(plain)
    plain.merge_branch(branch)
    plain.remove("runs/gpu")
    # The branch still says the same plan; a revert cancels the run, it does not reject the plan.
    assert plain.action() in ("unchanged", "opened")
    assert len(plain.branches()) == 1
