"""Spec 2.3: slack, breaches, damaged cards; the five dimensions over a whole plan, and what one more node would add."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from repack_gitops.model.impact import Disruption
from repack_gitops.planner.disruption import GroupFacts, Ledger, Share, group_facts, impacts, total
from tests.unit.planner.build import GPU, cluster, node, plan, pod, spec

GANG = ("team", "gang")


def gang(running: int, minimum: int, **others: int) -> list[object]:
    """Return the slack of a gang with members in the given phases, one card each."""
    phases = ["Running"] * running + [phase for phase, count in others.items() for _ in range(count)]
    pods = [pod(f"w{i}", "a", 1, "gang", phase=p) for i, p in enumerate(phases)]
    facts = group_facts(cluster([node("a", 64)], pods, {"gang": minimum}), GANG, GPU)
    return [facts.slack, facts.footprint]


@pytest.mark.parametrize(
    ("running", "minimum", "slack"),
    [(8, 6, 2), (8, 8, 0), (8, 9, 0), (8, 0, 8), (1, 1, 0)],
)
def test_slack_is_running_less_minimum(running: int, minimum: int, slack: int) -> None:
    assert gang(running, minimum)[0] == slack


def test_finished_members_count_as_ready_as_volcano_counts_them() -> None:
    # 4 Running + 4 Succeeded, minAvailable 6: two may be missing (row 64); the finished ones hold no cards.
    assert gang(4, 6, Succeeded=4) == [2, 4]


def test_members_that_do_not_run_give_no_slack_but_hold_cards() -> None:
    # bound, but still pulling images: charged on the node, not running
    assert gang(4, 4, Pending=2) == [0, 6]
    assert gang(4, 4, Failed=2) == [0, 4]
    assert gang(4, 3, Unknown=1) == [1, 5]


def test_terminating_members_give_no_slack_but_hold_cards() -> None:
    pods = [pod("w0", "a", 1, "gang"), pod("w1", "a", 1, "gang", terminating=True)]
    facts = group_facts(cluster([node("a")], pods, {"gang": 1}), GANG, GPU)
    assert (facts.running, facts.slack, facts.footprint) == (1, 0, 2)


def test_members_without_cards_are_members() -> None:
    """A launcher without devices runs like any other: Volcano counts it for minAvailable."""
    pods = [pod("launcher", "a", 0, "gang"), pod("w0", "a", 4, "gang")]
    facts = group_facts(cluster([node("a")], pods, {"gang": 1}), GANG, GPU)
    assert (facts.running, facts.slack, facts.footprint) == (2, 1, 4)


class TestTheGuidesExample:
    """8 running workers, minAvailable 6; moving one or two is within slack, the third breaches."""

    def disruption(self, moved: int) -> Disruption:
        # one worker of 1 card on each of 8 nodes; the budget decides how many move
        workers = [pod(f"w{i}", f"n{i}", 1, "gang") for i in range(8)]
        snapshot = cluster([node(f"n{i}") for i in range(8)], workers, {"gang": 6})
        return plan(snapshot, spec(cards=moved)).disruption

    @pytest.mark.parametrize(
        ("moved", "breaches", "damaged"),
        [(1, 0, 1), (2, 0, 2), (3, 1, 8), (7, 1, 8)],
    )
    def test_damage(self, moved: int, breaches: int, damaged: int) -> None:
        expected = Disruption(pod_groups=1, breaches=breaches, damaged_cards=damaged, moved_cards=moved, moved_pods=moved)
        assert self.disruption(moved) == expected


def test_dimensions_add_up_over_pod_groups() -> None:
    # gang: 3 of 4 running needed, 2 members move (2 + 2 cards) -> breach, footprint 2 + 2 + 1 + 1 = 6
    # solo: minimum 0, 1 member of 3 cards moves -> within slack, 3 damaged
    pods = [pod("g0", "a", 2, "gang"), pod("g1", "a", 2, "gang"), pod("g2", "b", 1, "gang"), pod("g3", "b", 1, "gang")]
    pods.append(pod("s", "a", 3, "solo"))
    snapshot = cluster([node("a"), node("b", 32)], pods, {"gang": 3, "solo": 0})
    found = impacts(snapshot, GPU, {GANG: (2, 4), ("team", "solo"): (1, 3)})
    assert total(found) == Disruption(pod_groups=2, breaches=1, damaged_cards=6 + 3, moved_cards=4 + 3, moved_pods=3)
    assert [(i.key[1], i.slack, i.breached, i.footprint_cards) for i in found] == [("gang", 1, True, 6), ("solo", 1, False, 3)]


def test_owner_of_an_impact_is_the_pod_groups_own() -> None:
    evaluation = plan(cluster([node("a"), node("b")], [pod("p", "a", 1), pod("q", "b", 4)]))
    (impact,) = evaluation.impacts
    assert impact.owner is not None
    assert (impact.owner.kind, impact.owner.name) == ("Job", "p")
    assert evaluation.moves[0].owner == impact.owner


def test_owner_of_a_pod_group_without_one_is_its_members() -> None:
    snapshot = cluster([node("a"), node("b")], [pod("p", "a", 1), pod("q", "b", 4)])
    groups = {key: replace(group, owner=None) for key, group in snapshot.pod_groups.items()}
    (impact,) = plan(replace(snapshot, pod_groups=groups)).impacts
    assert impact.owner is not None
    assert impact.owner.name == "p"


@pytest.mark.parametrize("seed", range(100))
def test_ledger_says_what_one_more_node_adds_to_the_whole_plan(seed: int) -> None:
    """Marginal costs, kept up to date, equal the difference of two plans counted from scratch."""
    random = Random(seed)
    facts = [GroupFacts(("team", f"g{i}"), None, random.randint(0, 9), random.randint(0, 9), 40) for i in range(4)]
    shares = []
    for _ in range(8):
        groups = random.sample(range(4), random.randint(0, 3))
        shares.append(tuple(Share(g, pods := random.randint(1, 3), pods * random.randint(1, 2)) for g in groups))
    ledger, emptied = Ledger(facts, shares), set[int]()
    for node_index in random.sample(range(8), 5):
        before = _whole(facts, shares, emptied)
        for other in set(range(8)) - emptied:
            after = _whole(facts, shares, emptied | {other})
            assert ledger.costs[:, other].tolist() == [a - b for a, b in zip(after, before, strict=True)]
        ledger.commit(node_index)
        emptied.add(node_index)
        groups, _, _, cards, _ = _whole(facts, shares, emptied)
        assert (ledger.groups_touched, ledger.cards_moved) == (groups, cards)


def _whole(facts: list[GroupFacts], shares: list[tuple[Share, ...]], emptied: set[int]) -> tuple[int, ...]:
    pods, cards = [0] * len(facts), [0] * len(facts)
    for node_index in emptied:
        for share in shares[node_index]:
            pods[share.group] += share.pods
            cards[share.group] += share.cards
    breached = [p > f.slack for p, f in zip(pods, facts, strict=True)]
    damaged = sum(f.footprint if b else c for f, b, c in zip(facts, breached, cards, strict=True))
    return sum(map(bool, pods)), sum(breached), damaged, sum(cards), sum(pods)
