"""What a real API server makes of nominations."""

from __future__ import annotations

import pytest

from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import Nominated, NotNominated
from tests.real.kube.victims import pod, running
from tests.testbed.cluster import Cluster

pytestmark = pytest.mark.real


def test_a_nomination_is_set_changed_and_cleared(control_plane: Cluster, cluster: LiveCluster, namespace: str) -> None:
    control_plane.apply(pod(namespace, "p"))
    found = cluster.get_pod(namespace, "p")
    assert found is not None
    for target in ("node-a", "node-b", None, None):
        assert cluster.nominate(namespace, "p", found.uid, target) == Nominated()
        after = cluster.get_pod(namespace, "p")
        assert after is not None
        assert after.nominated_node == target


def test_only_the_pod_with_that_uid_is_nominated(control_plane: Cluster, cluster: LiveCluster, namespace: str) -> None:
    control_plane.apply(pod(namespace, "p"))
    answer = cluster.nominate(namespace, "p", "another", "node-a")
    assert isinstance(answer, NotNominated)
    assert not answer.transient
    after = cluster.get_pod(namespace, "p")
    assert after is not None
    assert after.nominated_node is None


def test_a_bound_pod_and_one_that_is_gone_take_no_nomination(
    control_plane: Cluster, cluster: LiveCluster, stranger: LiveCluster, namespace: str, node: str
) -> None:
    control_plane.apply(pod(namespace, "p", node))
    bound = running(cluster, namespace, "p")
    for answer in (
        cluster.nominate(namespace, "p", bound.uid, "node-a"),
        cluster.nominate(namespace, "none", bound.uid, "node-a"),
        stranger.nominate(namespace, "p", bound.uid, "node-a"),
    ):
        assert isinstance(answer, NotNominated)
        assert not answer.transient
    assert cluster.nominate(namespace, "p", bound.uid, None) == Nominated()
