"""Lists are complete or an error (rows 40, 44 to 46)."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from repack_gitops.errors import ClusterUnavailable, Forbidden
from repack_gitops.kube.client import LiveCluster
from repack_gitops.model import kubernetes as wire
from repack_gitops.model import kubernetes_owners as owners_wire
from repack_gitops.model.decode import build_snapshot
from tests.unit.kube.fake_api import FakeApi, Reply, refusal

NOT_SERVED = Reply(404, b"404 page not found\n")


def page(*items: dict[str, Any], version: str = "7", more: str = "", missing: int = 0) -> Reply:
    metadata: dict[str, Any] = {"resourceVersion": version}
    metadata |= {"continue": more} if more else {}
    metadata |= {"remainingItemCount": missing} if missing else {}
    return Reply(200, {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": list(items)})


def node(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}}


def pod(name: str, on: str | None = None) -> dict[str, Any]:
    spec = {"containers": [{"name": "c"}]} | ({"nodeName": on} if on else {})
    annotations = {"scheduling.k8s.io/group-name": "g", "kubectl.kubernetes.io/last-applied-configuration": "secret"}
    return {"metadata": {"name": name, "namespace": "team", "annotations": annotations}, "spec": spec}


def names(objects: Any) -> list[str]:
    return [item.metadata.name for item in objects]


def test_pages_of_one_version_make_one_list(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(pod("b"), more="t1", missing=1), page(pod("a")))
    listed = cluster.list_pods()
    assert ([p.name for p in listed.pods], listed.resource_version) == (["b", "a"], "7")
    assert [s.query for s in fake.seen] == [{"limit": "500"}, {"limit": "500", "continue": "t1"}]
    assert {s.path for s in fake.seen} == {"/api/v1/pods"}


def test_pages_may_be_compressed(cluster: LiveCluster, fake: FakeApi) -> None:
    body = gzip.compress(json.dumps(page(pod("a")).body).encode())
    fake.answer(Reply(200, body, {"Content-Encoding": "gzip"}))
    assert [p.name for p in cluster.list_pods().pods] == ["a"]
    assert fake.seen[0].headers["accept-encoding"] == "gzip"


def test_an_empty_list_may_be_null(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, {"metadata": {"resourceVersion": "7"}, "items": None}))
    assert cluster.list_pods().pods == ()


def test_row_46_an_expired_token_starts_the_list_again(cluster: LiveCluster, fake: FakeApi) -> None:
    expired = refusal(410, "The provided continue parameter is too old", "Expired")
    fake.answer(page(pod("a"), more="t1"), expired, page(pod("b"), version="9", more="t2"), page(pod("c"), version="9"))
    listed = cluster.list_pods()
    assert ([p.name for p in listed.pods], listed.resource_version) == (["b", "c"], "9")


def test_row_46_a_list_that_always_expires_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(*[page(pod("a"), more="t"), refusal(410, "too old")] * 3)
    with pytest.raises(ClusterUnavailable, match="cannot list pods: the list expired 3 times"):
        cluster.list_pods()


INCOMPLETE: dict[str, tuple[list[Reply], str]] = {
    "cut JSON": ([Reply(200, b'{"metadata":{"resourceVersion":"7"},"items":[{"meta')], "unreadable: Input data was trunc"),
    "HTML of a proxy": ([Reply(200, b"<html>log in</html>")], "unreadable: JSON is malformed"),
    "empty": ([Reply(200, b"")], "unreadable"),
    "broken UTF-8": ([Reply(200, b'{"metadata":{"resourceVersion":"\xff"}}')], "unreadable"),
    "a Status in its place": ([Reply(200, {"kind": "Status", "status": "Success"})], "missing required field `metadata`"),
    "no version": ([page(pod("a"), version="")], "incomplete: its pages are of different versions"),
    "two versions": ([page(pod("a"), more="t"), page(pod("b"), version="8")], "its pages are of different versions"),
    "the same page again": ([page(pod("a"), more="t"), page(pod("b"), more="t")], "the same page again and again"),
    "objects after the last page": ([page(pod("a"), missing=3)], "3 objects are missing"),
    "removed half-way": ([page(pod("a"), more="t"), refusal(404)], "the resource was removed"),
    "a wrong type": ([page({"metadata": {"name": 3}, "spec": {}})], r"Expected `str`, got `int` - at `\$.items\[0\]"),
    "not served": ([NOT_SERVED], "does not know this resource"),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_an_incomplete_list_is_an_error(cluster: LiveCluster, fake: FakeApi, case: str) -> None:
    replies, message = INCOMPLETE[case]
    fake.answer(*replies)
    with pytest.raises(ClusterUnavailable, match=message) as caught:
        cluster.list_pods()
    assert caught.value.message.startswith("cannot list pods")
    assert caught.value.hint


@pytest.mark.parametrize("end", ["broken", "silent"])
def test_a_body_cut_on_its_way_is_read_again_and_then_an_error(cluster: LiveCluster, fake: FakeApi, end: str) -> None:
    fake.answer(Reply(200, page(pod("a")).body, end=end))  # type: ignore[arg-type]
    with pytest.raises(ClusterUnavailable, match="cannot list pods: no answer from the API server"):
        cluster.list_pods()
    assert len(fake.seen) == 4


def test_row_40_a_missing_permission_names_verb_and_resource(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(403, 'pods is forbidden: User "jane" cannot list resource "pods"', "Forbidden"))
    with pytest.raises(Forbidden, match=r'not allowed to list pods: .*User "jane" cannot list'):
        cluster.list_pods()


OWNER_PATHS = (
    "/apis/batch.volcano.sh/v1alpha1/jobs",
    "/apis/batch/v1/jobs",
    "/apis/jobset.x-k8s.io/v1alpha2/jobsets",
    "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
    "/apis/workload.serving.volcano.sh/v1alpha1/modelservings",
    "/apis/ray.io/v1/rayclusters",
)


def test_a_snapshot_lists_nodes_before_pods_and_pods_before_their_groups(cluster: LiveCluster, fake: FakeApi) -> None:
    group = {"metadata": {"name": "g", "namespace": "team"}, "spec": {"minMember": 1}}
    budget = {"metadata": {"name": "b", "namespace": "team"}}
    job = {"metadata": {"name": "j", "namespace": "team"}}
    owners = [page({"metadata": {"name": f"o{i}", "namespace": "team"}}) for i in range(5)]
    fake.answer(page(node("n1")), page(pod("p", "n1")), page(group), page(budget), page(job), *owners, page())
    objects = list(cluster.list_objects())
    assert names(objects) == ["n1", "p", "g", "b", "j", "o0", "o1", "o2", "o3", "o4"]
    assert [type(o) for o in objects] == [
        wire.Node,
        wire.Pod,
        wire.PodGroup,
        wire.PodDisruptionBudget,
        wire.VolcanoJob,
        owners_wire.BatchJob,
        owners_wire.JobSet,
        owners_wire.LeaderWorkerSet,
        owners_wire.ModelServing,
        owners_wire.RayCluster,
    ]
    assert [s.path for s in fake.seen] == [
        "/api/v1/nodes",
        "/api/v1/pods",
        "/apis/scheduling.volcano.sh/v1beta1/podgroups",
        "/apis/policy/v1/poddisruptionbudgets",
        *OWNER_PATHS,
        "/apis/scheduling.volcano.sh/v1beta1/queues",
        "/api/v1/namespaces",
        "/api/v1/persistentvolumeclaims",
        "/api/v1/persistentvolumes",
        "/apis/storage.k8s.io/v1/storageclasses",
        "/apis/storage.k8s.io/v1/csidrivers",
        "/apis/storage.k8s.io/v1/csinodes",
        "/apis/storage.k8s.io/v1/volumeattachments",
    ]
    assert build_snapshot(objects).pods[0].node == "n1"


def test_annotations_that_nobody_reads_are_dropped_at_once(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(), page(pod("p")), page())
    (found,) = [o for o in cluster.list_objects() if isinstance(o, wire.Pod)]
    assert found.metadata.annotations == {"scheduling.k8s.io/group-name": "g"}


def test_a_node_that_joined_meanwhile_is_listed_once_more(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(node("n1")), page(pod("p", "n2")), page(node("n1"), node("n2")), page())
    objects = list(cluster.list_objects())
    assert names(objects) == ["n1", "n2", "p"]
    assert [s.path for s in fake.seen].count("/api/v1/nodes") == 2
    assert build_snapshot(objects).pods[0].node == "n2"


def test_a_finished_pod_may_outlive_its_node(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(node("n1")), page(pod("p", "gone") | {"status": {"phase": "Succeeded"}}), page())
    assert names(cluster.list_objects()) == ["n1", "p"]
    assert [s.path for s in fake.seen].count("/api/v1/nodes") == 1


def test_controllers_that_are_not_installed_yield_nothing(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(), page(), page(), page(), *([NOT_SERVED] * len(OWNER_PATHS)))
    assert list(cluster.list_objects()) == []
    assert [s.path for s in fake.seen][4 : 4 + len(OWNER_PATHS)] == list(OWNER_PATHS)


def test_what_is_not_installed_needs_no_permission(cluster: LiveCluster, fake: FakeApi) -> None:
    """An API server refuses to list an unknown kind before it says that there is none."""
    denied = refusal(403, "rayclusters.ray.io is forbidden", "Forbidden")
    fake.answer(page(), page(), page(), page(), *[page()] * 5, denied, NOT_SERVED, page())
    assert list(cluster.list_objects()) == []
    assert "/apis/ray.io/v1" in [s.path for s in fake.seen]


def test_what_is_installed_does(cluster: LiveCluster, fake: FakeApi) -> None:
    denied = refusal(403, "rayclusters.ray.io is forbidden", "Forbidden")
    served = Reply(200, b'{"kind":"APIResourceList","resources":[]}')
    fake.answer(page(), page(), page(), page(), *[page()] * 5, denied, served)
    with pytest.raises(Forbidden, match=r"not allowed to list rayclusters\.ray\.io"):
        list(cluster.list_objects())


def test_a_cluster_without_volcano_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(), page(), NOT_SERVED)
    with pytest.raises(ClusterUnavailable, match=r"podgroups.scheduling.volcano.sh") as caught:
        list(cluster.list_objects())
    assert "Install Volcano" in caught.value.hint


def test_nodes_and_budgets_are_listed_by_name(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(page(node("b"), node("a")))
    assert [n.name for n in cluster.list_nodes()] == ["a", "b"]
    fake.answer(page({"metadata": {"name": "y", "namespace": "t"}}, {"metadata": {"name": "x", "namespace": "t"}}))
    assert [b.name for b in cluster.list_budgets()] == ["x", "y"]


def test_row_40_an_unreadable_pod_is_not_a_missing_pod(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(403, "forbidden"))
    with pytest.raises(Forbidden, match="not allowed to get pods team/w"):
        cluster.get_pod("team", "w")
    fake.answer(refusal(404, "not found"))
    assert cluster.get_pod("team", "w") is None
    fake.answer(Reply(200, pod("w", "n1")))
    found = cluster.get_pod("team", "w")
    assert found is not None
    assert (found.key, found.node, found.pod_group) == (("team", "w"), "n1", "g")
