"""What we say about a pod and a node; the only module of this test that calls the planner."""

from __future__ import annotations

from pathlib import Path

from repack_gitops.kube.client import connect
from repack_gitops.model.cluster import ClusterSnapshot, Key
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.plan import Reason
from repack_gitops.planner.feasibility.state import ClusterState


class Oracle:
    """Answers for one snapshot."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._state = ClusterState.of(snapshot)

    def undecided(self, key: Key) -> tuple[str, ...]:
        """Return what keeps us from deciding anything about a pod, by field; empty for most."""
        return self._pods[key].unsupported

    def why_not(self, key: Key, node_name: str) -> Reason | None:
        """Return why the pod, which is on no node, cannot go to the node, or None if it can."""
        return self._state.why_not(self._pods[key], self._snapshot.node_by_name[node_name])


def take_snapshot(kubeconfig: Path) -> ClusterSnapshot:
    """Return the cluster as ``repack plan`` sees it."""
    with connect(kubeconfig) as cluster:
        return build_snapshot(cluster.list_objects())
