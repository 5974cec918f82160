"""One pod as local processes: volumes, environment, the service account's token, exit status."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.testbed import pod_status
from tests.testbed.kubelet_api import KubeletApi, ReferenceMissingError
from tests.testbed.nodes import Object
from tests.testbed.pod_environment import command_of, environment_of, rewrite_paths
from tests.testbed.pod_volumes import ACCOUNT_PATH, Volumes
from tests.testbed.processes import spawn

RESTART_PAUSE = 0.5
LOOK_EVERY = 0.1
CANNOT_START = 128


class PodDeletedError(Exception):
    """The pod was deleted before its container could start."""


@dataclass(frozen=True)
class Image:
    """What every container gets besides what its pod says.

    Parameters
    ----------
    entrypoint
        Command of containers that name none.
    environment
        Variables that a container's own may override.
    kubeconfig
        Makes a kubeconfig's text from the ``user`` that it is for.
    """

    kubeconfig: Callable[[Mapping[str, str]], str]
    entrypoint: Sequence[str] = ("repack",)
    environment: Mapping[str, str] = field(default_factory=dict)


class PodRunner:
    """Runs one pod in a thread of its own and reports its status; ``folder`` is its private world."""

    def __init__(self, pod: Object, api: KubeletApi, folder: Path, log: Path, image: Image) -> None:
        self.pod = pod
        self._api = api
        self._folder = folder
        self._log = log
        self._image = image
        self._volumes = Volumes(pod, folder / "volumes", api)
        self._deadline: float | None = None
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name=f"pod {pod['metadata']['name']}")

    def start(self) -> None:
        """Start the pod."""
        self._thread.start()

    def terminate(self, grace: float) -> None:
        """Ask the container to end; after ``grace`` seconds it is killed. A later call can only shorten that."""
        deadline = time.monotonic() + grace
        self._deadline = deadline if self._deadline is None else min(deadline, self._deadline)

    def crash(self) -> None:
        """Kill the running container, as running out of memory would."""
        with self._lock:
            if self._process is None:
                raise LookupError(f"pod {self.pod['metadata']['name']} runs no process")
            os.kill(self._process.pid, signal.SIGKILL)

    def join(self) -> None:
        """Wait until everything of the pod has ended."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self._api.report(self.pod, self._lifetime())
        except PodDeletedError:
            pass
        except ValueError as error:
            self._api.report(self.pod, pod_status.ended(self._main, CANNOT_START, message=str(error)))
        finally:
            if self._deadline is not None:
                self._api.remove(self.pod)
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _main(self) -> Object:
        container: Object = self.pod["spec"]["containers"][0]
        return container

    def _lifetime(self) -> Object:
        """Run all containers and return the pod's last status."""
        self._await_references()
        for container in self.pod["spec"].get("initContainers") or []:
            code = self._execute(container)
            if code:
                return pod_status.ended(self._main, code, message=f"init container {container['name']} failed")
        return self._run_main()

    def _await_references(self) -> None:
        """Write the volumes, once everything that the pod refers to is there."""
        while True:
            try:
                self._volumes.materialise()
                environment_of(self._main, self.pod, self._api)
                return
            except ReferenceMissingError as missing:
                status = pod_status.waiting(self._main, "CreateContainerConfigError", str(missing))
                self._api.report(self.pod, status)
            self._pause()

    def _run_main(self) -> Object:
        policy = self.pod["spec"].get("restartPolicy", "Always")
        restarts = 0
        while True:
            self._api.report(self.pod, pod_status.running(self._main, restarts))
            code = self._execute(self._main)
            again = policy == "Always" or (policy == "OnFailure" and code != 0)
            if not again or self._deadline is not None:
                return pod_status.ended(self._main, code, restarts)
            restarts += 1
            self._pause()

    def _pause(self) -> None:
        if self._deadline is not None:
            raise PodDeletedError
        time.sleep(RESTART_PAUSE)

    def _execute(self, container: Object) -> int:
        """Run one container to its end and return its exit status."""
        mounts = self._volumes.mounts_of(container)
        own = environment_of(container, self.pod, self._api)
        words = command_of(container, own, self._image.entrypoint)
        rewritten = {name: rewrite_paths(value, mounts) for name, value in own.items()}
        with self._log.open("ab") as output:
            process = spawn(
                [rewrite_paths(word, mounts) for word in words],
                cwd=self._working_folder(container, mounts),
                env={**self._base_environment(mounts), **self._image.environment, **rewritten},
                output=output,
            )
            return self._supervise(process)

    def _supervise(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for a container's process, ending it when the pod is deleted; return its exit status."""
        with self._lock:
            self._process = process
        asked = False
        while not _has_ended(process.pid):
            time.sleep(LOOK_EVERY)
            if self._deadline is not None and not asked:
                os.kill(process.pid, signal.SIGTERM)
                asked = True
            if self._deadline is not None and time.monotonic() >= self._deadline:
                os.kill(process.pid, signal.SIGKILL)
        _kill_descendants(process.pid)
        with self._lock:
            self._process = None
            code = process.wait()
        return code if code >= 0 else 128 - code

    def _base_environment(self, mounts: Mapping[str, Path]) -> dict[str, str]:
        """PATH with this Python's programs first, a home of its own, and the token that the pod mounts, if it does."""
        home, temporary = self._made("home"), mounts.get("/tmp") or self._made("tmp")
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
        found = {"PATH": path, "HOME": str(home), "TMPDIR": str(temporary), "HOSTNAME": self.pod["metadata"]["name"]}
        account = mounts.get(ACCOUNT_PATH)
        if account:
            kubeconfig = self._folder / "kubeconfig"
            kubeconfig.write_text(self._image.kubeconfig({"tokenFile": str(account / "token")}))
            found["KUBECONFIG"] = str(kubeconfig)
        return found

    def _working_folder(self, container: Object, mounts: Mapping[str, Path]) -> Path:
        """Return the mounted folder that ``workingDir`` names; an empty one if it is part of the image."""
        wanted = container.get("workingDir", "")
        rewritten = rewrite_paths(wanted, mounts)
        return Path(rewritten) if rewritten != wanted else self._made("work")

    def _made(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _has_ended(pid: int) -> bool:
    """Say whether a child has ended, without collecting it: its id must not be given to another process yet."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_descendants(session: int) -> None:
    """Kill what a container's first process left behind, as the end of a container does."""
    with suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)
