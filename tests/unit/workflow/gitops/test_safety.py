"""Safety options from policy to pull request: what is left alone, what past runs moved, what plan.yaml records."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from repack_gitops.errors import TryAgain
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.documents import read_run
from repack_gitops.model.kubernetes import KINDS
from repack_gitops.model.run import EvictionPhase, EvictionStatus, RepackRun, RunStatus
from repack_gitops.model.status import advance, complete, plan_status
from repack_gitops.model.writing import to_yaml
from repack_gitops.planner import evaluate
from repack_gitops.policy.history import PastMove
from repack_gitops.policy.names import PLANNER_OPTIONS, RunPath
from repack_gitops.policy.replay import noted_options
from repack_gitops.workflow.books import base_books
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.execute import execute
from repack_gitops.workflow.execution.entries import relocations_of
from repack_gitops.workflow.execution.executor import Assignment
from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place, make_place, policy_text
from tests.unit.workflow.gitops.test_due import GUARDRAILS

RESTS = "  safety:\n    recentlyMoved: 1h\n"


def place_with(folder: Path, safety: str, *cards: int) -> Place:
    objects = layout(*(cards or (4, 2)))
    for found in objects:
        found["metadata"].setdefault("creationTimestamp", "2026-11-02T08:00:00Z")
        if found["metadata"]["name"] == "n-p0":
            del found["metadata"]["ownerReferences"]  # it stays, so that the pods of the other nodes can join it
    return make_place(folder, {"policies/gpu.yaml": policy_text("gpu", more=safety)}, objects)


def snapshot_of(place: Place) -> ClusterSnapshot:
    return build_snapshot(msgspec.convert(o, KINDS[o["apiVersion"], o["kind"]]) for o in place.cluster.objects)


def file_of(place: Place, name: str) -> RepackRun:
    """Return a file of the only proposal."""
    (branch,) = [b for b in place.branches() if b.startswith("repack/")]
    path = f"runs/{branch.removeprefix('repack/')}/{name}"
    return read_run(git(place.scratch.bare, "show", f"{branch}:{path}"), path)


def record_result(place: Place, minutes_ago: float) -> str:
    """Let a run of the past be on main, which moved all that could be moved."""
    evaluation = evaluate(snapshot_of(place), read_run(_RUN, "x").spec)
    moved = [
        msgspec.structs.replace(r, eviction=EvictionStatus(phase=EvictionPhase.ACCEPTED)) for r in relocations_of(evaluation)
    ]
    place.clock.pass_by(minutes=-minutes_ago)
    now = timestamp(place.clock.now())
    place.clock.pass_by(minutes=minutes_ago)
    status = RunStatus(phase="Running", plan=plan_status(evaluation), relocations=moved)
    ended = advance(status, complete("ExecutionCompleted", "Freed.", now), now)
    run = msgspec.structs.replace(read_run(_RUN, "x"), status=ended)
    path = "runs/other/other-20261102-080000/result.yaml"
    place.write(path, to_yaml(run))
    return path


_RUN = """\
apiVersion: repack.volcano.sh/v1alpha1
kind: RepackRun
metadata:
  name: other-20261102-080000
spec:
  mode: Execute
  goals:
    - resource: nvidia.com/gpu
