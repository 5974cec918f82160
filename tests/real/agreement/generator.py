"""A seed becomes a case: the same one on every machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from tests.real.agreement.case import Case
from tests.real.agreement.draft import Draft, draft
from tests.real.agreement.kinds_nodes import node_affinity, node_ports, node_ready, node_unschedulable, taint_toleration
from tests.real.agreement.kinds_pods import inter_pod_affinity, topology_spread
from tests.real.agreement.kinds_queues import node_group
from tests.real.agreement.kinds_resources import node_resources_fit, pod_level_resources
from tests.real.agreement.kinds_volumes import (
    ephemeral_volumes,
    node_volume_limits,
    unbound_claims,
    volume_binding,
    volume_restrictions,
    volume_zone,
)

#: By filter: how a case comes to exercise it, and how often.
KINDS: Mapping[str, tuple[Callable[[Draft], None], int]] = {
    "NodeAffinity": (node_affinity, 3),
    "TaintToleration": (taint_toleration, 3),
    "NodeUnschedulable": (node_unschedulable, 1),
    "NodeNotReady": (node_ready, 1),
    "NodePorts": (node_ports, 2),
    "NodeResourcesFit": (node_resources_fit, 4),
    "NodeResourcesFit (whole pod)": (pod_level_resources, 1),
    "InterPodAffinity": (inter_pod_affinity, 5),
    "PodTopologySpread": (topology_spread, 5),
    "VolumeBinding": (volume_binding, 1),
    "VolumeBinding (ephemeral)": (ephemeral_volumes, 1),
    "VolumeBinding (unbound)": (unbound_claims, 1),
    "VolumeZone": (volume_zone, 1),
    "NodeVolumeLimits": (node_volume_limits, 2),
    "VolumeRestrictions": (volume_restrictions, 1),
}


#: Only Volcano knows these, and one queue with an affinity concerns all pods, so such cases keep to themselves.
GROUP_KIND = "NodeGroup"


def case_of(seed: int) -> Case:
    """Return the case of ``seed``: one kind of constraint mostly, up to three."""
    rng = Random(seed)
    made = draft(rng)
    names = list(KINDS)
    wanted = rng.choices(names, [KINDS[n][1] for n in names], k=rng.choice((1, 1, 1, 2, 2, 3)))
    if "VolumeBinding (ephemeral)" in wanted:  # both bring a class
        wanted = [name for name in wanted if name != "VolumeBinding (unbound)"]
    if "NodeResourcesFit" in wanted:  # its containers may ask for more than a whole pod may say
        wanted = [name for name in wanted if name != "NodeResourcesFit (whole pod)"]
    kinds = tuple(name for name in names if name in wanted)
    for kind in kinds:
        KINDS[kind][0](made)
    return _case(seed, kinds, made)


def group_case_of(seed: int) -> Case:
    """Return the case of ``seed`` in which a queue chooses nodes."""
    made = draft(Random(seed))
    node_group(made)
    return _case(seed, (GROUP_KIND,), made)


def _case(seed: int, kinds: tuple[str, ...], made: Draft) -> Case:
    return Case(seed, kinds, tuple(made.nodes), tuple(made.residents), made.probe, tuple(made.others), made.binds)
