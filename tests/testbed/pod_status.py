"""The statuses that a kubelet writes while a pod lives, with the fields that controllers and people read."""

from __future__ import annotations

from tests.testbed.kubelet_api import now
from tests.testbed.nodes import Object


def waiting(container: Object, reason: str, message: str) -> Object:
    """Status of a pod whose container cannot start yet, such as for ``CreateContainerConfigError``."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [_container(container, state, ready=False, restarts=0)]}


def running(container: Object, restarts: int = 0) -> Object:
    """Status of a pod whose container runs."""
    state = {"running": {"startedAt": now()}}
    status = {"phase": "Running", "containerStatuses": [_container(container, state, ready=True, restarts=restarts)]}
    return {**status, "startTime": now(), "hostIP": "127.0.0.1", "podIP": "127.0.0.1", "conditions": _conditions("True")}


def ended(container: Object, code: int, restarts: int = 0, *, message: str = "") -> Object:
    """Status of a pod whose container ended with exit status ``code`` and will not be started again."""
    reason = "Completed" if code == 0 else "Error"
    finished = {"exitCode": code, "reason": reason, "finishedAt": now(), **({"message": message} if message else {})}
    entry = _container(container, {"terminated": finished}, ready=False, restarts=restarts)
    phase = "Succeeded" if code == 0 else "Failed"
    return {"phase": phase, "containerStatuses": [entry], "conditions": _conditions("False")}


def _container(container: Object, state: Object, *, ready: bool, restarts: int) -> Object:
    image = container.get("image", "")
    return {
        "name": container["name"],
        "image": image,
        "imageID": image,
        "ready": ready,
        "started": ready,
        "restartCount": restarts,
        "state": state,
    }


def _conditions(ready: str) -> list[Object]:
    changed = {"lastTransitionTime": now()}
    states = {"PodReadyToStartContainers": "True", "Initialized": "True", "ContainersReady": ready, "Ready": ready}
    return [{"type": kind, "status": status, **changed} for kind, status in states.items()]
