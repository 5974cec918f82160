"""Asking the static filters once per kind of node gives the answers of asking them for every node."""

from __future__ import annotations

from random import Random

import pytest

from repack_gitops.model.cluster import Constraints, Node, NodeGroupAffinity, Taint, Toleration
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm
from repack_gitops.model.storage import ZONE_LABELS
from repack_gitops.planner.feasibility.static import NodeDemands, static_reason
from repack_gitops.planner.feasibility.volume_binding import VolumeDemands
from repack_gitops.planner.node_profiles import NodeProfiles
from tests.unit.planner.build import node

TAINTS = (Taint("dedicated", "x", "NoSchedule"), Taint("spot", "", "NoExecute"), Taint("soft", "", "PreferNoSchedule"))


def random_node(random: Random, index: int) -> Node:
    labels = {"zone": random.choice("xyz"), "rank": str(random.randrange(4)), "name": f"n{index}"}
    labels |= {label: random.choice("xy") for label in (*ZONE_LABELS, "volcano.sh/nodegroup-name")}
    labels = {k: v for k, v in labels.items() if random.random() < 0.8}
    taints = tuple(t for t in TAINTS if random.random() < 0.3)
    return node(f"n{index}", labels=labels, taints=taints, unschedulable=random.random() < 0.2, ready=random.random() < 0.8)


def random_requirement(random: Random, *, field: bool = False) -> NodeRequirement:
    if field:
        return NodeRequirement("metadata.name", random.choice(("In", "NotIn")), (f"n{random.randrange(9)}",))
    key = random.choice(("zone", "rank", "name", "absent"))
    operator = random.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    values = {"In": ("x", "1", "n3"), "NotIn": ("y", "2"), "Gt": ("1",), "Lt": ("2",)}.get(operator, ())
    return NodeRequirement(key, operator, values)


def random_constraints(random: Random) -> Constraints:
    terms = None
    if random.random() < 0.6:
        terms = tuple(
            NodeTerm(
                tuple(random_requirement(random) for _ in range(random.randrange(3))),
                tuple(random_requirement(random, field=True) for _ in range(random.randrange(2))),
            )
            for _ in range(random.randrange(3))
        )
    return Constraints(
        node_selector=(("zone", random.choice("xy")),) if random.random() < 0.3 else (),
        node_terms=terms,
        tolerations=tuple(Toleration(t.key, "Exists", "", "") for t in TAINTS if random.random() < 0.4),
    )


def random_demands(random: Random) -> NodeDemands:
    """Everything that is decided node by node: the pod's constraints, its volumes, its queue's node groups."""
    values = frozenset(random.sample(("x", "y", "n1", "3"), 2))
    volumes = VolumeDemands(
        node_terms=tuple((NodeTerm((random_requirement(random),)),) for _ in range(random.randrange(2))),
        zones=((random.choice(ZONE_LABELS), values),) if random.random() < 0.3 else (),
        topologies=((((random.choice(("zone", "rank")), values),),),) if random.random() < 0.3 else (),
    )
    groups = NodeGroupAffinity(required=values) if random.random() < 0.3 else None
    return NodeDemands(random_constraints(random), volumes, groups)


@pytest.mark.parametrize("seed", range(200))
def test_same_as_asking_every_node(seed: int) -> None:
    random = Random(seed)
    nodes = tuple(random_node(random, i) for i in range(random.randint(1, 40)))
    profiles = NodeProfiles(nodes)
    for _ in range(4):
        demands = random_demands(random)
        expected = [static_reason(demands, n) is None for n in nodes]
        assert profiles.passing(demands).tolist() == expected


def test_no_nodes() -> None:
    assert NodeProfiles(()).passing(NodeDemands(Constraints(node_selector=(("a", "b"),)))).size == 0
