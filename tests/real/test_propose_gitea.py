"""The planner's tick and the recording of results on a real Gitea; only the cluster is played."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from repack_gitops.errors import GitFailed
from repack_gitops.forge.kinds import open_forge
from repack_gitops.forge.patience import Patience
from repack_gitops.git.credentials import Credentials
from repack_gitops.git.repository import GitRepository
from repack_gitops.kube.interface import Cluster
from repack_gitops.model.documents import read_run
from repack_gitops.model.run import RepackRun
from repack_gitops.model.status import advance, complete
from repack_gitops.policy.names import PLAN_DIGEST, RunPath
from repack_gitops.report.machine_block import read_machine_block
from repack_gitops.workflow.books import base_books
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.dispatch import dispatch
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.propose import PolicyReport, Tick, propose
from repack_gitops.workflow.record import record
from tests.real.circle.product import CONFIG
from tests.testbed.gitea_api import ForgeRepo, GiteaApi
from tests.testbed.waiting import wait_for
from tests.unit.workflow.gitops.fake_cluster import FakeCluster, layout
from tests.unit.workflow.gitops.place import FixedClock, policy_text

NO_GAP = Patience(write_gap=0)
OPTIONS = "  pullRequest:\n    labels: [gpu]\n    reviewers: [ada, no-such-user]\n    assignees: [ada]\n"


@dataclass
class Bench:
    """A repository on Gitea, the bot that may write to it, and a human's checkout."""

    bot: ForgeRepo
    owner: ForgeRepo
    checkout: Path
    clock: FixedClock
    cluster: FakeCluster = field(default_factory=lambda: FakeCluster(layout(4, 2)))
    said: list[str] = field(default_factory=list)

    @contextmanager
    def ports(self) -> Iterator[Ports]:
        forge = open_forge("gitea", self.bot.api.url, self.bot.slug, self.bot.token, patience=NO_GAP)
        credentials = Credentials.for_url(self.bot.url, self.bot.token, forge.git_username)
        with GitRepository.clone(self.bot.url, branch="main", credentials=credentials) as repository:
            yield Ports(cast(Cluster, self.cluster), repository, forge, self.clock)

    def tick(self) -> PolicyReport:
        """Run one tick two seconds later, since Gitea's times are whole seconds."""
        self.clock.pass_by(seconds=2)
        with self.ports() as ports:
            (report,) = propose(ports, "main", Tick(timedelta(minutes=2)), self.said.append)
        return report

    def requests(self, state: str = "open") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.owner.call("GET", f"/pulls?state={state}")
        return found

    def request(self) -> dict[str, Any]:
        (found,) = self.requests()
        return found

    def comments(self, number: int) -> list[str]:
        return [c["body"] for c in self.owner.call("GET", f"/issues/{number}/comments")]

    def branches(self) -> set[str]:
        return {b["name"] for b in self.owner.call("GET", "/branches")} - {"main"}

    def run_of(self, branch: str) -> RepackRun:
        """Return the run.yaml that a branch proposes."""
        path = f"runs/{branch.removeprefix('repack/')}/run.yaml"
        self.owner.git("fetch", "--quiet", "origin", branch, cwd=self.checkout)
        return read_run(self.owner.git("show", f"FETCH_HEAD:{path}", cwd=self.checkout), path)


@pytest.fixture
def bench(gitea: GiteaApi, forge_repo: ForgeRepo, tmp_path: Path) -> Bench:
    bot = gitea.create_user("repacker")
    gitea.create_user("ada")
    for user in ("repacker", "ada"):
        forge_repo.add_collaborator(user)
    checkout = forge_repo.clone(tmp_path / "checkout")
    config = CONFIG.format(url=forge_repo.api.url, slug=forge_repo.slug)
    for path, text in {"repack.yaml": config, "policies/gpu.yaml": policy_text("gpu", more=OPTIONS)}.items():
        forge_repo.push_file(checkout, "main", path, text)
    clock = FixedClock()
    clock.time = datetime.now(UTC)
    return Bench(forge_repo.seen_by(bot), forge_repo, checkout, clock)


def test_opened_kept_and_updated(bench: Bench) -> None:
    assert bench.tick().action == "opened"
    request = bench.request()
    head = request["head"]["sha"]
    assert request["user"]["login"] == "repacker"
    assert {label["name"] for label in request["labels"]} == {"repack", "gpu"}
    assert [u["login"] for u in request["requested_reviewers"]] == ["ada"]
    assert [u["login"] for u in request["assignees"]] == ["ada"]
    assert any("no-such-user" in line for line in bench.said)
    (status,) = bench.owner.call("GET", f"/commits/{head}/statuses")
    assert (status["context"], status["status"]) == ("repack/fresh", "success")

    assert bench.tick().action == "unchanged"
    assert bench.request()["head"]["sha"] == head
    assert bench.request()["updated_at"] == request["updated_at"]
    assert len(bench.owner.call("GET", f"/commits/{head}/statuses")) == 1

    bench.owner.push_file(bench.checkout, "main", "README.md", "moved on\n")
    bench.cluster.objects = layout(4, 2, 1)
    assert bench.tick().action == "updated"
    after = bench.request()
    block = read_machine_block(after["body"])
    assert after["number"] == request["number"]
    assert after["title"].startswith("repack(bed/gpu): free 2 nodes")
    assert block is not None
    assert block.plan_digest == bench.run_of(after["head"]["ref"]).metadata.annotations[PLAN_DIGEST]
    assert len(bench.owner.call("GET", f"/pulls/{after['number']}/commits")) == 1
    files = {f["filename"].rpartition("/")[2] for f in bench.owner.call("GET", f"/pulls/{after['number']}/files")}
    assert files == {"run.yaml", "plan.yaml", "plan.md", "layout.svg", "frontier.svg"}
    assert bench.tick().action == "unchanged"


