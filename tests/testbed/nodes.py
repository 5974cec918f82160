"""Nodes of the bed: those that KWOK plays, with whatever devices a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Object = dict[str, Any]
KWOK_ANNOTATION = {"kwok.x-k8s.io/node": "fake"}


def fake_node(
    name: str,
    devices: Mapping[str, int],
    *,
    cpu: str = "64",
    memory: str = "512Gi",
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Object] = (),
) -> Object:
    """Return a node that KWOK keeps Ready and whose pods run until they are deleted.

    Parameters
    ----------
    name
        Also its ``kubernetes.io/hostname``.
    devices
        Whole counts per extended resource, such as ``{"nvidia.com/gpu": 8}``.
    cpu, memory
        Kubernetes quantities.
    labels, taints
        On top of the host name; as in the API.
    """
    amounts = {"cpu": cpu, "memory": memory, "pods": "110", **{k: str(v) for k, v in devices.items()}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": dict(KWOK_ANNOTATION),
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "spec": {"taints": list(taints)},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
