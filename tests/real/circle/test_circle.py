"""From a fragmented cluster to a recorded result, every part real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.real.circle.fleet import GPU, build_fleet, cards_per_node
from tests.real.circle.product import SYSTEM, ended, fill_repository, install, pods_of, trigger
from tests.testbed.agent import ProcessAgent
from tests.testbed.control_plane import ControlPlane
from tests.testbed.gitea_api import ForgeRepo, GiteaApi
from tests.testbed.nodes import Object

pytestmark = pytest.mark.real


def succeeded(job: Object, agent: ProcessAgent, plane: ControlPlane) -> None:
    """Fail with the pods' output unless the Job completed."""
    name = job["metadata"]["name"]
    logs = "\n".join(agent.log_of(SYSTEM, pod) for pod in pods_of(plane, name))
    assert any(c["type"] == "Complete" and c["status"] == "True" for c in job["status"]["conditions"]), logs


def test_the_whole_circle(
    own_control_plane: Callable[..., ControlPlane], gitea: GiteaApi, forge_repo: ForgeRepo, tmp_path: Path
) -> None:
    plane = own_control_plane(schedule_period="1s")  # Volcano's own; at a fifth of it a nomination may lose the race
    build_fleet(plane)
    before = cards_per_node(plane)
    assert before == {"gpu-0": 2, "gpu-1": 2, "gpu-2": 1, "gpu-3": 1, "gpu-4": 2, "gpu-5": 4, "gpu-6": 5}
    reviewer = gitea.create_user("reviewer")
    forge_repo.add_collaborator("reviewer")
    fill_repository(forge_repo, tmp_path / "seed")
    install(plane, forge_repo, tmp_path / "install")
    with ProcessAgent(plane, [SYSTEM], logs=tmp_path / "logs") as agent:
        number = _propose(plane, agent, forge_repo)
        _propose_again(plane, agent, forge_repo, number)
        forge_repo.seen_by(reviewer).merge(number, "squash")
        run = _execute(plane, agent, forge_repo)
        _check_result(plane, forge_repo, run, before, tmp_path / "after")
        _dispatch_again(plane, agent, forge_repo)


def _propose(plane: ControlPlane, agent: ProcessAgent, repository: ForgeRepo) -> int:
    """The CronJob opens exactly one pull request with the four files, labels and a reviewer."""
    succeeded(trigger(plane, "repack-planner", "plan-1"), agent, plane)
    requests = repository.call("GET", "/pulls?state=open")
    assert len(requests) == 1
    request = requests[0]
    assert request["title"].startswith("repack(bed/compact): free ")
    assert {label["name"] for label in request["labels"]} == {"repack", "gpu"}
    assert [user["login"] for user in request["requested_reviewers"]] == ["reviewer"]
    files = {f["filename"].rpartition("/")[2] for f in repository.call("GET", f"/pulls/{request['number']}/files")}
    assert files - {"frontier.svg"} == {"run.yaml", "plan.yaml", "plan.md", "layout.svg"}
    assert len(request["body"]) < 58_000
    return int(request["number"])


def _propose_again(plane: ControlPlane, agent: ProcessAgent, repository: ForgeRepo, number: int) -> None:
    """The same cluster again: nothing is pushed, nothing is opened."""
    head = repository.pull_request(number)["head"]["sha"]
    succeeded(trigger(plane, "repack-planner", "plan-2"), agent, plane)
    assert [r["number"] for r in repository.call("GET", "/pulls?state=all")] == [number]
    assert repository.pull_request(number)["head"]["sha"] == head


def _execute(plane: ControlPlane, agent: ProcessAgent, repository: ForgeRepo) -> str:
    """The dispatcher starts one Job for the merged run, and the Job ends well; returns the run's name."""
    succeeded(trigger(plane, "repack-dispatcher", "dispatch-1"), agent, plane)
    jobs = plane.items("jobs", "-n", SYSTEM, "-l", "app.kubernetes.io/component=executor")
    assert len(jobs) == 1
    succeeded(ended(plane, jobs[0]["metadata"]["name"], 240), agent, plane)
    return str(jobs[0]["metadata"]["labels"]["gitops.repack.volcano.sh/run"])


def _check_result(plane: ControlPlane, repository: ForgeRepo, run: str, before: dict[str, int], folder: Path) -> None:
    checkout = repository.clone(folder)
    directory = checkout / "runs/compact" / run
    result = yaml.safe_load((directory / "result.yaml").read_text())
    planned = yaml.safe_load((directory / "plan.yaml").read_text())
    status = result["status"]
    assert status["phase"] == "Succeeded"
    assert status["conditions"][-1]["reason"] == "ExecutionCompleted"
    assert status["result"]["metricsVerified"] is True
    freed = planned["status"]["plan"]["freedNodes"]
    assert len(freed) >= 4
    assert sorted(status["result"]["freedNodes"]) == sorted(freed)
    after = cards_per_node(plane)
    assert not set(after) & set(freed)
    assert sum(after.values()) == sum(before.values())
    assert set(after) <= set(before)
    for relocation in status["relocations"]:
        assert relocation["placement"]["phase"] == "Placed"
        assert relocation["placement"]["actualNodeName"] == relocation["plannedNodeName"]
    _same_in_cluster(plane, run, status)
    log = repository.git("log", "-1", "--format=%B", cwd=checkout)
    assert f"Repack-Run: {run}" in log
    assert "Change-Ticket: CHG0001234" in log
    assert "Approved-By: reviewer" in log
    assert "# " in (directory / "result.md").read_text()


def _same_in_cluster(plane: ControlPlane, run: str, status: Object) -> None:
    """The RepackRun in the cluster tells the same story, also to `kubectl get`."""
    found = plane.get("repackrun", run)
    assert found is not None
    assert found["status"] == status
    assert found["spec"]["goals"] == [{"resource": GPU}]
    row = plane.kubectl("get", "rpr", run, "--no-headers").split()
    assert row[1:6] == [
        "Execute",
        GPU,
        "Succeeded",
        str(len(status["result"]["freedNodes"])),
        str(len(status["result"]["freedNodes"])),
    ]


def _dispatch_again(plane: ControlPlane, agent: ProcessAgent, repository: ForgeRepo) -> None:
    """A second dispatch does nothing: no Job, no commit."""
    head = repository.call("GET", "/branches/main")["commit"]["id"]
    succeeded(trigger(plane, "repack-dispatcher", "dispatch-2"), agent, plane)
    assert len(plane.items("jobs", "-n", SYSTEM, "-l", "app.kubernetes.io/component=executor")) == 1
    assert repository.call("GET", "/branches/main")["commit"]["id"] == head
