"""Clusters of the benchmark as snapshot files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.shapes import shaped
from repack_gitops.model.cluster import Node, Pod, PodGroup
from repack_gitops.model.quantity import whole

Object = dict[str, Any]


def write_shaped(file: Path, shape: str, nodes: int) -> Path:
    """Write ``bench.shapes.shaped(shape, nodes)`` as a List into ``file``, and return it."""
    found = shaped(shape, nodes)
    items = [*map(_node, found.nodes), *map(_pod, found.pods), *map(_group, found.pod_groups.values())]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}))
    return file


def _node(node: Node) -> Object:
    amounts = {name: str(whole(amount)) for name, amount in node.allocatable.items()}
    status = {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, "labels": dict(node.labels)}, "status": status}


def _pod(pod: Pod) -> Object:
    assert pod.owner is not None
    owner = {"apiVersion": pod.owner.api_version, "kind": pod.owner.kind, "name": pod.owner.name, "uid": pod.owner.uid}
    requests = {name: str(whole(amount)) for name, amount in pod.requests.items() if name != "pods"}
    limits = {name: amount for name, amount in requests.items() if "/" in name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
            "labels": dict(pod.labels),
            "annotations": {"scheduling.k8s.io/group-name": pod.pod_group},
            "ownerReferences": [{**owner, "controller": True}],
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "nodeName": pod.node,
            "schedulerName": pod.scheduler_name,
            "containers": [{"name": "main", "resources": {"requests": requests, "limits": limits}}],
        },
        "status": {"phase": pod.phase, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _group(group: PodGroup) -> Object:
    metadata = {"namespace": group.namespace, "name": group.name, "uid": group.uid}
    spec = {"minMember": group.min_member}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}
