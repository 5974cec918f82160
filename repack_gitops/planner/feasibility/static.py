"""All filters whose answer does not depend on where other pods are, in the scheduler's order."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.model.cluster import Constraints, Node, NodeGroupAffinity
from repack_gitops.model.plan import Reason
from repack_gitops.planner.feasibility import (
    node_affinity,
    node_group,
    node_ready,
    node_unschedulable,
    taint_toleration,
    volume_binding,
    volume_zone,
)
from repack_gitops.planner.feasibility.volume_binding import NO_DEMANDS, VolumeDemands


@dataclass(frozen=True, slots=True)
class NodeDemands:
    """Everything a pod demands of a node by itself; ``node_groups`` is None where Volcano's nodegroup plugin is not used."""

    constraints: Constraints
    volumes: VolumeDemands = NO_DEMANDS
    node_groups: NodeGroupAffinity | None = None


def static_reason(wanted: NodeDemands, node: Node) -> Reason | None:
    """Return the first filter that closes ``node`` whatever the plan does, or None."""
    constraints = wanted.constraints
    return (
        node_ready.why_not(node)
        or node_unschedulable.why_not(constraints, node)
        or node_affinity.why_not(constraints, node)
        or taint_toleration.why_not(constraints, node)
        or volume_zone.why_not(wanted.volumes, node)
        or volume_binding.why_not(wanted.volumes, node)
        or node_group.why_not(wanted.node_groups, node)
    )
