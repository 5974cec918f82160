"""Do-not-disrupt annotations through every door of a real API server, and where Volcano copies them."""

from __future__ import annotations

import json

import msgspec
import pytest

from repack_gitops.kube.client import LiveCluster
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import PodGroup
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.protection import CLUSTER_AUTOSCALER, KARPENTER, OURS
from tests.real.kube.victims import pod, running
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real


def seen(cluster: LiveCluster, namespace: str, name: str) -> tuple[str, str, str]:
    """Return what reading one pod, listing all, and a snapshot's list say of a pod."""
    one = cluster.get_pod(namespace, name)
    assert one is not None
    listed = next(p for p in cluster.list_pods().pods if p.key == (namespace, name))
    kept = [o for o in cluster.list_objects() if isinstance(o, wire.Pod) and o.metadata.namespace == namespace]
    snapshot = build_snapshot(msgspec.structs.replace(o, spec=msgspec.structs.replace(o.spec, node_name=None)) for o in kept)
    (found,) = [p for p in snapshot.pods if p.name == name]
    return one.do_not_disrupt, listed.do_not_disrupt, found.do_not_disrupt


@pytest.mark.parametrize("said", [f"{OURS}=true", f"{KARPENTER}=true", f"{CLUSTER_AUTOSCALER}=false"])
def test_row_25_an_annotation_is_seen_as_soon_as_it_is_written(
    control_plane: Cluster, cluster: LiveCluster, namespace: str, node: str, said: str
) -> None:
    control_plane.apply(pod(namespace, "p", node))
    running(cluster, namespace, "p")
    assert seen(cluster, namespace, "p") == ("", "", "")
    control_plane.kubectl("annotate", "pod", "p", "-n", namespace, said)
    assert seen(cluster, namespace, "p") == (said,) * 3


def test_an_annotated_node(control_plane: Cluster, cluster: LiveCluster, node: str) -> None:
    control_plane.kubectl("annotate", "node", node, f"{KARPENTER}=true")
    assert next(n for n in cluster.list_nodes() if n.name == node).do_not_disrupt == f"{KARPENTER}=true"


def test_a_vcjobs_annotation_becomes_its_pod_groups_when_that_is_made_and_not_later(
    control_plane: Cluster, cluster: LiveCluster, namespace: str
) -> None:
    control_plane.apply(_job(namespace, "early", {OURS: "true"}), _job(namespace, "late", {}))
    assert _group(cluster, namespace, "early").do_not_disrupt == f"{OURS}=true"
    late = _group(cluster, namespace, "late")
    assert late.do_not_disrupt == ""
    control_plane.kubectl("annotate", "vcjob", "late", "-n", namespace, f"{OURS}=true")
    # a change of the spec makes the controller look at the PodGroup again
    changes = [{"op": "replace", "path": path, "value": 2} for path in ("/spec/minAvailable", "/spec/tasks/0/replicas")]
    control_plane.kubectl("patch", "vcjob", "late", "-n", namespace, "--type=json", "-p", json.dumps(changes))
    wait_for("minMember 2", lambda: _group(cluster, namespace, "late").min_member == 2)
    assert _group(cluster, namespace, "late").do_not_disrupt == ""


def _task() -> Object:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    spec = {"containers": [container], "nodeSelector": {"nowhere": "x"}}
    return {"name": "worker", "replicas": 1, "template": {"spec": spec}}


def _job(namespace: str, name: str, annotations: dict[str, str]) -> Object:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"schedulerName": "volcano", "minAvailable": 1, "queue": "default", "tasks": [_task()]},
    }


def _group(cluster: LiveCluster, namespace: str, job: str) -> PodGroup:
    """Return the PodGroup of a VCJob once there is one."""

    def look() -> PodGroup | None:
        kept = [o for o in cluster.list_objects() if isinstance(o, wire.PodGroup) and o.metadata.namespace == namespace]
        groups = build_snapshot(kept).pod_groups.values()
        return next((g for g in groups if g.owner is not None and g.owner.name == job), None)

    return wait_for(f"the PodGroup of {job}", look)
