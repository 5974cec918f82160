"""What people did is never undone: their commits, holds, merge queues and rejections (spec 3.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import CONFIG, Place, policy_text


def commit(place: Place) -> None:
    place.push_to(place.the_request().head, "notes.md", "mine")


def amend_as_author_only(place: Place) -> None:
    """A human amends the bot's commit: the author stays the bot, the committer does not."""
    head, checkout = place.the_request().head, place.scratch.checkout
    git(checkout, "fetch", "--quiet", "origin", head)
    git(checkout, "checkout", "--quiet", "-B", head, "FETCH_HEAD")
    git(checkout, "commit", "--quiet", "--amend", "-m", "Better words")
    git(checkout, "push", "--quiet", "--force", "origin", head)


def merge_base_into_it(place: Place) -> None:
    """The forge's button "update branch"."""
    place.write("README.md", "moved on\n")
    head, checkout = place.the_request().head, place.scratch.checkout
    git(checkout, "fetch", "--quiet", "origin", head)
    git(checkout, "checkout", "--quiet", "-B", head, "FETCH_HEAD")
    git(checkout, "merge", "--quiet", "--no-edit", "main")
    git(checkout, "push", "--quiet", "origin", head)


def hold(place: Place) -> None:
    place.forge.somebody_labels(1, "repack/hold")


def enqueue(place: Place) -> None:
    place.forge.enqueue(1)


HANDS_OFF = [commit, amend_as_author_only, merge_base_into_it, hold, enqueue]
CHANGES = {"changed": layout(4, 2, 1), "gone": layout(4, 0), "same": layout(4, 2)}


@pytest.mark.parametrize("cluster", CHANGES)
@pytest.mark.parametrize("act", HANDS_OFF)
def test_left_alone_whatever_the_cluster_does(place: Place, act: Callable[[Place], None], cluster: str) -> None:
    place.tick()
    act(place)
    before, branches = place.the_request(), place.branches()
    place.cluster.objects = CHANGES[cluster]
    place.clock.pass_by(hours=30)  # expired, too
    for _ in range(3):
        assert place.action() in ("left alone", "nothing")
    assert (place.the_request(), place.branches()) == (before, branches)
    assert len(place.comments(1)) == (0 if act is enqueue else 1)


def test_a_second_reason_is_said_once_as_well(place: Place) -> None:
    place.tick()
    hold(place)
    place.tick()
    commit(place)
    place.forge.somebody_unlabels(1, "repack/hold")
    place.tick()
    place.tick()
    assert [("repack/hold" in c, "committed" in c) for c in place.comments(1)] == [(True, False), (False, True)]


def test_a_forge_that_rewrites_line_ends_is_told_once_too(place: Place) -> None:
    place.tick()
    hold(place)
    place.tick()
    store = place.forge.store
    store.said[1] = [type(c)(c.id, c.author, c.body.replace("\n", "\r\n") + "\r\n", c.created_at) for c in store.said[1]]
    place.tick()
    assert len(place.comments(1)) == 1


def test_work_goes_on_when_the_hold_is_lifted(place: Place) -> None:
    place.tick()
    hold(place)
    place.cluster.objects = layout(4, 2, 1)
    place.tick()
    place.forge.somebody_unlabels(1, "repack/hold")
    assert place.action() == "updated"


def test_a_push_between_the_look_and_ours_is_not_overwritten(place: Place) -> None:
    place.tick()
    head = place.the_request().head
    place.cluster.objects = layout(4, 2, 1)
    pushed: list[str] = []

    class Racing:
        """Lets a human push while the planner writes its commit."""

        def __init__(self, repository: object) -> None:
            self._repository = repository

        def __getattr__(self, name: str) -> object:
            if name == "commit" and not pushed:
                pushed.append(place.push_to(head, "notes.md", "mine"))
            return getattr(self._repository, name)

    with place.ports() as ports:
        reports = place.tick_on(place.ports_on(Racing(ports.repository)))  # type: ignore[arg-type]
    assert reports["gpu"].action == "failed"
    assert reports["gpu"].exit_code == 75
    assert place.branches()[head] == pushed[0]
    assert place.action() == "left alone"


# ---- rejection ----
def test_closed_by_a_human_is_rejected(place: Place) -> None:
    place.tick()
    place.forge.somebody_closes(1)
    for _ in range(3):
        report = place.tick()["gpu"]
        assert report.action == "nothing"
        assert "rejected" in report.message
    assert place.open_requests() == []
    place.clock.pass_by(days=6)
    assert place.action() == "nothing"


