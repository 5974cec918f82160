"""The product installed as a user would: the manifests of cronjob/ with the user's own configuration, and a repository."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

from tests.testbed.cluster import Cluster
from tests.testbed.gitea_api import ForgeRepo
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for

ROOT = Path(__file__).parents[3]
SYSTEM = "repack-system"

CONFIG = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepositoryConfig
metadata:
  name: circle
spec:
  cluster:
    name: bed
  forge:
    kind: gitea
    url: {url}
    repository: {slug}
"""

POLICY = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepackPolicy
metadata:
  name: compact
spec:
  trigger:
    cronSchedule: "* * * * *"
  runTemplate:
    metadata:
      labels:
        change-ticket: CHG0001234
    spec:
      goals:
        - resource: nvidia.com/gpu
  changeTicket:
    required: true
    pattern: CHG[0-9]{7}
  execution:
    evictionTimeout: 30s
    placementTimeout: 60s
    cooldown: 1m
  pullRequest:
    labels: [gpu]
    reviewers: [reviewer]
"""


def fill_repository(repository: ForgeRepo, folder: Path, files: dict[str, str] | None = None) -> None:
    """Push repack.yaml and a policy to main (or ``files`` instead of the policy)."""
    checkout = repository.clone(folder)
    config = CONFIG.format(url=repository.url.partition(f"/{repository.slug}")[0], slug=repository.slug)
    for path, text in {"repack.yaml": config, **(files or {"policies/compact.yaml": POLICY})}.items():
        repository.push_file(checkout, "main", path, text)


def install(cluster: Cluster, repository: ForgeRepo, folder: Path) -> None:
    """Apply cronjob/ with config.env pointing at ``repository``; the CronJobs are suspended, tests trigger them."""
    for part in ("cronjob", "schemas"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "cronjob/config.env").write_text(f"REPACK_GIT_URL={repository.url}\nREPACK_BASE_BRANCH=main\n")
    for file in ("planner-cronjob.yaml", "dispatcher-cronjob.yaml"):
        path = folder / "cronjob" / file
        path.write_text(path.read_text().replace("spec:\n", "spec:\n  suspend: true\n", 1))
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}, _secret(repository.token))
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(folder / "cronjob"))
    cluster.kubectl("wait", "--for=condition=Established", "crd/repackruns.repack.volcano.sh", "--timeout=60s")


def trigger(cluster: Cluster, cronjob: str, job: str) -> Object:
    """Run a CronJob's Job at once and return it when it has ended."""
    cluster.kubectl("create", "job", job, f"--from=cronjob/{cronjob}", "-n", SYSTEM)
    return ended(cluster, job)


def ended(cluster: Cluster, job: str, seconds: float = 120) -> Object:
    """Return the Job once it is complete or failed."""
    wait_for(f"the end of Job {job}", lambda: bool(_conditions(cluster, job)), seconds)
    found = cluster.get("job", job, "-n", SYSTEM)
    assert found is not None
    return found


def _conditions(cluster: Cluster, job: str) -> set[str]:
    found = cluster.get("job", job, "-n", SYSTEM)
    conditions: list[dict[str, Any]] = (found or {}).get("status", {}).get("conditions", [])
    return {c["type"] for c in conditions if c["status"] == "True"} & {"Complete", "Failed"}


def pods_of(cluster: Cluster, job: str) -> list[str]:
    """Return the names of a Job's pods."""
    return [p["metadata"]["name"] for p in cluster.items("pods", "-n", SYSTEM, "-l", f"batch.kubernetes.io/job-name={job}")]


def _secret(token: str) -> Object:
    data = {"token": base64.b64encode(token.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "repack-forge-token", "namespace": SYSTEM}, "data": data}
