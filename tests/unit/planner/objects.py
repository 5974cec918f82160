"""Tiny clusters as Kubernetes objects, for tests that go through decoding: what kubectl would print, cut down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.kinds import KINDS
from tests.unit.planner.build import GPU

Object = dict[str, Any]


def node_object(name: str, **allocatable: str) -> Object:
    """Return a Ready node with 8 cards."""
    amounts = {GPU: "8", "cpu": "64", "memory": "512Gi", "pods": "110", **allocatable}
    ready = {"type": "Ready", "status": "True"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": amounts, "conditions": [ready]},
    }


def pod_object(name: str, on: str, cards: int, spec: Object | None = None, status: Object | None = None) -> Object:
    """Return a running pod of a VCJob; ``spec`` and ``status`` add to its own."""
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": f"j-{name}", "controller": True}
    resources = {"requests": {GPU: str(cards), "cpu": "1"}, "limits": {GPU: str(cards)}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-{name}",
            "annotations": {"scheduling.k8s.io/group-name": f"pg-{name}"},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": on,
            "schedulerName": "volcano",
            "containers": [{"name": "main", "resources": resources}],
            **(spec or {}),
        },
        "status": {"phase": "Running", **(status or {})},
    }


def group_object(name: str, minimum: int = 1) -> Object:
    """Return the PodGroup of the pod ``name``."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": f"pg-{name}", "namespace": "team", "uid": f"uid-pg-{name}"},
        "spec": {"minMember": minimum},
    }


def snapshot_of(objects: Sequence[Object]) -> ClusterSnapshot:
    """Return the snapshot of ``objects``, with a PodGroup for every pod."""
    groups = [group_object(o["metadata"]["name"]) for o in objects if o["kind"] == "Pod"]
    return build_snapshot(msgspec.convert(o, KINDS[o["apiVersion"], o["kind"]]) for o in [*objects, *groups])
