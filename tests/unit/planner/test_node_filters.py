"""Filters that look at the node alone: Ready, cordon, taints, node selector and affinity; one test per way to say no."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import Constraints, NodeGroupAffinity, Taint, Toleration
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm
from repack_gitops.model.plan import Code
from repack_gitops.planner.feasibility import node_affinity, node_unschedulable, taint_toleration
from repack_gitops.planner.feasibility.static import NodeDemands, static_reason
from repack_gitops.planner.feasibility.volume_binding import VolumeDemands
from tests.unit.planner.build import cluster, node, plan, pod, targets

EVERYTHING = Toleration("", "Exists", "", "")


def moves_with(receiver: dict[str, object], constraints: Constraints) -> bool:
    """Tell whether a 1-card pod with ``constraints`` can leave node a for node b, a node with changes ``receiver``."""
    pods = [pod("subject", "a", 1, constraints=constraints), pod("other", "b", 4, owner=None)]
    evaluation = plan(cluster([node("a"), node("b", **receiver)], pods))
    if not evaluation.steps:
        assert evaluation.stays["a"].code is Code.NO_RECEIVER
        assert "1 by node constraints" in evaluation.stays["a"].detail
    return bool(evaluation.steps)


def tolerating(*tolerations: Toleration) -> Constraints:
    return Constraints(tolerations=tolerations)


class TestReadyAndCordon:
    def test_a_node_that_is_not_ready_receives_nothing(self) -> None:
        assert not moves_with({"ready": False}, Constraints())
        assert not moves_with({"ready": False}, tolerating(EVERYTHING))

    def test_a_cordoned_node_receives_nothing(self) -> None:
        assert not moves_with({"unschedulable": True}, Constraints())
        assert node_unschedulable.why_not(Constraints(), node("b", unschedulable=True)).code is Code.NODE_UNSCHEDULABLE  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        "toleration",
        [EVERYTHING, Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule")],
    )
    def test_unless_the_pod_tolerates_the_cordon(self, toleration: Toleration) -> None:
        assert moves_with({"unschedulable": True}, tolerating(toleration))

    def test_a_cordoned_node_may_be_emptied_with_a_warning(self) -> None:
        evaluation = plan(cluster([node("a", unschedulable=True), node("b")], [pod("p", "a", 1), pod("q", "b", 4)]))
        assert evaluation.freed_nodes == ("a",)
        assert any("cordoned" in w for w in evaluation.warnings)


class TestTaints:
    TAINT = Taint("dedicated", "team", "NoSchedule")

    @pytest.mark.parametrize(("effect", "closed"), [("NoSchedule", True), ("NoExecute", True), ("PreferNoSchedule", False)])
    def test_effects(self, effect: str, closed: bool) -> None:
        assert moves_with({"taints": (Taint("dedicated", "team", effect),)}, Constraints()) is not closed

    @pytest.mark.parametrize(
        ("toleration", "covers"),
        [
            (Toleration("dedicated", "Equal", "team", "NoSchedule"), True),
            (Toleration("dedicated", "Equal", "team", ""), True),  # no effect: all effects
            (Toleration("dedicated", "", "team", "NoSchedule"), True),  # no operator: Equal
            (Toleration("dedicated", "Exists", "", "NoSchedule"), True),
            (Toleration("dedicated", "Exists", "", ""), True),
            (Toleration("", "Exists", "", "NoSchedule"), True),  # no key: all keys
            (EVERYTHING, True),
            (Toleration("dedicated", "Equal", "other", "NoSchedule"), False),
            (Toleration("dedicated", "Equal", "", "NoSchedule"), False),
            (Toleration("dedicated", "Equal", "team", "NoExecute"), False),
            (Toleration("other", "Exists", "", ""), False),
            (Toleration("", "Equal", "team", ""), False),  # invalid in Kubernetes: no key needs Exists
            (Toleration("", "Exists", "", "NoExecute"), False),
            (Toleration("dedicated", "Gt", "1", "NoSchedule"), False),  # numeric tolerations are not decided
        ],
    )
    def test_tolerations(self, toleration: Toleration, covers: bool) -> None:
        assert toleration.tolerates(self.TAINT) is covers
        assert moves_with({"taints": (self.TAINT,)}, tolerating(toleration)) is covers

    def test_every_taint_needs_a_toleration(self) -> None:
        both = {"taints": (self.TAINT, Taint("spot", "", "NoExecute"))}
        assert not moves_with(both, tolerating(Toleration("dedicated", "Exists", "", "")))
        assert moves_with(both, tolerating(Toleration("dedicated", "Exists", "", ""), Toleration("spot", "Equal", "", "")))

    def test_the_reason_names_the_taint(self) -> None:
        reason = taint_toleration.why_not(Constraints(), node("b", taints=(self.TAINT,)))
        assert str(reason) == "TaintToleration: taint dedicated=team:NoSchedule is not tolerated"


def affinity(*terms: NodeTerm) -> Constraints:
    return Constraints(node_terms=terms)


def expression(operator: str, *values: str, key: str = "rank") -> NodeTerm:
    return NodeTerm((NodeRequirement(key, operator, values),))


LABELS = {"labels": {"pool": "x", "rank": "10", "kubernetes.io/hostname": "b"}}


class TestNodeAffinity:
    def test_node_selector_needs_every_label(self) -> None:
        assert moves_with(LABELS, Constraints(node_selector=(("pool", "x"), ("rank", "10"))))
        assert not moves_with(LABELS, Constraints(node_selector=(("pool", "x"), ("rank", "9"))))
        assert not moves_with(LABELS, Constraints(node_selector=(("zone", ""),)))

    @pytest.mark.parametrize(
        ("term", "matches"),
        [
            (expression("In", "9", "10"), True),
            (expression("In", "9"), False),
            (expression("In", "", key="zone"), False),
            (expression("NotIn", "9"), True),
            (expression("NotIn", "10"), False),
            (expression("NotIn", "10", key="zone"), True),  # an absent label is not in the set
            (expression("Exists"), True),
            (expression("Exists", key="zone"), False),
            (expression("DoesNotExist"), False),
            (expression("DoesNotExist", key="zone"), True),
            (expression("Gt", "9"), True),
            (expression("Gt", "10"), False),
            (expression("Lt", "11"), True),
            (expression("Lt", "10"), False),
            (expression("Lt", "-1"), False),
            (expression("Gt", "9", key="zone"), False),  # absent
            (expression("Gt", "9", key="pool"), False),  # no number
            (expression("Gt"), False),  # no bound
            (expression("Gt", "9", "8"), False),  # two bounds
            (expression("Gt", "nine"), False),
        ],
    )
    def test_operators(self, term: NodeTerm, matches: bool) -> None:
        assert moves_with(LABELS, affinity(term)) is matches

    @pytest.mark.parametrize("value", ["1_0", "９", "9223372036854775808", ""])
    def test_numbers_are_those_of_go(self, value: str) -> None:
        """Labels may hold underscores; Python would read 1_0 as 10. Kubernetes compares 64-bit decimal integers."""
        assert not moves_with({"labels": {"rank": value}}, affinity(expression("Gt", "1")))
        assert not moves_with(LABELS, affinity(expression("Gt", value)))

    def test_terms_are_joined_by_or_and_expressions_by_and(self) -> None:
        assert moves_with(LABELS, affinity(expression("In", "9"), expression("In", "10")))
        both = NodeTerm((NodeRequirement("rank", "In", ("10",)), NodeRequirement("pool", "In", ("y",))))
        assert not moves_with(LABELS, affinity(both))

    def test_selector_and_affinity_must_both_hold(self) -> None:
        both = Constraints(node_selector=(("pool", "y"),), node_terms=(expression("In", "10"),))
        assert not moves_with(LABELS, both)

    @pytest.mark.parametrize("terms", [(), (NodeTerm(),)], ids=["no term", "empty term"])
    def test_nothing_matches_nothing(self, terms: tuple[NodeTerm, ...]) -> None:
        assert not moves_with(LABELS, affinity(*terms))

    def test_an_empty_term_spoils_no_other(self) -> None:
        assert moves_with(LABELS, affinity(NodeTerm(), expression("Exists")))

    @pytest.mark.parametrize(
        ("operator", "values", "matches"),
        [("In", ("b",), True), ("In", ("c",), False), ("NotIn", ("c",), True), ("NotIn", ("b",), False)],
    )
    def test_match_fields(self, operator: str, values: tuple[str, ...], matches: bool) -> None:
        term = NodeTerm((), (NodeRequirement("metadata.name", operator, values),))
        assert moves_with(LABELS, affinity(term)) is matches
        with_label = NodeTerm((NodeRequirement("pool", "In", ("y",)),), term.fields)
        assert not moves_with(LABELS, affinity(with_label))

    def test_the_reason_names_the_label(self) -> None:
        reason = node_affinity.why_not(Constraints(node_selector=(("pool", "y"),)), node("b", **LABELS))
        assert str(reason) == "NodeAffinity: nodeSelector pool=y does not match"


def test_order_of_the_filters_is_the_schedulers() -> None:
    """The first filter that says no is the one that is shown."""
    volumes = VolumeDemands(
        node_terms=((NodeTerm((NodeRequirement("disk", "In", ("fast",)),)),),),
        zones=(("topology.kubernetes.io/zone", frozenset("z")),),
    )
    picky = NodeDemands(Constraints(node_selector=(("pool", "y"),)), volumes, NodeGroupAffinity(required=frozenset("g")))
    bad = node("b", ready=False, unschedulable=True, taints=(Taint("t", "", "NoSchedule"),))
    found = []
    for cured in (
        {},
        {"ready": True},
        {"unschedulable": False},
        {"labels": {"pool": "y", "topology.kubernetes.io/zone": "a"}},
        {"taints": ()},
        {"labels": {"pool": "y", "topology.kubernetes.io/zone": "z"}},
        {"labels": {"pool": "y", "topology.kubernetes.io/zone": "z", "disk": "fast"}},
    ):
        bad = replace(bad, **cured)
        reason = static_reason(picky, bad)
        found.append(reason.code if reason else None)
    assert found == [
        Code.NODE_NOT_READY,
        Code.NODE_UNSCHEDULABLE,
        Code.NODE_AFFINITY,
        Code.TAINT_TOLERATION,
        Code.VOLUME_ZONE,
        Code.VOLUME_BINDING,
        Code.NODE_GROUP,
    ]


def test_pods_go_to_the_one_node_that_takes_them() -> None:
    nodes = [node("a"), node("b", taints=(Taint("t", "", "NoSchedule"),)), node("c", labels={"pool": "x"}), node("d")]
    pods = [pod("p", "a", 1, constraints=Constraints(node_selector=(("pool", "x"),)))]
    pods += [pod(f"other-{n}", n, 4, owner=None) for n in "bcd"]
    assert targets(cluster(nodes, pods)) == {"p": "c"}