"""


# ---- row 124 ----
def test_row_124_what_another_policys_run_moved_ten_minutes_ago_is_left_alone(tmp_path: Path) -> None:
    place = place_with(tmp_path, RESTS)
    record_result(place, 10)
    report = place.tick()["gpu"]
    assert report.action == "nothing"
    assert "no node can be emptied" in report.message
    assert place.open_requests() == []


def test_row_124_after_its_rest_it_is_proposed_again(tmp_path: Path) -> None:
    place = place_with(tmp_path, RESTS)
    record_result(place, 10)
    place.tick()
    place.clock.pass_by(minutes=49)  # with the ticks, 61 minutes after the end
    assert place.action() == "opened"


def test_without_the_option_history_does_not_matter(tmp_path: Path) -> None:
    place = place_with(tmp_path, "")
    record_result(place, 10)
    assert place.action() == "opened"


def test_a_result_in_somebodys_own_words_tells_of_no_moves(tmp_path: Path) -> None:
    place = place_with(tmp_path, RESTS)
    place.write(record_result(place, 10), "cancelled by ops\n")
    assert place.action() == "opened"


def test_a_result_that_cannot_be_read_stops_a_policy_that_asks_and_no_other(tmp_path: Path) -> None:
    place = place_with(tmp_path, RESTS)
    place.write("policies/plain.yaml", policy_text("plain"))
    path = record_result(place, 10)
    file = place.scratch.checkout / path
    file.unlink()
    file.symlink_to("/etc/passwd")
    place.commit_checkout()
    reports = place.tick()
    assert reports["plain"].action == "opened"
    assert reports["gpu"].action == "failed"
    assert path in reports["gpu"].message


# ---- options, guardrails and their record ----
@pytest.mark.parametrize(
    ("safety", "action"),
    [
        ("minPodAge: 30m", "opened"),
        ("minPodAge: 2h", "nothing"),
        ("maxPodsPerNamespace: 1", "opened"),
        ("maxPodsPerNamespace: 0", "nothing"),
        ("maxPriority: -1", "nothing"),
    ],
)
def test_the_policys_option_decides(tmp_path: Path, safety: str, action: str) -> None:
    assert place_with(tmp_path, f"  safety:\n    {safety}\n").action() == action


def test_the_guardrails_option_decides_where_it_is_stricter(tmp_path: Path) -> None:
    place = place_with(tmp_path, "  safety:\n    minPodAge: 30m\n")
    place.write("policies/guardrails.yaml", GUARDRAILS + "  safety:\n    minPodAge: 2h\n")
    assert place.action() == "nothing"


def test_plan_yaml_records_the_options_and_the_same_plan_follows_from_them(tmp_path: Path) -> None:
    place = place_with(tmp_path, "  safety:\n    minPodAge: 30m\n    maxPodsPerOwner: 1\n    recentlyMoved: 2h\n", 4, 2, 3, 8)
    place.write("policies/guardrails.yaml", GUARDRAILS + "  forbiddenNamespaces: [kube-system]\n")
    record_result(place, 100)
    place.cluster.objects += layout(1, 5, 7, name="late")
    for found in place.cluster.objects:
        found["metadata"].setdefault("creationTimestamp", "2026-11-02T08:00:00Z")
    assert place.action() == "opened"
    plan = file_of(place, "plan.yaml")
    note = json.loads(plan.metadata.annotations[PLANNER_OPTIONS])
    assert note["safeguards"]["created_before"] == "2026-11-02T08:31:30Z"
    assert note["safeguards"]["pods_per_owner"] == 1
    assert note["forbidden_namespaces"] == ["kube-system"]
    assert ["team", "Job.batch.volcano.sh", "n-p1"] in note["safeguards"]["recently_moved"]
    assert PLANNER_OPTIONS not in file_of(place, "run.yaml").metadata.annotations
    again = evaluate(snapshot_of(place), plan.spec, noted_options(plan.metadata.annotations))
    assert plan.status is not None
    assert plan_status(again) == plan.status.plan
    assert plan_status(evaluate(snapshot_of(place), plan.spec)) != plan.status.plan


def test_a_later_moment_alone_changes_nothing_of_an_open_proposal(tmp_path: Path) -> None:
    """The recorded instant moves on with every tick; the digest does not, so nothing is pushed."""
    place = place_with(tmp_path, "  safety:\n    minPodAge: 30m\n")
    place.tick()
    before = place.branches()
    assert place.action() == "unchanged"
    assert place.branches() == before


def test_past_moves_are_read_from_every_run_on_the_base_branch(tmp_path: Path) -> None:
    place = place_with(tmp_path, RESTS)
    record_result(place, 10)
    with place.ports() as ports:
        books, now = base_books(ports.repository, "main"), place.clock.now()
        assert books.past_moves(now) == frozenset()
        found = {m.workload for m in books.past_moves(now - timedelta(minutes=11))}
    assert found == {("team", "PodGroup.scheduling.volcano.sh", "pg-n-p1"), ("team", "Job.batch.volcano.sh", "n-p1")}


def test_row_124_what_was_recorded_while_a_run_waited_for_its_turn_counts(tmp_path: Path) -> None:
    """The executor looks at the base branch again when it plans, not when it was started."""
    place = place_with(tmp_path, RESTS)
    place.tick()
    place.merge_squashed(1)
    (run,) = (p.parent.name for p in place.scratch.checkout.glob("runs/gpu/*/run.yaml"))
    seen: list[frozenset[PastMove]] = []

    class Waiting:
        def execute(self, assignment: Assignment) -> RepackRun:
            since = place.clock.now() - timedelta(hours=1)
            seen.append(assignment.past(since))
            record_result(place, 10)
            seen.append(assignment.past(since))
            raise TryAgain("enough seen")

    with place.ports() as ports, pytest.raises(TryAgain):
        execute(ports, Waiting(), "main", RunPath("gpu", run), 0.0)  # type: ignore[arg-type]
    assert [len(moves) for moves in seen] == [0, 2]
