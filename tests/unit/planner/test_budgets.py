"""maxPerRun and the envelope: hard limits on PodGroups touched and cards moved (spec 1.1, 2.4)."""

from __future__ import annotations

import msgspec
import pytest

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Code, Verdict
from repack_gitops.model.run import MaxPerRun
from repack_gitops.planner import Envelope, PlannerOptions, evaluate
from repack_gitops.planner.verify import verify
from tests.unit.planner.build import cluster, freed, layout, node, plan, pod, spec

#: {1, 2, 3} beside a big node that stays: every node could be emptied, in this order, moving 1, 3, 6 cards so far.
CARDS = (1, 2, 3)


def three() -> ClusterSnapshot:
    pods = [pod(f"p{c}", f"n{c}", c) for c in CARDS]
    return cluster([*(node(f"n{c}") for c in CARDS), node("r", 64)], [*pods, pod("stays", "r", 1, owner=None)])


@pytest.mark.parametrize(
    ("cards", "nodes"),
    [(0, ""), (1, "n1"), (2, "n1"), (3, "n1 n2"), (5, "n1 n2"), (6, "n1 n2 n3"), (7, "n1 n2 n3"), (None, "n1 n2 n3")],
)
def test_cards(cards: int | None, nodes: str) -> None:
    assert " ".join(freed(three(), spec(cards=cards))) == nodes


@pytest.mark.parametrize(("groups", "nodes"), [(0, ""), (1, "n1"), (2, "n1 n2"), (3, "n1 n2 n3"), (None, "n1 n2 n3")])
def test_pod_groups(groups: int | None, nodes: str) -> None:
    assert " ".join(freed(three(), spec(pod_groups=groups))) == nodes


def test_both_hold_at_once() -> None:
    assert freed(three(), spec(pod_groups=3, cards=3)) == ("n1", "n2")
    assert freed(three(), spec(pod_groups=1, cards=6)) == ("n1",)


def test_nothing_allowed_is_insufficient_and_says_so() -> None:
    evaluation = plan(three(), spec(pod_groups=0, cards=4))
    assert evaluation.verdict is Verdict.INSUFFICIENT
    assert {evaluation.stays[f"n{c}"].code for c in CARDS} == {Code.BUDGET_EXCEEDED}
    assert "0 PodGroups, 4 cards" in evaluation.stays["n1"].detail


def test_a_shared_pod_group_counts_once() -> None:
    # one gang on three nodes: emptying all three touches one PodGroup
    pods = [pod(f"w{i}", f"n{i}", 1, "gang") for i in range(3)] + [pod("stays", "r", 1, owner=None)]
    snapshot = cluster([*(node(f"n{i}") for i in range(3)), node("r", 64)], pods)
    assert len(freed(snapshot, spec(pod_groups=1))) == 3


def test_a_node_with_more_pod_groups_than_allowed_never_fits() -> None:
    pods = [pod("p", "a", 1), pod("q", "a", 1), pod("r0", "b", 3), pod("stays", "r", 1, owner=None)]
    snapshot = cluster([node("a"), node("b"), node("r", 64)], pods)
    assert freed(snapshot, spec(pod_groups=1)) == ("b",)  # one PodGroup, though 3 cards instead of 2


def test_a_budget_of_another_resource_does_not_count() -> None:
    other = msgspec.structs.replace(spec(), max_per_run=MaxPerRun(resources={"example.com/other": 0}))
    assert len(freed(three(), other)) == 3


def test_a_candidate_over_budget_does_not_stop_the_cheaper_ones() -> None:
    # three nodes with a card of one gang each against n2 with two cards of another PodGroup; three cards may move:
    # after two of the gang only one is left, so n2 is over budget and the last of the gang is not
    pods = [pod(f"g{i}", f"a{i}", 1, "gang") for i in range(3)] + [pod("p", "n2", 2), pod("stays", "r", 1, owner=None)]
    snapshot = cluster([*(node(f"a{i}") for i in range(3)), node("n2", 2), node("r", 64)], pods)
    evaluation = plan(snapshot, spec(cards=3))
    assert evaluation.freed_nodes == ("a0", "a1", "a2")
    assert evaluation.stays["n2"].code is Code.BUDGET_EXCEEDED


class TestEnvelope:
    """What an approval allows at most."""

    def test_cards_are_capped_by_the_smaller_of_both(self) -> None:
        allowed = PlannerOptions(envelope=Envelope(cards=3))
        assert plan(three(), spec(), allowed).freed_nodes == ("n1", "n2")
        assert plan(three(), spec(cards=1), allowed).freed_nodes == ("n1",)
        assert plan(three(), spec(cards=6), allowed).freed_nodes == ("n1", "n2")

    def test_nodes_and_pod_groups(self) -> None:
        nodes = PlannerOptions(envelope=Envelope(nodes=frozenset({"n2", "n3"})))
        assert plan(three(), spec(), nodes).freed_nodes == ("n2", "n3")
        groups = PlannerOptions(envelope=Envelope(pod_groups=frozenset({("team", "pg-p3")})))
        assert plan(three(), spec(), groups).freed_nodes == ("n3",)

    def test_an_empty_envelope_allows_nothing(self) -> None:
        nothing = PlannerOptions(envelope=Envelope(pod_groups=frozenset(), nodes=frozenset(), cards=0))
        assert plan(three(), spec(), nothing).steps == ()


@pytest.mark.parametrize(
    ("budget", "said"), [({"cards": 2}, "3 cards move, 2 may"), ({"pod_groups": 1}, "2 PodGroups move, 1 may")]
)
def test_the_judge_counts_for_itself(budget: dict[str, int], said: str) -> None:
    snapshot = layout((1, 2, 5))
    evaluation = evaluate(snapshot, spec())
    assert evaluation.disruption.moved_cards == 3
    assert said in verify(snapshot, spec(**budget), evaluation)  # type: ignore[arg-type]
