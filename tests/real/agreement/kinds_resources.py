"""Kinds of demands on a node's amounts: containers of every sort, overhead, whole-pod amounts, full and overfull nodes."""

from __future__ import annotations

from tests.real.agreement.draft import FPGA, GPU, Draft
from tests.testbed.nodes import Object

CPU = ("0", "100m", "500m", "1", "1500m", "2", "4", "100u")
MEMORY = ("0", "64Mi", "1Gi", "2Gi", "3G", "4Gi", "8Gi", "1", "128e6")
STORAGE = ("1Gi", "10Gi", "30Gi", "50Gi")


def node_resources_fit(made: Draft) -> None:
    """Draw amounts that often just fit or just do not."""
    rng = made.rng
    for node in made.nodes:
        amounts = node["status"]["allocatable"] = dict(node["status"]["allocatable"])
        amounts["pods"] = rng.choice(("1", "2", "3", "110", "110", "110"))
        amounts["cpu"] = rng.choice(("1", "2", "4", "3900m"))
        if made.chance(0.3):
            amounts[GPU] = rng.choice(("0", "1", "2", "8"))
        if made.chance(0.3):
            amounts[FPGA] = rng.choice(("0", "1", "2"))
        if made.chance(0.1):
            del amounts[GPU]
        if made.chance(0.1):
            del amounts["ephemeral-storage"]
        node["status"]["capacity"] = amounts
    for pod in made.pods():
        _demands(made, pod)
    for resident in made.residents:
        if resident["spec"].get("nodeName") and "status" not in resident and made.chance(0.2):
            resident["status"] = _resized(made, resident)
    if made.chance(0.15):
        _overhead(made)


def _demands(made: Draft, pod: Object) -> None:
    rng = made.rng
    if made.chance(0.07):
        pod["spec"]["containers"][0].pop("resources", None)
        return
    pod["spec"]["containers"] = [_container(made, f"c{n}") for n in range(rng.choice((1, 1, 2)))]
    inits = []
    for n in range(rng.choice((0, 0, 0, 1, 2, 3))):
        found = _container(made, f"i{n}")
        inits.append(found | ({"restartPolicy": "Always"} if made.chance(0.4) else {}))
    if inits:
        pod["spec"]["initContainers"] = inits


def _container(made: Draft, name: str) -> Object:
    rng = made.rng
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for resource, amounts in (("cpu", CPU), ("memory", MEMORY), ("ephemeral-storage", STORAGE)):
        if made.chance({"cpu": 0.8, "memory": 0.5}.get(resource, 0.1)):
            amount = rng.choice(amounts)
            where = rng.choice(("requests", "requests", "limits", "both"))
            if where != "limits":
                requests[resource] = amount
            if where != "requests":
                limits[resource] = amount
    for resource in (GPU, FPGA):
        if made.chance(0.35 if resource == GPU else 0.12):
            limits[resource] = rng.choice(("0", "1", "2", "4"))
            if made.chance(0.3):
                requests[resource] = limits[resource]
    found: Object = {"name": name, "image": "x", "resources": {}}
    if requests:
        found["resources"]["requests"] = requests
    if limits:
        found["resources"]["limits"] = limits
    return found


def _resized(made: Draft, pod: Object) -> Object:
    """Return a status in the midst of a resize in place: what containers hold is not what the spec asks for."""
    statuses = []
    for container in pod["spec"]["containers"]:
        held = {"cpu": made.rng.choice(("100m", "1", "2")), "memory": made.rng.choice(("64Mi", "2Gi"))}
        status = {"name": container["name"], "image": "x", "imageID": "x", "ready": True, "restartCount": 0}
        status["resources"] = {"requests": held}
        if made.chance(0.7):
            status["allocatedResources"] = {**held, "cpu": made.rng.choice((held["cpu"], "1500m"))}
        statuses.append(status)
    found: Object = {"phase": "Running", "containerStatuses": statuses}
    if made.chance(0.5):
        reason = made.rng.choice(("Infeasible", "Deferred"))
        found["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    return found


def _overhead(made: Draft) -> None:
    """A runtime class with overhead; admission copies the overhead into pods that name it."""
    amounts = {"cpu": made.rng.choice(("250m", "1")), "memory": "128Mi"}
    meta = {"name": "runtime-%"}
    made.others.append(
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": meta,
            "handler": "h",
            "overhead": {"podFixed": amounts},
        }
    )
    for pod in made.pods():
        if pod is made.probe or made.chance(0.3):
            pod["spec"]["runtimeClassName"] = "runtime-%"


def pod_level_resources(made: Draft) -> None:
    """Let some pods say their amounts as a whole, above the sum of their containers' (at or above it, or they are invalid)."""
    for node in made.nodes:
        node["status"]["allocatable"] = {**node["status"]["allocatable"], "cpu": made.rng.choice(("1", "2", "4"))}
        node["status"]["capacity"] = node["status"]["allocatable"]
    for pod in made.pods():
        if made.chance(0.6) or pod is made.probe:
            requests = {"cpu": made.rng.choice(("500m", "1", "2"))}
            requests |= {"memory": made.rng.choice(("1Gi", "4Gi"))} if made.chance(0.5) else {}
            pod["spec"]["resources"] = {"requests": requests}
