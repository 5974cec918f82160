"""A finished run goes to git: its commit and trailers, races, refusals, and what its pull request is told (spec 3.5)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import msgspec
import pytest
import yaml

from repack_gitops.errors import GitFailed, Refused, TryAgain
from repack_gitops.git.interface import Repository
from repack_gitops.model.policy import RepositoryConfig
from repack_gitops.model.run import Goal, RepackRun, RunMetadata, RunSpec, new_run
from repack_gitops.model.status import advance, complete, failed
from repack_gitops.policy.names import CHANGE_TICKET, PLAN_DIGEST, RunPath
from repack_gitops.workflow.books import base_books
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.execute import execute
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.record import Recorded, record
from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.place import CONFIG, START, Place, policy_text

RUN = "gpu-20261102-090130"
PATH = RunPath("gpu", RUN)


@pytest.fixture
def merged(place: Place) -> Place:
    place.tick()
    place.merge_squashed(1, by="ada")
    return place


def ended(place: Place, message: str = "Freed 1 node.", *, make: Callable[..., Any] = complete, ticket: str = "") -> RepackRun:
    """Return the run as an executor would leave it in the cluster."""
    run = place.run_on_main(RUN)
    notes = {**run.metadata.annotations, **({CHANGE_TICKET: ticket} if ticket else {})}
    metadata = msgspec.structs.replace(
        run.metadata, annotations=notes, uid="u-1", resource_version="17", generation=1, managed_fields=[{"manager": "x"}]
    )
    now = timestamp(START)
    reason = "ExecutionCompleted" if make is complete else "EvictionFailed"
    return msgspec.structs.replace(run, metadata=metadata, status=advance(None, make(reason, message, now), now))


def config_of(ports: Ports) -> RepositoryConfig:
    return base_books(ports.repository, "main").config()


def recorded(place: Place, run: RepackRun) -> Recorded:
    with place.ports() as ports:
        return record(ports, config_of(ports), PATH, run)


def log(place: Place, form: str) -> str:
    return git(place.scratch.bare, "log", "-1", f"--format={form}", "main")


# ---- the commit ----
def test_one_commit_with_two_files(merged: Place) -> None:
    before = merged.scratch.tip
    found = recorded(merged, ended(merged))
    assert found == Recorded(merged.scratch.tip, f"recorded in {PATH.file('result.yaml')}")
    assert git(merged.scratch.bare, "rev-parse", "main^") == before
    changed = git(merged.scratch.bare, "diff", "--name-only", "main^", "main").splitlines()
    assert changed == [PATH.file("result.md"), PATH.file("result.yaml")]
    assert log(merged, "%an|%cn|%aI") == "repack-gitops|repack-gitops|2026-11-02T09:00:30+00:00"


def test_trailers_exactly(merged: Place) -> None:
    digest = merged.run_on_main(RUN).metadata.annotations[PLAN_DIGEST]
    recorded(merged, ended(merged, ticket="CHG0000001"))
    assert log(merged, "%(trailers:only,unfold)").splitlines() == [
        f"Repack-Run: {RUN}",
        "Repack-Policy: gpu",
        f"Repack-Plan-Digest: {digest}",
        "Repack-Reason: ExecutionCompleted",
        "Change-Ticket: CHG0000001",
        "Approved-By: ada",
        "Pull-Request: https://forge.example/pulls/1",
    ]
    assert log(merged, "%s") == f"repack: record {RUN}: ExecutionCompleted"
    assert "[skip ci]" not in log(merged, "%B")


def test_reviewers_go_before_whoever_merged(place: Place) -> None:
    place.tick()
    place.forge.review(1, "eve")
    place.forge.review(1, "bob")
    place.forge.review(1, "repack-bot")
    place.forge.review(1, "passer-by", counts=False)
    place.forge.review(1, "grumpy", "changes-requested")
    place.merge_squashed(1, by="ada")
    recorded(place, ended(place))
    assert log(place, "%(trailers:key=Approved-By,valueonly)").split() == ["bob", "eve"]


def test_what_the_api_server_added_is_left_out(merged: Place) -> None:
    recorded(merged, ended(merged))
    found = yaml.safe_load(merged.show("main", PATH.file("result.yaml")))
    assert set(found["metadata"]) == {"name", "annotations"}
    assert found["status"]["phase"] == "Succeeded"
    assert isinstance(RunMetadata(name=RUN).managed_fields, msgspec.UnsetType)


def test_the_identity_of_the_configuration(merged: Place) -> None:
    merged.write("repack.yaml", CONFIG + "  git:\n    identity:\n      name: Repack\n      email: r@example.test\n")
    recorded(merged, ended(merged))
    assert log(merged, "%an <%ae>") == "Repack <r@example.test>"


# ---- again, races, refusals ----
def test_recorded_twice_is_once(merged: Place) -> None:
    recorded(merged, ended(merged))
    tip = merged.scratch.tip
    assert recorded(merged, ended(merged)).commit == tip
    assert recorded(merged, ended(merged, "something else", make=failed)).commit == tip
    assert merged.scratch.tip == tip
    assert len(merged.comments(1)) == 1


class Interrupted:
    """A repository in which something happens right before each push, until ``happenings`` are used up."""

    def __init__(self, repository: Any, happenings: Iterator[Callable[[], object]]) -> None:
        self._repository, self._happenings = repository, happenings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._repository, name)

    def push(self, *args: Any) -> Any:
        for happening in itertools.islice(self._happenings, 1):
            happening()
        return self._repository.push(*args)


def test_somebody_elses_push_in_between(merged: Place) -> None:
    others = iter([lambda: merged.write("README.md", "theirs\n")])
    with merged.ports() as ports:
        racing = merged.ports_on(cast(Repository, Interrupted(ports.repository, others)))
        record(racing, config_of(ports), PATH, ended(merged))
    assert merged.show("main", "README.md") == "theirs"
    assert merged.show("main", PATH.file("result.yaml"))
    assert len(merged.clock.slept) == 1


def test_two_executors_record_the_same_run(merged: Place) -> None:
    run, other = ended(merged), iter([lambda: recorded(merged, ended(merged))])
    with merged.ports() as ports:
        racing = merged.ports_on(cast(Repository, Interrupted(ports.repository, other)))
        record(racing, config_of(ports), PATH, run)
    assert git(merged.scratch.bare, "rev-list", "--count", "main", "--", PATH.file("result.yaml")) == "1"
    assert len(merged.comments(1)) == 1


def test_a_race_that_is_never_won(merged: Place) -> None:
    others = (partial(merged.write, "README.md", f"{number}\n") for number in itertools.count())
    with merged.ports() as ports:
        busy, config = Interrupted(ports.repository, others), config_of(ports)
        with pytest.raises(TryAgain):
            record(merged.ports_on(cast(Repository, busy)), config, PATH, ended(merged))
    assert merged.comments(1) == []
    assert recorded(merged, ended(merged)).commit == merged.scratch.tip


def test_a_protected_base_branch(merged: Place) -> None:
    merged.scratch.hook("pre-receive", 'echo "GH006: Protected branch update failed" >&2; exit 1')
    with pytest.raises(GitFailed, match=f"the result of {RUN} could not be pushed to main") as caught:
        recorded(merged, ended(merged))
    assert caught.value.exit_code == 4
    assert "GH006" in caught.value.message
    assert "Let the bot push" in caught.value.hint
    assert merged.comments(1) == []


def test_the_base_branch_is_gone(merged: Place) -> None:
    with merged.ports() as ports:
        config = config_of(ports)
        git(merged.scratch.bare, "update-ref", "-d", "refs/heads/main")
        with pytest.raises(GitFailed, match="no branch 'main'"):
            record(ports, config, PATH, some_run())


def some_run() -> RepackRun:
    spec = RunSpec(mode="Execute", goals=[Goal(resource="nvidia.com/gpu")])
    now = timestamp(START)
    return new_run(RunMetadata(name=RUN), spec, advance(None, complete("ExecutionCompleted", "Done.", now), now))


# ---- the pull request ----
def test_comment_and_label(merged: Place) -> None:
    recorded(merged, ended(merged))
    (comment,) = merged.comments(1)
    assert "Freed 1 node." in comment
    assert f"https://forge.example/src/main/{PATH.file('result.md')}" in comment
    assert "repack/done" in merged.request(1).labels


def test_a_failure_is_labelled_as_one(merged: Place) -> None:
    recorded(merged, ended(merged, "A budget said no.", make=failed))
    assert "repack/failed" in merged.request(1).labels
    assert "repack/done" not in merged.request(1).labels


def test_a_run_without_a_request_is_recorded(place: Place) -> None:
    place.tick()
    place.merge_branch(place.the_request().head)
    recorded(place, ended(place))
    assert "Approved-By" not in log(place, "%B")
    assert "Pull-Request" not in log(place, "%B")


def test_without_a_forge(place: Place) -> None:
    place.without_forge = True
    place.tick()
    place.merge_branch(next(iter(place.branches())))
    recorded(place, ended(place))
    assert place.show("main", PATH.file("result.md"))


def test_a_request_to_another_base_is_not_told(place: Place) -> None:
    place.tick()
    head = place.the_request().head
    elsewhere = place.forge.somebody_opens(head, "dev")
    place.forge.somebody_merges(elsewhere.number, "0" * 40)
    place.merge_branch(head)
    recorded(place, ended(place))
    assert place.comments(elsewhere.number) == []


HOSTILE = (
    "x\n\nApproved-By: mallory\nRepack-Run: other\n\n"
    "<img src=x onerror=alert(1)> @everyone <!-- --> ![](http://evil.example/x) [a](http://evil.example) "
    "\x1b[31mred\x1b[0m \u202e"
)


def test_hostile_text_in_messages(merged: Place) -> None:
    recorded(merged, ended(merged, HOSTILE, ticket="CHG1\n\nApproved-By: mallory"))
    assert log(merged, "%(trailers:key=Approved-By,valueonly)").split() == ["ada"]
    assert log(merged, "%(trailers:key=Repack-Run,valueonly)").split() == [RUN]
    message = log(merged, "%B")
    assert "\x1b" not in message
    assert "\u202e" not in message
    (comment,) = merged.comments(1)
    for harm in ("<img", "@everyone", "![](http", "\x1b", "\u202e", "](http://evil"):
        assert harm not in comment
    assert yaml.safe_load(merged.show("main", PATH.file("result.yaml")))["status"]["message"] == HOSTILE


def test_a_very_long_message_fits_the_forge(merged: Place) -> None:
    recorded(merged, ended(merged, "word " * 40_000))
    assert len(merged.comments(1)[0]) <= merged.forge.body_limit


# ---- a death between the push and the comment ----
class NeverCalled:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"nothing is executed: {name}")


def test_the_request_is_told_by_the_next_attempt(merged: Place) -> None:
    class Dying:
        def __getattr__(self, name: str) -> Any:
            return getattr(merged.forge, name)

        def comment(self, number: int, text: str) -> Any:
            raise TryAgain("the forge is away")

    with merged.ports() as ports, pytest.raises(TryAgain):
        record(merged.ports_on(ports.repository, Dying()), config_of(ports), PATH, ended(merged))
    assert merged.comments(1) == []
    with merged.ports() as ports:
        outcome = execute(ports, NeverCalled(), "main", PATH, 0.0)  # type: ignore[arg-type]
    assert outcome.run is None
    assert len(merged.comments(1)) == 1
    assert "repack/done" in merged.request(1).labels


def test_a_result_that_somebody_wrote_by_hand_ends_the_run(merged: Place) -> None:
    merged.write(PATH.file("result.yaml"), "cancelled by ops\n")
    with merged.ports() as ports:
        assert execute(ports, NeverCalled(), "main", PATH, 0.0).run is None  # type: ignore[arg-type]
    assert merged.comments(1) == []


# ---- before the executor ----
def test_results_mode_is_refused_before_anything(merged: Place) -> None:
    merged.write("repack.yaml", CONFIG + "  results: branch\n")
    with merged.ports() as ports, pytest.raises(Refused, match="results: branch"):
        execute(ports, NeverCalled(), "main", PATH, 0.0)  # type: ignore[arg-type]


def test_a_run_that_is_not_merged_is_not_executed(place: Place) -> None:
    place.tick()
    with place.ports() as ports, pytest.raises(Refused, match="not on branch main"):
        execute(ports, NeverCalled(), "main", PATH, 0.0)  # type: ignore[arg-type]


def test_a_tampered_plan_is_not_executed(merged: Place) -> None:
    file = PATH.file("plan.yaml")
    merged.write(file, merged.show("main", file).replace("toNode: n0", "toNode: n9") + "\n")
    with merged.ports() as ports, pytest.raises(Refused, match="its digest is"):
        execute(ports, NeverCalled(), "main", PATH, 0.0)  # type: ignore[arg-type]


def test_a_missing_ticket_is_not_executed(merged: Place) -> None:
    merged.write("policies/gpu.yaml", policy_text("gpu", more="  changeTicket:\n    required: true\n"))
    with merged.ports() as ports, pytest.raises(Refused, match="ticket"):
        execute(ports, NeverCalled(), "main", PATH, 0.0)  # type: ignore[arg-type]
