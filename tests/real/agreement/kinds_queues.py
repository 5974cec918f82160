"""Constraints that only Volcano knows: queues that choose groups of nodes."""

from __future__ import annotations

from tests.real.agreement.draft import Draft
from tests.testbed.nodes import Object

LABEL = "volcano.sh/nodegroup-name"
GROUPS = ("g1", "g2", "g3")
QUEUE_ANNOTATION = "agreement.test/queue"
REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"


def node_group(made: Draft) -> None:
    """Put most nodes into groups, and the probe into a queue with affinity to some of them or against some of them."""
    for node in made.nodes:
        if made.chance(0.8):
            node["metadata"]["labels"][LABEL] = made.rng.choice(GROUPS)
    if made.chance(0.1):
        return  # the default queue, which has no affinity
    affinity = {name: _terms(made) for name in ("nodeGroupAffinity", "nodeGroupAntiAffinity") if made.chance(0.6)}
    made.others.append(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "queue-%"},
            "spec": {"weight": 1, "affinity": affinity},
        }
    )
    made.probe["metadata"]["annotations"] = {QUEUE_ANNOTATION: "queue-%"}


def _terms(made: Draft) -> Object:
    return {strength: made.some(GROUPS, 1) for strength in (REQUIRED, PREFERRED) if made.chance(0.6)}
