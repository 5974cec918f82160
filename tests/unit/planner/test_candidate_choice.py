"""Which candidate a round empties: five dimensions, min-max normalised over the round, weighted; ties by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.model.cluster import Pod
from repack_gitops.planner.disruption import DIMENSIONS, WEIGHTS
from repack_gitops.planner.drain import lowest_score
from tests.unit.planner.build import cluster, freed, node, pod

#: (PodGroups, breaches, damaged cards, moved cards, moved pods)
Cost = tuple[int, int, int, int, int]


def best(*costs: Cost) -> int:
    return lowest_score(np.array(costs, dtype=np.int64).T)


def test_weights_are_the_guides() -> None:
    assert dict(zip(DIMENSIONS, WEIGHTS, strict=True)) == {
        "pod_groups": 10,
        "breaches": 8,
        "damaged_cards": 6,
        "moved_cards": 3,
        "moved_pods": 1,
    }


class TestScore:
    def test_the_guides_three_plans(self) -> None:
        # each moves 3 cards with 3 pods: A of one workload within slack, B of three workloads, C of one, breaching
        # it (footprint 8). Normalised, A: 0 0 0 - -, B: 1 0 0 - -, C: 0 1 1 - -; "-" has no spread and counts 0.
        # A = 0, B = 1.0, C = 0.8 + 0.6 = 1.4
        a, b, c = (1, 0, 3, 3, 3), (3, 0, 3, 3, 3), (1, 1, 8, 3, 3)
        assert best(c, b, a) == 2
        assert best(c, b) == 1  # B = 1.0 against C = 1.4

    def test_no_spread_counts_nothing(self) -> None:
        assert best((7, 7, 7, 7, 7), (7, 7, 7, 7, 7)) == 0
        assert best((7, 7, 7, 7, 7), (7, 7, 7, 7, 6)) == 1

    def test_pod_groups_outweigh_breaches(self) -> None:
        # 1.0 * 1 against 0.8 * 1
        assert best((2, 0, 5, 5, 5), (1, 1, 5, 5, 5)) == 1

    def test_damage_outweighs_cards_and_pods_together(self) -> None:
        # 0.6 against 0.3 + 0.1
        assert best((1, 0, 9, 1, 1), (1, 0, 1, 9, 9)) == 1

    def test_a_tie_ends_in_the_name(self) -> None:
        # 1.0 against 0.6 + 0.3 + 0.1: the same, so the first
        assert best((2, 0, 1, 1, 1), (1, 0, 2, 2, 2)) == 0
        assert best((1, 0, 2, 2, 2), (2, 0, 1, 1, 1)) == 0

    def test_the_round_decides_the_scale(self) -> None:
        # P moves one pod more, Q damages one card more. With E (11 damaged) in the round, damage is spread over 1..11:
        # P = 0.1, Q = 0.6 * 1/10 = 0.06, E = 0.6. Without E: P = 0.1, Q = 0.6.
        p, q, e = (1, 0, 1, 1, 2), (1, 0, 2, 1, 1), (1, 0, 11, 1, 1)
        assert best(p, q, e) == 1
        assert best(p, q) == 0

    def test_thirds_that_floating_point_cannot_hold(self) -> None:
        # over 0..3: X = 0.6 * 1/3 + 0.1 * 2/3, Y = 0.3 * 2/3 + 0.1 * 2/3: both 4/15
        x, y = (1, 0, 1, 0, 2), (1, 0, 0, 2, 2)
        ends = [(9, 0, 3, 3, 3), (9, 0, 0, 0, 0)]
        assert best(x, y, *ends) == 0
        assert best(y, x, *ends) == 0

    @given(st.lists(st.tuples(*[st.integers(0, 7)] * 5), min_size=1, max_size=12))
    def test_equals_exact_arithmetic(self, costs: list[Cost]) -> None:
        scores = [_exact(c, costs) for c in costs]
        assert best(*costs) == scores.index(min(scores))


def _exact(cost: Cost, costs: list[Cost]) -> Fraction:
    score = Fraction(0)
    for row, weight in enumerate(WEIGHTS):
        low, high = min(c[row] for c in costs), max(c[row] for c in costs)
        if high > low:
            score += Fraction(weight * (cost[row] - low), high - low)
    return score


class TestEachDimensionDecides:
    """Nodes a and b differ in one dimension, in favour of b; the big node r holds a pod that stays."""

    def first(self, pods: list[Pod], minimum: dict[str, int]) -> str:
        nodes = [node("a"), node("b"), node("r", 64)]
        return freed(cluster(nodes, [*pods, pod("stays", "r", 1, owner=None)], minimum))[0]

    def test_pod_groups(self) -> None:
        # a: two PodGroups, b: one; 2 pods and 2 cards each, all within slack
        pods = [pod("a0", "a", 1, "g0"), pod("a1", "a", 1, "g1"), pod("b0", "b", 1, "g2"), pod("b1", "b", 1, "g2")]
        assert self.first(pods, {"g0": 0, "g1": 0, "g2": 0}) == "b"

    def test_breaches(self) -> None:
        # 1 pod of 1 card each; a's needs all its members. Damage: footprint 1 on a, moved 1 on b: the same.
        assert self.first([pod("a0", "a", 1, "g0"), pod("b0", "b", 1, "g1")], {"g0": 1, "g1": 0}) == "b"

    def test_damaged_cards(self) -> None:
        # both breach; a's gang has 3 cards in all, b's has 2
        pods = [pod("a0", "a", 1, "g0"), pod("b0", "b", 1, "g1"), pod("r0", "r", 2, "g0"), pod("r1", "r", 1, "g1")]
        assert self.first(pods, {"g0": 2, "g1": 2}) == "b"

    def test_moved_cards(self) -> None:
        # both breach gangs of 3 cards; 2 cards move from a, 1 from b
        pods = [pod("a0", "a", 2, "g0"), pod("b0", "b", 1, "g1"), pod("r0", "r", 1, "g0"), pod("r1", "r", 2, "g1")]
        assert self.first(pods, {"g0": 2, "g1": 2}) == "b"

    def test_moved_pods(self) -> None:
        # 2 cards within slack each; two pods on a, one on b
        pods = [pod("a0", "a", 1, "g0"), pod("a1", "a", 1, "g0"), pod("b0", "b", 2, "g1")]
        assert self.first(pods, {"g0": 0, "g1": 0}) == "b"

    def test_nothing_between_them(self) -> None:
        assert self.first([pod("b0", "b", 1), pod("a0", "a", 1)], {}) == "a"

    def test_the_plan_so_far_counts(self) -> None:
        # Round 1: a (1 card) beats b (2 cards of the same gang) and c (1 card + 1 card of another gang).
        # Round 2: b's gang is already touched, so b adds no PodGroup, c one: b is next though both move 2 cards.
        pods = [pod("a0", "a", 1, "g0"), pod("b0", "b", 2, "g0"), pod("c0", "c", 2, "g1"), pod("stays", "r", 1, owner=None)]
        nodes = [node("a"), node("b"), node("c"), node("r", 64)]
        order = freed(cluster(nodes, pods, {"g0": 0, "g1": 0}))
        assert order == ("a", "b", "c")
        # the other way round it is c that follows
        pods[0] = pod("a0", "a", 1, "g1")
        assert freed(cluster(nodes, pods, {"g0": 0, "g1": 0})) == ("a", "c", "b")


def test_every_round_frees_one_node_until_none_is_left() -> None:
    assert len(freed(cluster([node(f"n{i}") for i in range(5)], [pod(f"p{i}", f"n{i}", 1) for i in range(5)]))) == 4
