"""What stops an approved run, on real parts: each ends as what it is, without an eviction, and is recorded."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.real.circle.fleet import NAMESPACE, vcjob
from tests.real.circle.product import SYSTEM, fill_repository, install
from tests.testbed.cluster import Cluster
from tests.testbed.control_plane import ControlPlane
from tests.testbed.gitea_api import ForgeRepo, GiteaApi
from tests.testbed.nodes import fake_node
from tests.testbed.parts import Parts
from tests.testbed.waiting import wait_for

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("refusals")]

POLICY = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepackPolicy
metadata:
  name: {name}
spec:
  trigger:
    cronSchedule: "0 0 1 1 *"
  runTemplate:
    spec:
      goals:
        - resource: {resource}
  execution:
    evictionTimeout: 5s
    placementTimeout: 30s
"""
SCENARIOS = ("budget", "forbidden", "drifted", "protected", "compact", "unmerged")


@dataclass(frozen=True)
class Bench:
    """A control plane with the product installed, a repository with a policy per scenario, a scratch folder."""

    plane: Cluster
    repository: ForgeRepo
    folder: Path

    def repack(self, *args: str, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command line as a user would, against this bench."""
        command = [str(Path(sys.executable).parent / "repack"), *args, "--git-url", self.repository.url]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "KUBECONFIG": str(kubeconfig or self.plane.kubeconfig),
            "REPACK_TOKEN": self.repository.token,
        }
        return subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment, check=False)

    def propose_and_merge(self, scenario: str) -> str:
        """Let the planner propose ``scenario``'s plan and merge it; returns the run's folder."""
        done = self.repack("propose", "--policy", scenario)
        assert done.returncode == 0, done.stderr
        request = self.request(scenario)
        self.repository.merge(request["number"], "rebase")
        return f"runs/{scenario}/{request['head']['ref'].rpartition('/')[2]}"

    def request(self, scenario: str) -> dict[str, Any]:
        """Return the scenario's open pull request."""
        found = self.repository.call("GET", "/pulls?state=open")
        return next(r for r in found if r["head"]["ref"].startswith(f"repack/{scenario}/"))

    def result(self, run: str) -> dict[str, Any]:
        """Return the status that was recorded for ``run`` on the base branch."""
        checkout = self.repository.clone(self.folder / f"after-{run.replace('/', '-')}")
        status: dict[str, Any] = yaml.safe_load((checkout / run / "result.yaml").read_text())["status"]
        return status


@pytest.fixture(scope="module")
def bench(testbed_parts: Parts, gitea: GiteaApi, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("refusals")
    gitea.create_organization("acme")
    repository = gitea.create_repository(f"refusals-{uuid.uuid4().hex[:8]}", organization="acme")
    policies = {f"policies/{name}.yaml": POLICY.format(name=name, resource=resource(name)) for name in SCENARIOS}
    fill_repository(repository, folder / "seed", policies)
    with ControlPlane(testbed_parts, folder / "bed") as plane:
        plane.create_namespace(NAMESPACE)
        for name in SCENARIOS:
            scatter(plane, name)
        install(plane, repository, folder / "install")
        yield Bench(plane, repository, folder)


def resource(scenario: str) -> str:
    """Every scenario has a device of its own, so that they do not meet on one control plane."""
    return f"{scenario}.example.com/card"


def scatter(plane: Cluster, scenario: str) -> None:
    """Two 8-card nodes with 4 and 2 cards in use: one node can be freed."""
    device = resource(scenario)
    for index, cards in enumerate((4, 2)):
        node, job = f"{scenario}-{index}", f"{scenario}-{'ab'[index]}"
        plane.apply(fake_node(node, {device: 8}))
        plane.kubectl("wait", "--for=condition=Ready", "--timeout=60s", f"node/{node}")
        workload = vcjob(job, replicas=1, cards=cards)
        container = workload["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
        container["resources"] = {"requests": {device: str(cards)}, "limits": {device: str(cards)}}
        if index:
            plane.kubectl("cordon", f"{scenario}-0")
        plane.apply(workload)
        wait_for(f"a pod of {job} on {node}", lambda j=job, n=node: place_of(plane, j) == n)  # type: ignore[misc]
    plane.kubectl("uncordon", f"{scenario}-0")


def place_of(plane: Cluster, job: str) -> str:
    """Return the node of a job's only pod once it runs, else an empty string."""
    pod = plane.get("pod", f"{job}-worker-0", "-n", NAMESPACE) or {}
    return str(pod.get("spec", {}).get("nodeName", "")) if pod.get("status", {}).get("phase") == "Running" else ""


def uid_of(plane: Cluster, job: str) -> str:
    pod = plane.get("pod", f"{job}-worker-0", "-n", NAMESPACE)
    assert pod is not None
    return str(pod["metadata"]["uid"])


def test_a_disruption_budget_says_no(bench: Bench) -> None:
    """Not now, since one of two pods waits for a node; a budget that could never say yes would not be planned against."""
    run, uid = bench.propose_and_merge("budget"), uid_of(bench.plane, "budget-b")
    selector = {"matchLabels": {"app": "budget-b"}}
    bench.plane.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "budget-waits", "namespace": NAMESPACE, "labels": selector["matchLabels"]},
            "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "x"}]},
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "keep", "namespace": NAMESPACE},
            "spec": {"minAvailable": 1, "selector": selector},
        },
    )
    done = bench.repack("execute", "--run", run)
    status = bench.result(run)
    assert (done.returncode, status["conditions"][-1]["reason"]) == (6, "EvictionFailed"), done.stderr
    assert "disruption budget" in status["relocations"][0]["eviction"]["message"]
    assert uid_of(bench.plane, "budget-b") == uid
    assert bench.repack("execute", "--run", run).stdout.startswith("nothing to do")


