"""Watches on a real API server."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from repack_gitops.kube.client import LiveCluster, connect
from repack_gitops.kube.interface import PodEvent, WatchExpired
from tests.real.kube.victims import evict, pod
from tests.testbed.cluster import Cluster
from tests.testbed.control_plane import ControlPlane
from tests.testbed.processes import spawn
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real


class Watcher:
    """Collects the events of one namespace until a pod of it is gone."""

    def __init__(self, cluster: LiveCluster, namespace: str, version: str, seconds: int) -> None:
        self.events: list[tuple[PodEvent, float]] = []
        self._thread = threading.Thread(target=self._watch, args=(cluster, namespace, version, seconds))
        self._thread.start()

    def _watch(self, cluster: LiveCluster, namespace: str, version: str, seconds: int) -> None:
        for event in cluster.watch_pods(version, seconds):
            if event.pod.namespace == namespace:
                self.events.append((event, time.monotonic()))
                if event.type == "DELETED":
                    return

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()

    @property
    def types(self) -> list[str]:
        return [event.type for event, _ in self.events]


def test_a_watch_sees_a_pod_come_change_and_go(control_plane: Cluster, cluster: LiveCluster, namespace: str) -> None:
    start = cluster.list_pods().resource_version
    watcher = Watcher(cluster, namespace, start, 60)
    control_plane.apply(pod(namespace, "p"))
    found = wait_for("the pod", lambda: cluster.get_pod(namespace, "p"))
    asked = time.monotonic()
    cluster.nominate(namespace, "p", found.uid, "node-a")
    wait_for("its change", lambda: "MODIFIED" in watcher.types)
    assert watcher.events[-1][1] - asked < 2
    evict(cluster, found)
    watcher.join()
    assert (watcher.types[0], watcher.types[-1]) == ("ADDED", "DELETED")
    nominated = next(event for event, _ in watcher.events if event.type == "MODIFIED")
    assert (nominated.pod.uid, nominated.pod.nominated_node) == (found.uid, "node-a")
    again = Watcher(cluster, namespace, nominated.resource_version, 60)
    again.join()
    assert again.types == watcher.types[watcher.types.index("MODIFIED") + 1 :]


def test_an_ancient_version_is_expired(own_control_plane: Callable[..., ControlPlane]) -> None:
    """An API server that has just started remembers nothing of the time before."""
    plane = own_control_plane(volcano=False)
    plane.apply(pod("default", "p"))
    with connect(plane.kubeconfig) as cluster, restarted(plane):
        with pytest.raises(WatchExpired, match="too old"):
            list(cluster.watch_pods("1", 30))
        assert [p.name for p in cluster.list_pods().pods] == ["p"]


class restarted:  # noqa: N801 - used like a function
    """Start the API server of a control plane again, as a rolling update does."""

    def __init__(self, plane: ControlPlane) -> None:
        pid = plane.pids()["kube-apiserver"]
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
        os.kill(pid, signal.SIGTERM)
        wait_for("the API server to end", lambda: plane.status_of("/readyz") == 0)
        self._log = (plane.folder / "log/kube-apiserver-again.log").open("wb")
        self._process = spawn([part.decode() for part in command], cwd=plane.folder, env=plane.environment(), output=self._log)
        wait_for("the API server", lambda: plane.status_of("/readyz") == 200)

    def __enter__(self) -> None: ...

    def __exit__(self, *exc: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        self._log.close()
