"""A case while it is drawn: nodes with room, residents without demands, a probe that any node would take."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from tests.real.agreement.case import TERMINATING
from tests.testbed.nodes import Object

T = TypeVar("T")
GPU, FPGA = "nvidia.com/gpu", "example.com/fpga"
HOST, ZONE, RACK = "host-%", "zone-%", "rack-%"
APPS = ("web", "db", "cache")
TIERS = ("x", "y")


@dataclass
class Draft:
    """What the kinds add to."""

    rng: Random
    nodes: list[Object] = field(default_factory=list)
    residents: list[Object] = field(default_factory=list)
    probe: Object = field(default_factory=dict)
    others: list[Object] = field(default_factory=list)
    binds: bool = True

    def chance(self, probability: float) -> bool:
        """Toss a coin."""
        return self.rng.random() < probability

    def some(self, items: list[T] | tuple[T, ...], least: int = 0) -> list[T]:
        """Return a few of ``items``, in their order."""
        count = self.rng.randint(least, len(items))
        chosen = sorted(self.rng.sample(range(len(items)), count))
        return [items[n] for n in chosen]

    def pods(self) -> list[Object]:
        """Return the residents and the probe."""
        return [*self.residents, self.probe]


def draft(rng: Random) -> Draft:
    """Return a draft with nodes, residents and a probe."""
    made = Draft(rng)
    made.nodes = [_node(made, n) for n in range(rng.randint(3, 5))]
    made.residents = [resident(made, n) for n in range(rng.choice((0, 1, 2, 3, 3, 4, 5)))]
    made.probe = pod("probe-%", labels(made))
    return made


def pod(name: str, own: dict[str, str], namespace: str = "@home", **spec: Any) -> Object:
    """Return a pod with one small container."""
    small = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": own},
        "spec": {"containers": [small], "automountServiceAccountToken": False, **spec},
    }


def labels(made: Draft) -> dict[str, str]:
    """Return labels that selectors of the kinds may ask for."""
    own = {"app": made.rng.choice(APPS)} if made.chance(0.85) else {}
    own |= {"tier": made.rng.choice(TIERS)} if made.chance(0.6) else {}
    return own | ({"version": made.rng.choice(("1", "2"))} if made.chance(0.6) else {})


def _node(made: Draft, number: int) -> Object:
    name = f"n{number}-%"
    own = {HOST: f"n{number}"}
    if made.chance(0.9):
        own[ZONE] = made.rng.choice("abc")
    if made.chance(0.8):
        own[RACK] = made.rng.choice(("r1", "r2"))
    amounts = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "50Gi", "pods": "110", GPU: "4"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own},
        "spec": {},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Drawn"}],
        },
    }


def resident(made: Draft, number: int) -> Object:
    """A pod that is bound already; no kubelet runs it, so its phase is what we say."""
    rng = made.rng
    spaces = ("@home", "@home", "@home", "@away")
    found = pod(f"r{number}-%", labels(made), rng.choice(spaces), tolerations=[{"operator": "Exists"}])
    found["spec"]["schedulerName"] = rng.choices(("default-scheduler", "nobody", "volcano"), (5, 3, 2))[0]
    if made.chance(0.07):
        return _waiting(made, found)
    found["spec"]["nodeName"] = rng.choice(made.nodes)["metadata"]["name"]
    if made.chance(0.1):
        found["status"] = {"phase": rng.choice(("Succeeded", "Failed"))}
    elif made.chance(0.06):
        found["metadata"]["annotations"] = {TERMINATING: "true"}
    elif made.chance(0.3):
        found["status"] = {"phase": "Running"}
    return found


def _waiting(made: Draft, pod: Object) -> Object:
    """Let a pod wait for ever: nobody schedules it, and it may be nominated to a node, or gated."""
    pod["spec"]["schedulerName"] = "nobody"
    if made.chance(0.4):
        pod["status"] = {"nominatedNodeName": made.rng.choice(made.nodes)["metadata"]["name"]}
    elif made.chance(0.3):
        pod["spec"]["schedulingGates"] = [{"name": "agreement.test/gate"}]
    return pod
