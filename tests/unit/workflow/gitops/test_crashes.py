"""A tick that dies at any call is healed by the next one: one request per policy, no orphans, nothing said twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from repack_gitops.report.machine_block import read_machine_block
from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.crashes import Fate, Killed, Mortal
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Checkpoint, Place, make_place, policy_text

OPTIONS = "  pullRequest:\n    labels: [gpu]\n    reviewers: [ada]\n    assignees: [bob]\n"


def nothing(place: Place) -> None:
    """The first tick ever."""


def changed(place: Place) -> None:
    place.tick()
    place.cluster.objects = layout(4, 2, 1)


def gone(place: Place) -> None:
    place.tick()
    place.cluster.objects = layout(4, 0)


def expired(place: Place) -> None:
    place.tick()
    place.clock.pass_by(hours=25)


def held(place: Place) -> None:
    place.tick()
    place.forge.somebody_labels(1, "repack/hold")


def superseded(place: Place) -> None:
    place.tick()
    place.merge_branch(place.the_request().head)


STORIES: dict[Callable[[Place], None], int] = {nothing: 1, changed: 1, gone: 0, expired: 1, held: 1, superseded: 0}
#: How many writes each story takes at least, so that a test that meets none cannot pass.
WRITES: dict[Callable[[Place], None], int] = {nothing: 5, changed: 5, gone: 4, expired: 9, held: 1, superseded: 4}


def dying(place: Place, fate: Fate) -> bool:
    """Run a tick under ``fate`` and tell whether it died."""
    with place.ports() as ports:
        mortal = place.ports_on(Mortal(ports.repository, fate), Mortal(ports.forge, fate))
        try:
            place.tick_on(mortal)
        except Killed:
            return True
    return False


def check(place: Place, expected: int) -> None:
    """What must be true after every healed crash."""
    requests = place.open_requests("gpu")
    assert len(requests) == expected
    assert set(place.branches()) == {p.head for p in requests}
    for number in place.forge.store.requests:
        assert not [text for text, count in Counter(place.comments(number)).items() if count > 1]
    for request in requests:
        block = read_machine_block(request.body)
        assert block is not None
        assert block.plan_digest == place.digest_at(request.head)
        assert {"repack", "gpu"} <= set(request.labels)
        assert place.forge.store.reviewers[request.number] == ["ada"]
        assert place.forge.store.assignees[request.number] == ["bob"]
        assert (request.head_commit, "repack/fresh") in place.forge.store.statuses or "repack/hold" in request.labels


def place_of(story: Callable[[Place], None], folder: Path) -> tuple[Place, Checkpoint]:
    place = make_place(folder, {"policies/gpu.yaml": policy_text("gpu", more=OPTIONS)})
    story(place)
    return place, Checkpoint.of(place, folder / "kept")


@pytest.mark.parametrize("story", STORIES)
def test_death_after_every_write(tmp_path: Path, story: Callable[[Place], None]) -> None:
    place, start = place_of(story, tmp_path)
    for call in count(1):
        start.restore()
        fate = Fate(call, writes=True)
        if not dying(place, fate):
            break
        place.tick()
        check(place, STORIES[story])
    assert call > WRITES[story]
    assert place.tick()["gpu"].action in ("unchanged", "left alone", "nothing")


def test_death_after_every_call_of_the_first_tick(tmp_path: Path) -> None:
    place, start = place_of(nothing, tmp_path)
    for call in count(1):
        start.restore()
        if not dying(place, Fate(call)):
            break
        place.tick()
        check(place, 1)
    assert call > 12


@pytest.mark.parametrize("story", [nothing, changed, gone, expired])
def test_death_and_another_plan_afterwards(tmp_path: Path, story: Callable[[Place], None]) -> None:
    """The cluster moved on between the death and the next tick."""
    place, start = place_of(story, tmp_path)
    for call in count(1):
        start.restore()
        if not dying(place, Fate(call, writes=True)):
            break
        place.cluster.objects = layout(4, 3)
        place.tick()
        check(place, 1)
        assert "3 cards" in place.the_request().title
        place.cluster.objects = layout(4, 0)
        place.tick()
        check(place, 0)


def test_a_branch_of_a_tick_that_died_long_ago_is_not_used(tmp_path: Path) -> None:
    place, _ = place_of(nothing, tmp_path)
    assert dying(place, Fate(1, writes=True))
    (orphan,) = place.branches()
    place.clock.pass_by(hours=25)
    assert place.action() == "opened"
    check(place, 1)
    assert place.the_request().head != orphan


def test_a_branch_of_a_tick_that_died_goes_when_nothing_is_recommended_any_more(tmp_path: Path) -> None:
    place, _ = place_of(nothing, tmp_path)
    assert dying(place, Fate(1, writes=True))
    place.cluster.objects = layout(4, 0)
    assert place.action() == "nothing"
    check(place, 0)


def test_a_humans_new_branch_is_not_taken_for_one_of_a_tick_that_died(tmp_path: Path) -> None:
    place, _ = place_of(nothing, tmp_path)
    git(place.scratch.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/repack/gpu/idea")
    git(place.scratch.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/repack/gpu/older")
    place.push_to("repack/gpu/older", "notes.md", "mine")
    before = place.branches()
    for cards in ((4, 0), (4, 2), (4, 2, 1), (4, 0)):
        place.cluster.objects = layout(*cards)
        place.tick()
        assert before.items() <= place.branches().items()
