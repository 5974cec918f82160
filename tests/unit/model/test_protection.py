"""From annotations and volumes on the wire to what the planner knows of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.protection import CLUSTER_AUTOSCALER, KARPENTER, OURS
from tests.unit.planner.objects import group_object, node_object, pod_object


def read(annotations: dict[str, str], kind: str) -> ClusterSnapshot:
    """Return a node, a pod and a PodGroup, the one of ``kind`` with ``annotations``, as every door decodes them."""
    objects = [node_object("a"), pod_object("p", "a", 1), group_object("p")]
    decoded = []
    for found in objects:
        if found["kind"] == kind:
            found["metadata"].setdefault("annotations", {}).update(annotations)
        item: Any = msgspec.convert(found, wire.KINDS[found["apiVersion"], found["kind"]])
        wire.keep_annotations(item.metadata)
        decoded.append(item)
    return build_snapshot(decoded)


def said(snapshot: ClusterSnapshot) -> tuple[str, str, str]:
    return (
        snapshot.nodes[0].do_not_disrupt,
        snapshot.pods[0].do_not_disrupt,
        snapshot.pod_groups[("team", "pg-p")].do_not_disrupt,
    )


@pytest.mark.parametrize(
    ("name", "value", "kinds"),
    [
        (OURS, "true", {"Node", "Pod", "PodGroup"}),
        (OURS, "True", {"Node", "Pod", "PodGroup"}),
        (OURS, "yes please", {"Node", "Pod", "PodGroup"}),  # a typing error must not expose
        (OURS, "", {"Node", "Pod", "PodGroup"}),
        (OURS, "false", set()),
        (OURS, "False", set()),
        (KARPENTER, "true", {"Node", "Pod"}),
        (KARPENTER, "True", set()),  # read as Karpenter reads it
        (KARPENTER, "false", set()),
        (CLUSTER_AUTOSCALER, "false", {"Pod"}),
        (CLUSTER_AUTOSCALER, "true", set()),
        ("example.com/do-not-disrupt", "true", set()),
    ],
)
def test_annotation(name: str, value: str, kinds: set[str]) -> None:
    for index, kind in enumerate(("Node", "Pod", "PodGroup")):
        expected = ["", "", ""]
        if kind in kinds:
            expected[index] = f"{name}={value}"
        assert said(read({name: value}, kind)) == tuple(expected), kind


def test_several_annotations_on_a_pod_name_one() -> None:
    assert said(read({OURS: "false", KARPENTER: "true"}, "Pod"))[1] == f"{KARPENTER}=true"
    assert said(read({OURS: "true", CLUSTER_AUTOSCALER: "true"}, "Pod"))[1] == f"{OURS}=true"


@pytest.mark.parametrize(
    ("volume", "local"),
    [
        ({"emptyDir": {}}, "emptyDir(v)"),
        ({"emptyDir": {"medium": ""}}, "emptyDir(v)"),
        ({"emptyDir": {"sizeLimit": "1Gi"}}, "emptyDir(v)"),
        ({"emptyDir": {"medium": "Memory"}}, ""),
        ({"emptyDir": {"medium": "HugePages-2Mi"}}, ""),
        ({"hostPath": {"path": "/data"}}, "hostPath(v)"),
        ({"configMap": {"name": "c"}}, ""),
        ({"projected": {}}, ""),
    ],
)
def test_local_volumes(volume: dict[str, Any], local: str) -> None:
    found = pod_object("p", "a", 1, spec={"volumes": [{"name": "v", **volume}]})
    objects = [node_object("a"), found, group_object("p")]
    snapshot = build_snapshot(msgspec.convert(o, wire.KINDS[o["apiVersion"], o["kind"]]) for o in objects)
    assert snapshot.pods[0].local_volumes == ((local,) if local else ())
