"""Scope: include and exclude are unions of selector and names, exclude wins, empty include is all (spec 1.1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import PodGroup
from repack_gitops.model.plan import Code
from repack_gitops.model.run import (
    NodeScope,
    NodeSet,
    PodGroupScope,
    PodGroupSet,
    Scope,
    Selector,
    SelectorRequirement,
)
from repack_gitops.planner.scope import ScopeFilter
from tests.unit.planner.build import cluster, freed, layout, node, only_nodes, plan, pod, spec, targets, without_groups


def label(key: str, value: str) -> Selector:
    return Selector(match_labels={key: value})


def allowed_nodes(include: NodeSet | None, exclude: NodeSet | None = None) -> str:
    """Return the letters of the nodes in scope, of a (pool x), b (pool x), c (pool y), d (no pool)."""
    scope = ScopeFilter(Scope(nodes=NodeScope(include=include, exclude=exclude)))
    pools = {"a": {"pool": "x"}, "b": {"pool": "x"}, "c": {"pool": "y"}, "d": {}}
    return "".join(n for n, labels in pools.items() if scope.node(node(n, labels=labels)))


def allowed_groups(include: PodGroupSet | None, exclude: PodGroupSet | None = None) -> str:
    """Return the letters of the PodGroups in scope, of team/a (tier=x), team/b (tier=x), team/c (tier=y), other/a."""
    scope = ScopeFilter(Scope(pod_groups=PodGroupScope(include=include, exclude=exclude)))
    groups = [("team", "a", "x"), ("team", "b", "x"), ("team", "c", "y"), ("other", "a", "z")]
    found = [(ns, n) for ns, n, tier in groups if scope.pod_group(PodGroup(ns, n, "", {"tier": tier}, 1))]
    return " ".join(f"{ns}/{n}" for ns, n in found)


class TestNodes:
    def test_include_is_a_union_of_selector_and_names(self) -> None:
        assert allowed_nodes(NodeSet(selector=label("pool", "x"), names=["c"])) == "abc"

    def test_exclude_is_a_union_too_and_beats_include(self) -> None:
        assert allowed_nodes(NodeSet(selector=label("pool", "x")), NodeSet(selector=label("pool", "y"), names=["a"])) == "b"

    def test_exclude_beats_a_name(self) -> None:
        assert allowed_nodes(NodeSet(names=["a", "b"]), NodeSet(selector=label("pool", "x"))) == ""

    @pytest.mark.parametrize("include", [None, NodeSet()], ids=["absent", "empty"])
    def test_no_include_is_all(self, include: NodeSet | None) -> None:
        assert allowed_nodes(include) == "abcd"
        assert allowed_nodes(include, NodeSet(names=["d"])) == "abc"

    @pytest.mark.parametrize("exclude", [None, NodeSet()], ids=["absent", "empty"])
    def test_no_exclude_is_none(self, exclude: NodeSet | None) -> None:
        assert allowed_nodes(NodeSet(names=["a"]), exclude) == "a"

    def test_an_empty_selector_matches_all_as_in_kubernetes(self) -> None:
        assert allowed_nodes(NodeSet(selector=Selector())) == "abcd"
        assert allowed_nodes(None, NodeSet(selector=Selector())) == ""

    def test_names_that_match_nothing_leave_nothing(self) -> None:
        assert allowed_nodes(NodeSet(names=["z"])) == ""

    @pytest.mark.parametrize(
        ("operator", "values", "expected"),
        [("In", ["x"], "ab"), ("NotIn", ["x"], "cd"), ("Exists", [], "abc"), ("DoesNotExist", [], "d")],
    )
    def test_operators(self, operator: str, values: list[str], expected: str) -> None:
        requirement = SelectorRequirement(key="pool", operator=operator, values=values)  # type: ignore[arg-type]
        assert allowed_nodes(NodeSet(selector=Selector(match_expressions=[requirement]))) == expected

    def test_labels_and_expressions_are_joined_by_and(self) -> None:
        requirement = SelectorRequirement(key="pool", operator="NotIn", values=["x"])
        assert allowed_nodes(NodeSet(selector=Selector(match_labels={"pool": "x"}, match_expressions=[requirement]))) == ""


class TestPodGroups:
    def test_names_are_namespace_and_name(self) -> None:
        assert allowed_groups(PodGroupSet(names=["team/a"])) == "team/a"

    def test_union_and_precedence(self) -> None:
        include = PodGroupSet(selector=label("tier", "x"), names=["other/a"])
        assert allowed_groups(include, PodGroupSet(names=["team/b"])) == "team/a other/a"


def test_no_scope_does_not_restrict() -> None:
    nothing = ScopeFilter(None)
    assert nothing.node(node("a"))
    assert nothing.pod_group(PodGroup("team", "a", "", {}, 1))


class TestInAPlan:
    def test_a_node_out_of_scope_stays_and_receives(self) -> None:
        # {4, 2}: without scope n1 (2 cards) would be emptied; out of scope it stays, and takes the pods of n0.
        assert freed(layout((4, 2))) == ("n1",)
        evaluation = plan(layout((4, 2)), spec(scope=only_nodes("n0")))
        assert evaluation.freed_nodes == ("n0",)
        assert evaluation.moves[0].to_node == "n1"
        assert evaluation.scope_nodes == 1

    def test_out_of_scope_is_a_reason(self) -> None:
        evaluation = plan(layout((7, 2, 7)), spec(scope=only_nodes("n0")))
        assert {n: r.code for n, r in evaluation.stays.items()} == {
            "n0": Code.NO_RECEIVER,
            "n1": Code.NODE_OUT_OF_SCOPE,
            "n2": Code.NODE_OUT_OF_SCOPE,
        }

    def test_a_podgroup_out_of_scope_pins_its_node(self) -> None:
        snapshot = cluster([node("a"), node("b")], [pod("p", "a", 1, "pinned"), pod("q", "a", 1, "pinned"), pod("r", "b", 3)])
        assert targets(snapshot) == {"p": "b", "q": "b"}
        evaluation = plan(snapshot, spec(scope=without_groups("pinned")))
        assert {m.pod: m.to_node for m in evaluation.moves} == {"r": "a"}
        assert evaluation.stays["a"].code is Code.POD_GROUP_OUT_OF_SCOPE
        assert "team/pinned" in evaluation.stays["a"].detail

    def test_resolved_scope_counts_groups_that_use_the_resource_and_nodes_that_provide_it(self) -> None:
        nodes = [node("a"), node("b"), replace(node("cpu"), allocatable={"cpu": 1000})]
        pods = [pod("p", "a", 1), pod("q", "b", 1, "same"), pod("r", "b", 1, "same"), pod("s", "b", 0), pod("t", None, 1)]
        evaluation = plan(cluster(nodes, pods))
        assert (evaluation.scope_pod_groups, evaluation.scope_nodes) == (2, 2)  # pg-p and same
