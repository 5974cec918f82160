"""Spec 2.1: providing, occupied, optimal, exact; the rate, its rounding, and thresholds as exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.errors import InvalidInput
from repack_gitops.model.plan import Fragmentation, Verdict
from repack_gitops.planner import evaluate
from repack_gitops.planner.fragmentation import fewest_nodes, fragmentation
from tests.unit.planner.build import GPU, cluster, layout, node, only_nodes, plan, pod, spec


def test_the_guides_example() -> None:
    # three full nodes, twelve with 6 cards, five empty: 3 * 8 + 12 * 6 = 96 = 12 * 8
    found = fragmentation(layout((8,) * 3 + (6,) * 12 + (0,) * 5), GPU)
    assert (found.providing, found.occupied, found.optimal) == (20, 15, 12)
    assert found.rate == Fraction(3, 20)
    assert found.percent == 15
    assert replace(found, occupied=13).percent == 5


@pytest.mark.parametrize(
    ("cards", "optimal", "exact"),
    [
        ((1, 2, 4, 8), 2, True),
        ((4, 4, 4), 2, True),
        ((8, 8, 1), 3, True),
        ((3, 3, 3), 2, False),  # 9 cards: two nodes do, but sums alone do not prove it
        ((5, 5, 5), 2, False),  # 15 cards: two nodes at least, though three are needed
        ((), 0, True),
    ],
)
def test_equal_capacities(cards: tuple[int, ...], optimal: int, exact: bool) -> None:
    assert fewest_nodes((8,) * 9, cards) == (optimal, exact)


def test_whole_nodes_do_not_share_with_smaller_pods() -> None:
    # 8 + 8 + 1 + 1: the two large ones fill a node each, the small ones share a third.
    assert fewest_nodes((8,) * 5, (8, 8, 1, 1)) == (3, True)


def test_powers_of_two_also_hold_for_capacities_that_are_none() -> None:
    # 12 = 4 * 3: pods of 3 and 6 halve it evenly, a pod of 4 leaves a rest.
    assert fewest_nodes((12,) * 4, (3, 3, 6, 6, 6)) == (2, True)
    assert fewest_nodes((12,) * 4, (4, 3)) == (1, False)


def test_unequal_capacities_count_the_largest_nodes_first() -> None:
    # 16 + 8 cover 18 cards, whatever the pods look like: a lower bound.
    assert fewest_nodes((16, 8, 8, 4), (6, 6, 6)) == (2, False)


def test_never_above_occupied() -> None:
    # A pod of 8 on a node whose device plugin now reports 4: by its request it would need two nodes.
    shrunk = cluster([node("a", 4), node("b", 4)], [pod("p", "a", 8)])
    assert fragmentation(shrunk, GPU).optimal == 1


def test_who_provides_and_who_occupies() -> None:
    nodes = [node("used"), node("idle"), node("cpu-only", 0), node("done"), node("foreign"), node("leaving"), node("lost")]
    nodes[2] = replace(nodes[2], allocatable={"cpu": 8000})
    nodes[6] = replace(nodes[6], allocatable={"cpu": 8000})  # its pods use cards that it no longer reports
    pods = [
        pod("a", "used", 1),
        pod("b", "done", 4, phase="Succeeded"),
        pod("c", "foreign", 1, scheduler_name="default-scheduler", pod_group=None),
        pod("d", "leaving", 1, terminating=True),
        pod("e", "lost", 1),
        pod("f", "idle", 0),
        pod("g", None, 8, nominated_node="idle"),
    ]
    found = fragmentation(cluster(nodes, pods), GPU)
    # "used", "foreign" and "leaving" hold cards that the cluster provides; 3 cards need one node.
    assert (found.providing, found.occupied, found.optimal) == (5, 3, 1)


@pytest.mark.parametrize(
    ("occupied", "optimal", "providing", "percent"),
    [(2, 1, 3, 33), (3, 1, 3, 67), (2, 1, 200, 1), (2, 1, 201, 0), (2, 1, 8, 13), (3, 3, 5, 0)],
)
def test_percentages_are_rounded_half_up(occupied: int, optimal: int, providing: int, percent: int) -> None:
    assert Fragmentation(providing, occupied, optimal, True).percent == percent


def test_rate_of_a_resource_that_nothing_provides_is_zero() -> None:
    assert Fragmentation(0, 0, 0, True).rate == 0


class TestThreshold:
    """minFragImprovementPercent compares exact fractions."""

    def test_a_third_is_less_than_34_points_and_no_less_than_33(self) -> None:
        # {4, 2} on three nodes: one freed is 1/3 = 33.33... points; rounding must neither help nor harm.
        three = layout((4, 2, 0))
        assert plan(three, spec(33)).verdict is Verdict.RECOMMENDED
        insufficient = plan(three, spec(34))
        assert insufficient.verdict is Verdict.INSUFFICIENT
        assert insufficient.improvement == Fraction(100, 3)
        assert insufficient.steps == ()
        assert insufficient.after == insufficient.before

    def test_two_thirds_shows_as_67_but_is_not_67(self) -> None:
        # {2, 2, 2} on three nodes: 2/3 = 66.67 points, shown as 67.
        two_thirds = layout((2, 2, 2))
        assert plan(two_thirds, spec(66)).verdict is Verdict.RECOMMENDED
        assert plan(two_thirds, spec(67)).verdict is Verdict.INSUFFICIENT

    @pytest.mark.parametrize(("percent", "verdict"), [(10, Verdict.RECOMMENDED), (11, Verdict.INSUFFICIENT)])
    def test_exactly_reached(self, percent: int, verdict: Verdict) -> None:
        # 10 nodes, {4, 4}: one freed node is exactly 10 points.
        assert plan(layout((4, 4) + (0,) * 8), spec(percent)).verdict is verdict

    def test_the_guides_two_nodes_of_twenty_are_ten_points(self) -> None:
        # 15 -> 13 occupied of 20: (3/20 - 1/20) * 100 = 10
        before = Fragmentation(20, 15, 12, True)
        assert (before.rate - replace(before, occupied=13).rate) * 100 == 10

    def test_zero_means_any_gain_but_at_least_one_node(self) -> None:
        assert plan(layout((5, 5, 5)), spec(0)).verdict is Verdict.INSUFFICIENT


def test_scope_does_not_change_the_rate() -> None:
    whole = plan(layout((4, 2, 2)))
    scoped = plan(layout((4, 2, 2)), spec(scope=only_nodes("n2")))
    assert scoped.before == whole.before
    assert (len(whole.steps), len(scoped.steps)) == (2, 1)


def test_unknown_resource_is_an_error_that_names_what_there_is() -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(layout((4, 2)), spec(resource="huawei.com/ascend-1980"))
    assert "huawei.com/ascend-1980" in caught.value.message
    assert GPU in caught.value.hint


@given(st.lists(st.sampled_from((1, 2, 4, 8)), max_size=9))
def test_exact_means_exact_for_powers_of_two(cards: list[int]) -> None:
    # first-fit decreasing packs powers of two perfectly, so it is an oracle
    bins: list[int] = []
    for card in sorted(cards, reverse=True):
        room = next((i for i, left in enumerate(bins) if left >= card), None)
        if room is None:
            bins.append(8 - card)
        else:
            bins[room] -= card
    assert fewest_nodes((8,) * 20, cards) == (len(bins), True)


@given(st.lists(st.integers(1, 16), min_size=1, max_size=5), st.lists(st.integers(1, 8), max_size=7))
def test_never_above_what_a_packing_needs(capacities: list[int], cards: list[int]) -> None:
    """The bound is a bound: whatever packs into the nodes, packs into no fewer than it says."""
    capacities.sort(reverse=True)
    bins: dict[int, int] = {}
    for card in cards:
        room = next((i for i, c in enumerate(capacities) if bins.get(i, 0) + card <= c), None)
        if room is None:
            return  # does not pack this way, so it says nothing
        bins[room] = bins.get(room, 0) + card
    assert fewest_nodes(capacities, cards)[0] <= len(bins)
