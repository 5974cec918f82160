"""Live clusters on the run's control plane."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from repack_gitops.kube.client import LiveCluster, connect
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import fake_node


@pytest.fixture
def cluster(control_plane: Cluster) -> Iterator[LiveCluster]:
    """The run's control plane, as its administrator."""
    with connect(control_plane.kubeconfig) as live:
        yield live


@pytest.fixture
def stranger(control_plane: Cluster) -> Iterator[LiveCluster]:
    """The same, as a user without any permission."""
    with connect(control_plane.kubeconfig, as_user="jane") as live:
        yield live


@pytest.fixture
def node(namespace: str, make_nodes: Callable[..., None]) -> str:
    """A node of this test's own."""
    make_nodes(fake_node(f"node-{namespace}", {"nvidia.com/gpu": 8}))
    return f"node-{namespace}"