def test_a_missing_permission_is_named(bench: Bench) -> None:
    run = bench.propose_and_merge("forbidden")
    rules = yaml.safe_load(bench.plane.kubectl("get", "clusterrole", "repack-executor", "-o", "yaml"))["rules"]
    less = [r for r in rules if r["resources"] != ["pods/eviction"]]
    account = bench.plane.service_account_kubeconfig(SYSTEM, "repack-executor", bench.folder / "less")
    bench.plane.kubectl("patch", "clusterrole", "repack-executor", "--type=merge", "-p", yaml.safe_dump({"rules": less}))
    try:
        done = bench.repack("execute", "--run", run, kubeconfig=account)
    finally:
        bench.plane.kubectl("patch", "clusterrole", "repack-executor", "--type=merge", "-p", yaml.safe_dump({"rules": rules}))
    condition = bench.result(run)["conditions"][-1]
    assert (done.returncode, condition["reason"]) == (6, "PreflightFailed"), done.stderr
    assert f"create pods/eviction in namespace {NAMESPACE}" in condition["message"]


def test_nothing_of_the_approved_plan_is_left(bench: Bench) -> None:
    run = bench.propose_and_merge("drifted")
    bench.plane.kubectl("cordon", "drifted-0")
    done = bench.repack("execute", "--run", run)
    condition = bench.result(run)["conditions"][-1]
    assert (done.returncode, condition["reason"]) == (6, "PlanDrifted"), done.stderr
    assert condition["message"].startswith("Nothing was evicted")


def test_an_annotation_after_the_merge_protects(bench: Bench) -> None:
    run, uid = bench.propose_and_merge("protected"), uid_of(bench.plane, "protected-b")
    bench.plane.kubectl(
        "annotate", "pod", "protected-b-worker-0", "-n", NAMESPACE, "gitops.repack.volcano.sh/do-not-disrupt=true"
    )
    done = bench.repack("execute", "--run", run)
    status = bench.result(run)
    assert (done.returncode, status["conditions"][-1]["reason"]) == (6, "PlanDrifted"), done.stderr
    assert "DoNotDisrupt" in {s["reason"] for s in status["plan"]["stayingNodes"]}
    assert uid_of(bench.plane, "protected-b") == uid


def test_nothing_to_gain_any_more(bench: Bench) -> None:
    run = bench.propose_and_merge("compact")
    bench.plane.kubectl("delete", "vcjob", "compact-b", "-n", NAMESPACE)
    wait_for("the pod to be gone", lambda: bench.plane.get("pod", "compact-b-worker-0", "-n", NAMESPACE) is None)
    done = bench.repack("execute", "--run", run)
    status = bench.result(run)
    assert (done.returncode, status["conditions"][-1]["reason"]) == (0, "NoFragmentation"), done.stderr
    assert "result" not in status


def test_what_is_not_merged_is_not_executed(bench: Bench) -> None:
    done = bench.repack("propose", "--policy", "unmerged")
    assert done.returncode == 0, done.stderr
    run = bench.request("unmerged")["head"]["ref"].rpartition("/")[2]
    done = bench.repack("execute", "--run", f"runs/unmerged/{run}")
    assert done.returncode == 5
    assert "not on branch main" in done.stderr
    assert bench.plane.get("repackrun", run) is None
