"""A cluster that shows a given layout and takes Jobs, as strict about them as an API server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from repack_gitops.errors import InvalidInput
from repack_gitops.kube.interface import Conflict, JobState
from repack_gitops.model.kinds import KINDS
from repack_gitops.model.kubernetes import Wire
from tests.unit.planner.objects import Object, group_object, node_object, pod_object

LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

TEMPLATE = """\
apiVersion: batch/v1
kind: Job
metadata:
  labels:
    app: repack
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: executor
          image: repack
          args: [execute]
        - name: proxy
          image: proxy
"""


def layout(*cards: int, resource: str = "nvidia.com/gpu", name: str = "n") -> list[Object]:
    """Return nodes of 8 cards with one pod of ``cards[i]`` on the i-th, each in a PodGroup of its own; none for 0."""
    objects = [node_object(f"{name}{i}", **{"nvidia.com/gpu": "0", resource: "8"}) for i in range(len(cards))]
    pods = [_pod(f"{name}-p{i}", f"{name}{i}", count, resource) for i, count in enumerate(cards) if count]
    return [*objects, *pods, *(group_object(p["metadata"]["name"]) for p in pods)]


def _pod(name: str, on: str, cards: int, resource: str) -> Object:
    resources = {"requests": {resource: str(cards), "cpu": "1"}, "limits": {resource: str(cards)}}
    return pod_object(name, on, 0, spec={"containers": [{"name": "main", "resources": resources}]})


class FakeCluster:
    """The part of ``Cluster`` that git's workflows ask for; anything else fails the test."""

    def __init__(self, objects: Sequence[Object] = ()) -> None:
        self.objects, self.listings = list(objects), 0
        self.jobs: dict[tuple[str, str], dict[str, Any]] = {}
        self.states: dict[tuple[str, str], JobState] = {}
        self.config_maps: dict[tuple[str, str], Mapping[str, str]] = {
            ("repack-system", "repack-executor-template"): {"job.yaml": TEMPLATE}
        }
        self.broken: Exception | None = None

    def list_objects(self) -> Iterable[Wire]:
        self.listings += 1
        if self.broken is not None:
            raise self.broken
        return [msgspec.convert(o, KINDS[o["apiVersion"], o["kind"]]) for o in self.objects]

    def get_config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        return self.config_maps.get((namespace, name))

    def get_job(self, namespace: str, name: str) -> JobState | None:
        return self.states.get((namespace, name))

    def create_job(self, namespace: str, manifest: Mapping[str, Any]) -> JobState | Conflict:
        """Check what the API server would check of names and labels, then keep the Job."""
        name = manifest["metadata"]["name"]
        if (namespace, name) in self.jobs:
            return Conflict("the name is taken")
        problems = list(_invalid(manifest))
        if problems:
            raise InvalidInput(f"cannot create jobs {namespace}/{name}: {problems[0]} (HTTP 422)", hint="See its message.")
        self.jobs[namespace, name] = dict(manifest)
        self.states[namespace, name] = JobState(namespace, name, active=True, succeeded=False, failed=False)
        return self.states[namespace, name]

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"git's workflows do not ask a cluster for {name}")


def _invalid(manifest: Mapping[str, Any]) -> Iterable[str]:
    name = manifest["metadata"]["name"]
    if len(name) > 63 or not NAME.fullmatch(name):
        yield f"metadata.name: Invalid value: {name!r}"
    for metadata in (manifest["metadata"], manifest["spec"]["template"]["metadata"]):
        for key, value in metadata["labels"].items():
            if not LABEL_VALUE.fullmatch(value):
                yield f"metadata.labels: Invalid value: {key}={value!r}"
    arguments = manifest["spec"]["template"]["spec"]["containers"][0].get("args", [])
    if not all(isinstance(a, str) for a in arguments):
        yield "spec.template.spec.containers[0].args: must be strings"
