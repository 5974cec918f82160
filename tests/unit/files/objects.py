"""A small cluster as kubectl prints it."""

from __future__ import annotations

import json
from typing import Any

import yaml

Object = dict[str, Any]


def node(name: str = "n1", **status: Any) -> Object:
    metadata = {"name": name, "labels": {"zone": "z1"}, "annotations": {"note": "secret"}, "resourceVersion": "4"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "7910m", "memory": "64Gi", "pods": "110"}, **status},
    }


def pod(name: str = "p", namespace: str = "team", on: str = "n1", cards: Any = "2", **spec: Any) -> Object:
    container = {
        "name": "c",
        "image": "x",
        "env": [{"name": "PASSWORD", "value": "secret"}],
        "resources": {"limits": {"nvidia.com/gpu": cards}, "requests": {"nvidia.com/gpu": cards, "cpu": "1500m"}},
    }
    annotations = {"scheduling.k8s.io/group-name": "g", "kubectl.kubernetes.io/last-applied-configuration": "secret"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "labels": {"version": "1.10", "on": "yes", "größe": "1e3"},
            "annotations": annotations,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"containers": [container], "nodeName": on, "schedulerName": "volcano", "priority": 3, **spec},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def named(api_version: str, kind: str, name: str, **more: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "team"}, **more}


def cluster() -> list[Object]:
    """Return one object of each kind, in kubectl's order."""
    budget = {"selector": {"matchLabels": {"version": "1.10"}}, "minAvailable": "50%"}
    policies = [{"event": "PodEvicted", "action": "RestartTask"}]
    return [
        node(),
        pod(),
        named("scheduling.volcano.sh/v1beta1", "PodGroup", "g", spec={"minMember": 1}),
        named("policy/v1", "PodDisruptionBudget", "b", spec=budget, status={"disruptionsAllowed": 1}),
        named("batch.volcano.sh/v1alpha1", "Job", "j", spec={"policies": policies}),
    ]


def list_of(*items: Any, **more: Any) -> Object:
    return {"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {"resourceVersion": ""}, **more}


def as_json(document: Any) -> bytes:
    return json.dumps(document, indent=4).encode()


def as_yaml(*documents: Any) -> bytes:
    text: bytes = yaml.safe_dump_all(documents, sort_keys=True, encoding="utf-8", allow_unicode=True)
    return text
