"""A kubelet made of local processes: it runs the pods of our Jobs and CronJobs for real, without containers.

It registers a node of its own, which KWOK leaves alone. The first container of each pod on it runs as a local process
with the pod's environment, mounts and service-account token, so that what RBAC, Secrets and manifests say decides what
works. Not played: images, limits, probes, sidecars, further containers, hostPath and persistent volumes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Self

from kubernetes.client.exceptions import ApiException

from tests.testbed.cluster import Cluster
from tests.testbed.kubelet_api import KubeletApi, now
from tests.testbed.nodes import Object
from tests.testbed.pod_runner import Image, PodRunner

RENEW_SECONDS = 10
STOP_GRACE = 2.0
OURS = {"key": "repack.test/agent", "effect": "NoSchedule"}
TERMINAL = {"Succeeded", "Failed"}


class ProcessAgent:
    """Plays kubelet, and scheduler for pods that ask for the default one, as long as this context manager lives.

    Parameters
    ----------
    cluster
        The control plane; it must outlive the agent.
    namespaces
        Where the agent binds pending pods of ``default-scheduler`` to its node. Empty when the bed's kube-scheduler
        runs: the agent still runs every pod that is bound to its node.
    node
        Name of the agent's node; unique on the control plane.
    logs
        Folder for the containers' output; a temporary one by default.
    entrypoint
        Command of containers that name none, in place of the image's.
    environment
        More variables for every container.
    tainted
        Whether the node repels pods that are not bound to it by the agent.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespaces: Sequence[str] = (),
        *,
        node: str = "agent-0",
        logs: Path | None = None,
        entrypoint: Sequence[str] = ("repack",),
        environment: Mapping[str, str] | None = None,
        tainted: bool = True,
    ) -> None:
        self.cluster = cluster
        self.namespaces = frozenset(namespaces)
        self.node = node
        self.tainted = tainted
        self._image = Image(cluster.kubeconfig_text, entrypoint, environment or {})
        self._scratch = Path(tempfile.mkdtemp(prefix="agent-"))
        self.logs = logs or self._scratch / "logs"
        self._stopping = Event()
        self._runners: dict[str, PodRunner] = {}
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._undo = ExitStack()
        self._api: KubeletApi

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Register the node and begin to run pods."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, self._scratch, ignore_errors=True)
            self._api = KubeletApi(undo.enter_context(self.cluster.api_client()))
            self._api.register(agent_node(self.node, tainted=self.tainted))
            self._undo = undo.pop_all()
        loops: list[Callable[[], None]] = [self._keep_ready, self._run_pods]
        loops += [self._bind_pods] if self.namespaces else []
        self._threads = [Thread(target=loop, name=f"{self.node} {loop.__name__}") for loop in loops]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all processes, delete their pods and the node, and wait until everything is gone."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        for runner in self._runners.values():
            runner.terminate(STOP_GRACE)
        for runner in self._runners.values():
            runner.join()
        for pod in self._api.pods_on(self.node):
            self._api.remove(pod)
        self._api.unregister(self.node)
        self._undo.close()

    def log_path(self, namespace: str, pod: str) -> Path:
        """Return the file with everything that a pod's containers printed."""
        return self.logs / f"{namespace}_{pod}.log"

    def log_of(self, namespace: str, pod: str) -> str:
        """Return what a pod's containers printed so far; empty before they started."""
        file = self.log_path(namespace, pod)
        return file.read_text(errors="replace") if file.exists() else ""

    def crash(self, namespace: str, pod: str) -> None:
        """Kill a pod's running process with SIGKILL, as running out of memory would.

        Raises
        ------
        LookupError
            The pod does not run here.
        """
        with self._lock:
            runners = [r for r in self._runners.values() if _names(r.pod) == (namespace, pod)]
        if not runners:
            raise LookupError(f"pod {namespace}/{pod} is not on {self.node}")
        runners[-1].crash()

    def _keep_ready(self) -> None:
        while not self._stopping.wait(RENEW_SECONDS):
            self._api.renew(self.node)

    def _bind_pods(self) -> None:
        for kind, pod in self._api.watch_pods("spec.schedulerName=default-scheduler,spec.nodeName=", self._stopping):
            namespace, name = _names(pod)
            if kind != "DELETED" and namespace in self.namespaces and not pod["spec"].get("schedulingGates"):
                self._bind(namespace, name)

    def _bind(self, namespace: str, name: str) -> None:
        try:
            self._api.bind(namespace, name, self.node)
        except ApiException as error:
            if error.status not in {404, 409}:  # gone, or bound already
                raise

    def _run_pods(self) -> None:
        for kind, pod in self._api.watch_pods(f"spec.nodeName={self.node}", self._stopping):
            runner = self._runners.get(pod["metadata"]["uid"])
            if runner is None and kind != "DELETED":
                self._take(pod)
            elif runner is not None and kind == "DELETED":
                runner.terminate(0)
            elif runner is not None and "deletionTimestamp" in pod["metadata"]:
                runner.terminate(pod["metadata"].get("deletionGracePeriodSeconds", 30))

    def _take(self, pod: Object) -> None:
        """Start a pod that is new here; one that is over or unwanted already only needs to go."""
        if "deletionTimestamp" in pod["metadata"]:
            self._api.remove(pod)
        elif pod.get("status", {}).get("phase") not in TERMINAL:
            uid = pod["metadata"]["uid"]
            runner = PodRunner(pod, self._api, self._scratch / uid, self.log_path(*_names(pod)), self._image)
            with self._lock:
                self._runners[uid] = runner
            runner.start()


def agent_node(name: str, *, tainted: bool) -> Object:
    """Return the agent's node: Ready, with room for pods, without devices and without KWOK's annotation."""
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "repack.test/agent": "true"}
    ready = {"type": "Ready", "status": "True", "reason": "AgentReady", "lastTransitionTime": now()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [OURS] if tainted else []},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": [ready]},
    }


def _names(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]