def test_a_rejection_ends_after_rejected_for(place: Place) -> None:
    place.tick()
    place.forge.somebody_closes(1)
    place.clock.pass_by(days=7)
    assert place.action() == "opened"
    assert place.the_request().number == 2


def test_rejected_for_zero_is_not_at_all(place: Place) -> None:
    place.write("repack.yaml", CONFIG + "  rejectedFor: 0s\n")
    place.tick()
    place.forge.somebody_closes(1)
    assert place.action() == "opened"


def test_another_plan_is_not_rejected(place: Place) -> None:
    place.tick()
    place.forge.somebody_closes(1)
    place.cluster.objects = layout(4, 2, 1)
    assert place.action() == "opened"
    assert place.the_request().number == 2
    assert place.the_request().head != place.request(1).head


def test_the_first_plan_stays_rejected_after_another_came_and_went(place: Place) -> None:
    place.tick()
    place.forge.somebody_closes(1)
    place.cluster.objects = layout(4, 2, 1)
    place.tick()
    place.cluster.objects = layout(4, 2)
    place.action()
    # The other plan's request must not become the rejected one, and the rejected one must not come back by itself.
    assert all("free 2 nodes" in p.title for p in place.open_requests())


def test_a_rejection_counts_although_the_planner_closed_the_same_plan_before(place: Place) -> None:
    place.tick()
    place.cluster.objects = layout(4, 0)
    place.tick()  # closed by the planner
    place.cluster.objects = layout(4, 2)
    place.tick()
    place.forge.somebody_closes(2)  # the same plan, closed by a human
    assert place.action() == "nothing"


def test_a_rejection_counts_although_the_planner_once_meant_to_close_it(place: Place) -> None:
    # A tick said so and died before it closed; the plan was recommended again; then a human closed it.
    place.tick()
    place.forge.comment(1, "<!-- repack: closed by the planner -->\nClosed by the planner: no longer recommended")
    assert place.action() in ("unchanged", "updated")
    place.forge.somebody_closes(1)
    assert place.action() == "nothing"


def test_a_rejected_branch_is_left_for_a_reopening(place: Place) -> None:
    place.tick()
    request = place.the_request()
    place.forge.somebody_closes(1)
    place.tick()
    assert place.branches() == {request.head: request.head_commit}


def test_a_branch_that_a_human_deleted_with_the_request_is_a_rejection_too(place: Place) -> None:
    place.tick()
    git(place.scratch.checkout, "push", "--quiet", "origin", f":{place.the_request().head}")
    assert place.action() == "nothing"


def test_a_deleted_branch_is_not_pushed_again_while_the_forge_still_shows_its_request(place: Place) -> None:
    place.tick()
    git(place.scratch.checkout, "push", "--quiet", "origin", f":{place.the_request().head}")
    place.forge.store.closes_late = True
    place.cluster.objects = layout(4, 2, 1)
    assert place.action() == "nothing"
    assert (place.branches(), place.comments(1)) == ({}, [])
    place.forge.store.closes_late = False
    place.cluster.objects = layout(4, 2)
    assert "rejected" in place.tick()["gpu"].message


def test_a_merge_during_the_tick_is_not_taken_for_a_closing(place: Place) -> None:
    place.tick()
    place.cluster.objects = layout(4, 0)
    merged: list[str] = []

    class Racing:
        def __getattr__(self, name: str) -> object:
            if name == "close_pull_request" and not merged:
                head = place.the_request().head
                merged.append(place.merge_branch(head))
                place.forge.somebody_merges(1, merged[0])
            return getattr(place.forge, name)

    with place.ports() as ports:
        report = place.tick_on(place.ports_on(ports.repository, Racing()))["gpu"]  # type: ignore[arg-type]
    assert report.action == "nothing"
    assert "merged" in report.message


def test_a_human_request_from_a_branch_of_that_name_is_never_touched(place: Place) -> None:
    place.push_to("main", "notes.md", "mine")
    git(place.scratch.checkout, "checkout", "--quiet", "-B", "repack/gpu/my-idea")
    place.scratch.human_commits("idea.md", "mine", "repack/gpu/my-idea")
    place.forge.somebody_opens("repack/gpu/my-idea", "main")
    tip = place.branches()["repack/gpu/my-idea"]
    place.tick()
    place.cluster.objects = layout(4, 0)
    place.tick()
    assert place.request(1).state == "open"
    assert place.branches()["repack/gpu/my-idea"] == tip


def test_a_policy_that_asks_for_a_ticket_proposes_without_one(place: Place) -> None:
    # People add it to run.yaml while they review; dispatch insists on it.
    place.write("policies/gpu.yaml", policy_text("gpu", more="  changeTicket:\n    required: true\n"))
    assert place.action() == "opened"
