"""A policy's one pull request: opened, kept, updated, closed, opened anew."""

from __future__ import annotations

from datetime import timedelta

import pytest

from repack_gitops.model.policy import PullRequestOptions
from repack_gitops.policy.names import PLANNED_AT
from repack_gitops.report.machine_block import read_machine_block
from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place, one_line, policy_text


def test_a_recommended_plan_is_proposed(place: Place) -> None:
    report = place.tick()["gpu"]
    request = place.the_request()
    assert (report.action, report.url) == ("opened", request.url)
    assert request.head == "repack/gpu/gpu-20261102-090130"
    assert request.title == "repack(bed/gpu): free 1 node by moving 1 pod (2 cards)"
    assert request.labels == ("repack",)
    assert not request.draft
    block = read_machine_block(request.body)
    assert block is not None
    assert block.plan_digest == place.digest_at(request.head)
    assert block.base_commit == place.scratch.tip


def test_the_branch_is_one_commit_with_four_files(place: Place) -> None:
    place.tick()
    tip = place.the_request().head_commit
    log = git(place.scratch.bare, "log", "--format=%an <%ae>|%cn|%s", f"main..{tip}")
    assert log.splitlines() == [
        "repack-gitops <repack-gitops@users.noreply.invalid>|repack-gitops|"
        "repack(bed/gpu): free 1 node by moving 1 pod (2 cards)"
    ]
    folder = "runs/gpu/gpu-20261102-090130"
    changed = git(place.scratch.bare, "diff", "--name-only", "main", tip).splitlines()
    assert changed == [f"{folder}/{name}" for name in ("layout.svg", "plan.md", "plan.yaml", "run.yaml")]
    trailers = git(place.scratch.bare, "log", "-1", "--format=%(trailers:unfold)", tip)
    assert trailers.splitlines()[:2] == ["Repack-Run: gpu-20261102-090130", "Repack-Policy: gpu"]


def test_labels_people_and_status(place: Place) -> None:
    options = "  pullRequest:\n    labels: [gpu]\n    reviewers: [ada, team/ops]\n    assignees: [bob]\n    draft: true\n"
    place.write("policies/gpu.yaml", policy_text("gpu", more=options))
    place.tick()
    request = place.the_request()
    assert PullRequestOptions().labels == []
    assert (request.labels, request.draft) == (("gpu", "repack"), True)
    assert (place.forge.store.reviewers[1], place.forge.store.assignees[1]) == (["ada", "team/ops"], ["bob"])
    assert place.forge.store.statuses[request.head_commit, "repack/fresh"][0] == "success"


def test_a_reviewer_that_is_unknown_is_said_and_stops_nothing(place: Place) -> None:
    place.forge.store.unknown_users = frozenset({"nobody"})
    place.write("policies/gpu.yaml", policy_text("gpu", more="  pullRequest:\n    reviewers: [nobody, ada]\n"))
    assert place.action() == "opened"
    assert place.forge.store.reviewers[1] == ["ada"]
    assert any("nobody" in line for line in place.said)


def test_the_same_plan_again_changes_nothing(place: Place) -> None:
    place.tick()
    before, tip = place.the_request(), place.scratch.tip
    place.clock.pass_by(hours=3)
    assert place.action() == "unchanged"
    assert place.the_request() == before
    assert (place.scratch.tip, place.branches()) == (tip, {before.head: before.head_commit})
    assert place.comments(1) == []


def test_another_base_commit_alone_is_no_change(place: Place) -> None:
    place.tick()
    before = place.the_request()
    place.write("README.md", "something else\n")
    assert place.action() == "unchanged"
    assert place.the_request() == before


def test_a_changed_plan_updates_the_same_request(place: Place) -> None:
    place.tick()
    before = place.the_request()
    base = place.write("README.md", "the base moves on\n")
    place.cluster.objects = layout(4, 2, 1)
    report = place.tick()["gpu"]
    after = place.the_request()
    assert report.action == "updated"
    assert (after.number, after.head) == (before.number, before.head)
    assert after.title == "repack(bed/gpu): free 2 nodes by moving 2 pods (3 cards)"
    assert git(place.scratch.bare, "rev-list", f"main..{after.head_commit}").splitlines() == [after.head_commit]
    assert git(place.scratch.bare, "rev-parse", f"{after.head_commit}^") == base
    block = read_machine_block(after.body)
    assert block is not None
    assert block.plan_digest == place.digest_at(after.head)
    assert block.base_commit == base


def test_another_policy_version_is_another_plan(place: Place) -> None:
    place.tick()
    before = place.digest_at(place.the_request().head)
    place.write("policies/gpu.yaml", policy_text("gpu", more="  approval:\n    maxPlanAge: 5h\n"))
    assert place.action() == "updated"
    assert place.digest_at(place.the_request().head) != before


def test_comments_in_the_policy_are_no_other_version(place: Place) -> None:
    place.tick()
    place.write("policies/gpu.yaml", "# a comment\n" + policy_text("gpu"))
    assert place.action() == "unchanged"


def test_no_longer_recommended(place: Place) -> None:
    place.tick()
    place.cluster.objects = layout(4, 0)
    report = place.tick()["gpu"]
    assert report.action == "closed"
    assert (place.open_requests(), place.branches()) == ([], {})
    (comment,) = place.comments(1)
    assert "no longer recommended" in comment
    assert place.request(1).state == "closed"
    assert place.action() == "nothing"
    assert len(place.comments(1)) == 1