def test_no_longer_recommended_and_back_again(bench: Bench) -> None:
    bench.tick()
    number = bench.request()["number"]
    bench.cluster.objects = layout(4, 0)
    assert bench.tick().action == "closed"
    closed = bench.owner.pull_request(number)
    assert (closed["state"], closed["merged"]) == ("closed", False)
    assert closed["title"].endswith(" - autoclosed")
    assert [c for c in bench.comments(number) if "no longer recommended" in c]
    assert bench.branches() == set()
    assert bench.tick().action == "nothing"
    bench.cluster.objects = layout(4, 2)
    assert bench.tick().action == "opened"
    assert bench.request()["number"] != number


def test_expired(bench: Bench) -> None:
    bench.tick()
    first = bench.request()
    bench.clock.pass_by(hours=25)
    assert bench.tick().action == "opened"
    assert bench.request()["number"] != first["number"]
    assert bench.branches() == {bench.request()["head"]["ref"]}


def test_a_humans_commit_is_left_alone(bench: Bench) -> None:
    bench.tick()
    branch, number = bench.request()["head"]["ref"], bench.request()["number"]
    bench.owner.git("fetch", "--quiet", "origin", branch, cwd=bench.checkout)
    bench.owner.git("checkout", "--quiet", "-B", branch, "FETCH_HEAD", cwd=bench.checkout)
    pushed = bench.owner.push_file(bench.checkout, branch, "notes.md", "mine\n")
    for cards in ((4, 2), (4, 2, 1), (4, 0)):
        bench.cluster.objects = layout(*cards)
        assert bench.tick().action == "left alone"
    assert bench.owner.call("GET", f"/branches/{branch.replace('/', '%2F')}")["commit"]["id"] == pushed
    assert len(bench.comments(number)) == 1


def test_the_forges_own_update_button_is_a_humans_commit(bench: Bench) -> None:
    bench.tick()
    number = bench.request()["number"]
    bench.owner.push_file(bench.checkout, "main", "README.md", "moved on\n")
    bench.owner.call("POST", f"/pulls/{number}/update?style=merge")
    bench.cluster.objects = layout(4, 2, 1)
    assert bench.tick().action == "left alone"


def test_a_hold_label(bench: Bench) -> None:
    bench.tick()
    number, head = bench.request()["number"], bench.request()["head"]["sha"]
    label = bench.owner.call("POST", "/labels", {"name": "repack/hold", "color": "#ff0000"})
    bench.owner.call("POST", f"/issues/{number}/labels", {"labels": [label["id"]]})
    bench.cluster.objects = layout(4, 2, 1)
    assert [bench.tick().action, bench.tick().action] == ["left alone", "left alone"]
    assert bench.request()["head"]["sha"] == head
    assert len(bench.comments(number)) == 1
    bench.owner.call("DELETE", f"/issues/{number}/labels/{label['id']}")
    assert bench.tick().action == "updated"


@pytest.mark.parametrize("delete_branch", [False, True])
def test_closed_by_a_human_is_rejected(bench: Bench, delete_branch: bool) -> None:
    bench.tick()
    request = bench.request()
    if delete_branch:
        bench.owner.call("DELETE", f"/branches/{request['head']['ref'].replace('/', '%2F')}")
        assert bench.tick().action == "nothing"  # whether Gitea closed it already or not
        wait_for("Gitea to close it", lambda: bench.owner.pull_request(request["number"])["state"] == "closed")
    else:
        bench.owner.call("PATCH", f"/pulls/{request['number']}", {"state": "closed"})
    report = bench.tick()
    assert (report.action, "rejected" in report.message) == ("nothing", True)
    bench.cluster.objects = layout(4, 2, 1)
    assert bench.tick().action == "opened"
    assert bench.request()["number"] != request["number"]


def test_merged_dispatched_and_recorded(bench: Bench) -> None:
    bench.tick()
    request = bench.request()
    path = RunPath.of_branch(request["head"]["ref"])
    assert path is not None
    bench.owner.merge(request["number"], "squash")
    assert bench.tick().action == "nothing"
    with bench.ports() as ports:
        assert [d.action for d in dispatch(ports, "main")] == ["created"]
        books = base_books(ports.repository, "main")
        recorded = record(ports, books.config(), path, _ended(books.approved_run(path).run, bench))
    assert bench.owner.call("GET", "/branches/main")["commit"]["id"] == recorded.commit
    merged = bench.owner.pull_request(request["number"])
    assert "repack/done" in {label["name"] for label in merged["labels"]}
    assert len(bench.comments(request["number"])) == 1
    with bench.ports() as ports:
        assert dispatch(ports, "main") == ()


def test_a_protected_base_branch_is_a_message(bench: Bench) -> None:
    bench.tick()
    request = bench.request()
    path = RunPath.of_branch(request["head"]["ref"])
    assert path is not None
    bench.owner.merge(request["number"], "squash")
    bench.owner.protect_branch("main")
    with bench.ports() as ports:
        books = base_books(ports.repository, "main")
        run = _ended(books.approved_run(path).run, bench)
        with pytest.raises(GitFailed, match="could not be pushed to main") as caught:
            record(ports, books.config(), path, run)
    assert caught.value.exit_code == 4
    assert "Let the bot push" in caught.value.hint
    assert bench.comments(request["number"]) == []


def _ended(run: RepackRun, bench: Bench) -> RepackRun:
    now = timestamp(bench.clock.now())
    status = advance(None, complete("ExecutionCompleted", "Freed 1 node.", now), now)
    return type(run)(api_version=run.api_version, kind=run.kind, metadata=run.metadata, spec=run.spec, status=status)
