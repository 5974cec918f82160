"""Workloads for forecasts: a few pods with the labels that their controller gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from repack_gitops.model.cluster import ClusterSnapshot, JobPolicy, Owner, Pod, VolcanoJob
from repack_gitops.model.owners import Owners
from repack_gitops.planner.cascade.cascades import Cascades
from repack_gitops.planner.cascade.forecast import Forecast
from tests.unit.planner.build import cluster, node, pod

VOLCANO = Owner("batch.volcano.sh/v1alpha1", "Job", "train", "uid-train")
BATCH = Owner("batch/v1", "Job", "once", "uid-once")
SERVING = Owner("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat", "uid-chat")
RAY = Owner("ray.io/v1", "RayCluster", "ray", "uid-ray")


def member(name: str, owner: Owner, labels: Mapping[str, str], on: str = "a", **changes: object) -> Pod:
    """Return a running pod of ``owner`` with one card."""
    return replace(pod(name, on, 1, owner.name), owner=owner, labels=dict(labels), **changes)  # type: ignore[arg-type]


def worker(index: int, task: str = "worker", partition: str | None = None, **changes: object) -> Pod:
    """Return pod ``index`` of a task of VCJob ``train``."""
    labels = {"volcano.sh/job-name": "train", "volcano.sh/task-spec": task}
    labels |= {"volcano.sh/partition-id": partition} if partition else {}
    return member(f"{task}-{index}", VOLCANO, labels, **changes)  # type: ignore[arg-type]


def policy(event: str | None, action: str) -> JobPolicy:
    """Return a policy on one event, or on an exit code."""
    return JobPolicy(frozenset({event}) if event else frozenset(), action)


def job(*policies: JobPolicy, tasks: Mapping[str, tuple[JobPolicy, ...]] | None = None, **more: object) -> VolcanoJob:
    """Return VCJob ``train`` with maxRetry 3."""
    made = VolcanoJob("team", "train", policies, dict(tasks or {}), 3, 0)
    return replace(made, **more)  # type: ignore[arg-type]


def view(*pods: Pod, volcano_job: VolcanoJob | None = None, owners: Owners | None = None) -> ClusterSnapshot:
    """Return the snapshot of ``pods`` with their controllers."""
    jobs = {("team", "train"): volcano_job} if volcano_job else {}
    return cluster([node("a"), node("b")], pods, volcano_jobs=jobs, owners=owners or Owners())


def foretold(snapshot: ClusterSnapshot, name: str) -> Forecast:
    """Return the forecast for the pod ``team/<name>``."""
    return Cascades(snapshot).forecast(next(p for p in snapshot.pods if p.name == name))


def names(forecast: Forecast) -> set[str]:
    """Return the names of the pods that restart."""
    return {name for _, name in forecast.restarts}