def test_what_the_planner_closed_is_proposed_again(place: Place) -> None:
    place.tick()
    place.cluster.objects = layout(4, 0)
    place.tick()
    place.cluster.objects = layout(4, 2)
    assert place.action() == "opened"
    assert place.the_request().number == 2
    assert place.the_request().head != place.request(1).head


def test_an_expired_request_is_closed_and_a_fresh_one_opened(place: Place) -> None:
    place.tick()
    first = place.the_request()
    place.clock.pass_by(hours=24)
    assert place.action() == "opened"
    second = place.the_request()
    assert (place.request(1).state, second.number) == ("closed", 2)
    assert second.head != first.head
    assert set(place.branches()) == {second.head}
    assert any("expired" in c for c in place.comments(1))
    assert place.run_at(second.head).metadata.annotations[PLANNED_AT] == "2026-11-03T09:02:30Z"


def test_the_fresh_request_after_an_expired_one_has_its_links_and_picture(place: Place) -> None:
    place.tick()
    first = place.the_request()
    place.clock.pass_by(hours=24)
    place.tick()
    second = place.the_request()
    assert f"https://forge.example/raw/{first.head}/" in first.body
    assert f"https://forge.example/raw/{second.head}/" in second.body


def test_a_day_is_the_last_moment_before_it_expires(place: Place) -> None:
    place.tick()
    place.clock.pass_by(hours=23, minutes=59)
    assert place.action() == "unchanged"


def test_an_update_makes_it_fresh_again(place: Place) -> None:
    place.tick()
    place.clock.pass_by(hours=20)
    place.cluster.objects = layout(4, 2, 1)
    assert place.action() == "updated"
    place.clock.pass_by(hours=20)
    assert place.action() == "unchanged"


def test_a_merged_run_in_flight_stops_proposals(place: Place) -> None:
    place.tick()
    place.merge_squashed(1)
    place.cluster.objects = layout(4, 2, 1)
    report = place.tick()["gpu"]
    assert report.action == "nothing"
    assert "gpu-20261102-090130" in report.message
    assert place.open_requests() == []


def test_a_finished_run_makes_room_for_the_next(place: Place) -> None:
    place.tick()
    place.merge_squashed(1)
    place.write("runs/gpu/gpu-20261102-090130/result.yaml", "done\n")
    assert place.action() == "opened"


def test_a_merged_run_that_was_reverted_makes_room_too(place: Place) -> None:
    place.tick()
    place.merge_squashed(1)
    place.remove("runs/gpu")
    assert place.action() == "opened"


def test_a_request_whose_run_came_to_the_base_another_way_is_superseded(place: Place) -> None:
    # Somebody squashed the branch by hand and pushed; the forge still shows the request as open.
    place.tick()
    place.merge_branch(place.the_request().head)
    assert place.action() == "closed"
    assert (place.open_requests(), place.branches()) == ([], {})


def test_a_finished_run_is_never_proposed_again_under_its_name(place: Place) -> None:
    place.tick()
    head = place.the_request().head
    place.merge_branch(head)
    place.write(f"runs/{head.removeprefix('repack/')}/result.yaml", "done\n")
    place.cluster.objects = layout(4, 2, 1)
    assert place.action() == "closed"
    assert place.action() == "opened"
    assert place.the_request().head != head


def test_a_body_that_lost_its_machine_block_is_written_anew_and_nothing_is_pushed(place: Place) -> None:
    place.tick()
    tip, body = place.the_request().head_commit, place.the_request().body
    place.forge.somebody_edits(1, "I tidied this up.")
    place.tick()
    assert place.the_request().head_commit == tip
    assert one_line(place.the_request().body) == one_line(body)


@pytest.mark.parametrize("time", ["garbage", "2026-01-01T00:00:00", "", "9999-99-99T00:00:00Z"])
def test_a_body_with_a_forged_block_stops_nothing(place: Place, time: str) -> None:
    place.tick()
    block = read_machine_block(place.the_request().body)
    assert block is not None
    place.forge.somebody_edits(1, _forged(place.the_request().body, block.snapshot_time, time))
    assert place.action() in ("unchanged", "updated")


def _forged(body: str, old: str, new: str) -> str:
    import base64
    import re

    match = re.match(r"<!-- repack-gitops:(\S+) -->", body)
    assert match
    text = base64.b64decode(match[1]).decode().replace(old, new)
    return body.replace(match[1], base64.b64encode(text.encode()).decode())


def test_a_forged_age_does_not_keep_an_old_plan_alive(place: Place) -> None:
    place.tick()
    block = read_machine_block(place.the_request().body)
    assert block is not None
    place.forge.somebody_edits(1, _forged(place.the_request().body, block.snapshot_time, "2030-01-01T00:00:00Z"))
    place.clock.time += timedelta(hours=25)
    place.tick()
    assert place.request(1).state == "closed"


def test_a_request_that_promises_another_plan_than_its_branch_is_corrected(place: Place) -> None:
    # A tick died between its push and the update of the text; then the cluster went back to what it was.
    place.tick()
    first = place.the_request()
    place.cluster.objects = layout(4, 2, 1)
    place.tick()
    place.forge.somebody_edits(1, first.body)
    place.cluster.objects = layout(4, 2)
    place.tick()
    request = place.the_request()
    block = read_machine_block(request.body)
    assert block is not None
    assert place.digest_at(request.head) == block.plan_digest
    assert place.run_at(request.head).metadata.name == request.head.rpartition("/")[2]
    assert "free 1 node" in git(place.scratch.bare, "log", "-1", "--format=%s", request.head_commit)
