"""A tick that dies at any call is healed by the next one: one request per policy, no orphans, nothing said twice."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from repack_gitops.report.machine_block import read_machine_block
from tests.unit.workflow.gitops.crashes import Fate, Killed, Mortal
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place, make_place, policy_text

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


def dying(place: Place, fate: Fate) -> bool:
    """Run a tick under ``fate`` and tell whether it died."""
    with place.ports() as ports:
        mortal = place.ports_on(Mortal(ports.repository, fate), Mortal(ports.forge, fate))  # type: ignore[arg-type]
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


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("story", STORIES)
def test_death_at_every_call(tmp_path: Path, story: Callable[[Place], None], after: bool) -> None:
    seen = 0
    for call in range(1, 60):
        folder = tmp_path / str(call)
        folder.mkdir()
        place = make_place(folder, {"policies/gpu.yaml": policy_text("gpu", more=OPTIONS)})
        story(place)
        fate = Fate(call, after)
        if not dying(place, fate):
            seen = call
            break
        place.tick()
        check(place, STORIES[story])
        place.tick()
        check(place, STORIES[story])
        shutil.rmtree(folder)
    assert 8 < seen < 59


@pytest.mark.parametrize("story", [nothing, changed, gone, expired])
def test_death_and_another_plan_afterwards(tmp_path: Path, story: Callable[[Place], None]) -> None:
    """The cluster moved on between the death and the next tick."""
    for call in range(4, 60):
        folder = tmp_path / str(call)
        folder.mkdir()
        place = make_place(folder, {"policies/gpu.yaml": policy_text("gpu", more=OPTIONS)})
        story(place)
        if not dying(place, Fate(call, after=True)):
            break
        place.cluster.objects = layout(4, 3)
        place.tick()
        check(place, 1)
        assert "3 cards" in place.the_request().title
        place.cluster.objects = layout(4, 0)
        place.tick()
        check(place, 0)
        shutil.rmtree(folder)
    else:
        pytest.fail("it never ended")
