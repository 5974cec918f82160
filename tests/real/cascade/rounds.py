"""Workloads side by side in one namespace: evict one pod of each, let everything settle, see what restarted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import Evicted
from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.kubernetes import Node
from repack_gitops.planner.cascade.cascades import Cascades
from repack_gitops.planner.cascade.forecast import Forecast
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object

#: Nothing changed for that long: the back-off of a controller that has one must be shorter, or be waited for.
QUIET = 4.0


@dataclass(frozen=True)
class Seen:
    """What one eviction did: pods that restarted or are gone, by name, how many are left, and the workload before and after."""

    forecast: Forecast
    restarted: frozenset[str]
    alive: int
    before: Object
    after: Object


class Namespace:
    """A namespace with workloads of one kind."""

    def __init__(self, plane: Cluster, cluster: LiveCluster, name: str, kind: str) -> None:
        self.plane, self.cluster, self.name, self.kind = plane, cluster, name, kind

    def snapshot(self) -> ClusterSnapshot:
        """Return the namespace as the planner sees it."""
        objects: Iterable[Any] = self.cluster.list_objects()
        mine = [o for o in objects if isinstance(o, Node) or o.metadata.namespace == self.name]
        return build_snapshot(mine)

    def workloads(self) -> dict[str, Object]:
        """Return the workloads by name."""
        return {w["metadata"]["name"]: w for w in self.plane.items(self.kind, "-n", self.name)}

    def settled(self, enough: Callable[[], bool] = lambda: True, seconds: float = 90) -> None:
        """Wait until ``enough`` says so and nothing has changed for a while."""
        last, since, deadline = self._state(), time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(0.3)
            now = self._state()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > QUIET and enough():
                return
        raise TimeoutError(f"namespace {self.name} did not settle: {last}")

    def _state(self) -> str:
        fields = ("metadata.name", "metadata.uid", "status.phase", "status.state.phase", "metadata.deletionTimestamp")
        columns = "custom-columns=" + ",".join(f"F{i}:.{field}" for i, field in enumerate(fields))
        return self.plane.kubectl("get", f"pods,{self.kind}", "-n", self.name, "-o", columns, "--no-headers")

    def round(
        self, victims: dict[str, str], evict: Callable[[Pod], None], enough: Callable[[], bool] = lambda: True
    ) -> dict[str, Seen]:
        """Evict one pod of each workload, ``victims`` by the workload's name, and return what happened to each."""
        before, workloads = self.snapshot(), self.workloads()
        pods = {p.name: p for p in before.pods}
        forecasts = {w: Cascades(before).forecast(pods[victim]) for w, victim in victims.items()}
        for victim in victims.values():
            evict(pods[victim])
        self.settled(enough)
        after, now = self.snapshot(), self.workloads()
        return {
            name: Seen(
                forecasts[name],
                frozenset(_of(before, name)) - {n for n, uid in _of(after, name).items() if _of(before, name).get(n) == uid},
                sum(1 for p in after.pods if p.owner and p.owner.name == name and p.active and not p.terminating),
                workloads[name],
                now[name],
            )
            for name in victims
        }

    def evict(self, pod: Pod) -> None:
        """Evict ``pod`` through the Eviction API."""
        answer = self.cluster.evict(pod.namespace, pod.name, pod.uid, grace_period_seconds=0, dry_run=False)
        assert isinstance(answer, Evicted), answer

    def fail(self, pod: Pod, code: int) -> None:
        """Play the kubelet, which KWOK does not: report the first container as ended with ``code``, and the pod as Failed."""
        ended = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0}
        ended["state"] = {"terminated": {"exitCode": code}}
        status = json.dumps({"status": {"phase": "Failed", "containerStatuses": [ended]}})
        self.plane.kubectl(
            "patch", "pod", pod.name, "-n", pod.namespace, "--subresource=status", "--type=merge", "-p", status, check=False
        )


def _of(snapshot: ClusterSnapshot, workload: str) -> dict[str, str]:
    return {p.name: p.uid for p in snapshot.pods if p.owner and p.owner.name == workload}
