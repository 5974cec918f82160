"""Strategy Drain worked by hand: small clusters, each showing one rule of the guide with its arithmetic.

How to read them. Nodes have 8 cards unless said otherwise. ``m/a`` in a comment means minAvailable m of a running
members. A candidate's cost is written ``(G, B, D, C, P)``: PodGroups it adds to the plan, PodGroups it pushes below
minAvailable, damaged cards it adds, cards and pods it moves. A round's score of a candidate is::

    1.0 * G' + 0.8 * B' + 0.6 * D' + 0.3 * C' + 0.1 * P'

where x' = (x - lowest) / (highest - lowest) over the candidates of that round, and 0 where all are equal. The lowest
score is emptied; ties end in the name. (The guide breaks ties by the nodes a plan frees before it looks at names; here
every candidate frees exactly one, so that rule never decides.)

A pod called ``keep`` has no controller: it may not move, so its node certainly stays, and receives. Every test asserts
the whole plan, move for move, as ``pod: from -> to`` in the order of execution. The rules are spec 02.4 and the guide
(功能详解); classes are in the order in which the guide tells them.
"""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Constraints, Owner, Pod
from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Code, Verdict
from repack_gitops.model.run import RunTemplateSpec
from tests.unit.planner.build import cluster, layout, node, plan, pod, spec, without_groups


def moves(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None) -> list[str]:
    """Return the whole plan, accepted by the judge, as ``pod: from -> to``."""
    return [f"{m.pod}: {m.from_node} -> {m.to_node}" for m in plan(snapshot, run).moves]


def keep(on: str, cards: int = 1) -> Pod:
    """Return a pod that may not move."""
    return pod(f"keep-{on}", on, cards, owner=None)


class TestFragmentation:
    """以完整节点释放衡量整理收益: whole nodes are what counts."""

    def test_the_guides_twenty_nodes(self) -> None:
        # 20 nodes, 15 in use, 12 would do: eleven are full, the other four hold 4 + 2 + 1 + 1 = 8 cards: one node's worth.
        #   before: (15 - 12) / 20 = 15 %
        # k0 and k3 may not be emptied, k1 and k2 are. After: (13 - 12) / 20 = 5 %, a gain of 10 points.
        # Costs: k1 (1, 1, 2, 2, 1), k2 (1, 1, 1, 1, 1): k2 = 0, k1 = 0.6 + 0.3 = 0.9. k2 goes first.
        # k0 and k3 certainly stay; k0 is left with less (4 - 1 = 3 against 7 - 1 = 6), so it takes k2's pod, then k1's.
        full = [pod(f"f{i:02}", f"full-{i:02}", 8) for i in range(11)]
        pods = [*full, keep("k0", 4), pod("p1", "k1", 2), pod("p2", "k2", 1), keep("k3", 1)]
        names = [*(f"full-{i:02}" for i in range(11)), "k0", "k1", "k2", "k3", *(f"idle-{i}" for i in range(5))]
        snapshot = cluster([node(n) for n in names], pods)
        assert moves(snapshot, spec(10)) == ["p2: k2 -> k0", "p1: k1 -> k0"]
        found = plan(snapshot, spec(10))
        assert (found.before.percent, found.after.percent, found.improvement) == (15, 5, 10)
        assert plan(snapshot, spec(11)).verdict is Verdict.INSUFFICIENT

    def test_the_guides_dry_run(self) -> None:
        # Three nodes of 4 cards; 2 + 3 + 3 = 8 cards need two of them: (3 - 2) / 3 = 33 % -> 0 %.
        # The serving PodGroups are out of scope: node-02 and node-03 certainly stay, with 1 card idle each. worker-0
        # finds both alike (0 left) and takes the first by name; worker-1 takes the other.
        pods = [
            pod("worker-0", "ascend-node-01", 1, "batch"),
            pod("worker-1", "ascend-node-01", 1, "batch"),
            pod("serving-0", "ascend-node-02", 3, "serving-0"),
            pod("serving-1", "ascend-node-03", 3, "serving-1"),
        ]
        snapshot = cluster([node(f"ascend-node-0{i}", 4) for i in (1, 2, 3)], pods, {"batch": 2})
        run = spec(10, pod_groups=1, cards=4, scope=without_groups("serving-0", "serving-1"))
        assert moves(snapshot, run) == [
            "worker-0: ascend-node-01 -> ascend-node-02",
            "worker-1: ascend-node-01 -> ascend-node-03",
        ]
        found = plan(snapshot, run)
        assert (found.before.percent, found.after.percent) == (33, 0)
        assert (found.scope_pod_groups, found.scope_nodes, found.disruption.moved_cards) == (1, 3, 2)


class TestMovability:
    """基于完整调度语义验证迁移可行性, and the guide's questions and answers."""

    def test_pods_without_the_resource_hold_nothing_back_and_pods_of_another_scheduler_do(self) -> None:
        # a: 1 card, and a DaemonSet's pod without cards. b: 2 cards of a pod that kube-scheduler placed: b is no
        # candidate, but it is a receiver.
        pods = [
            pod("p", "a", 1),
            pod("agent", "a", 0, owner=Owner("apps/v1", "DaemonSet", "agent")),
            pod("other", "b", 2, scheduler_name="default-scheduler"),
        ]
        assert moves(cluster([node("a"), node("b")], pods)) == ["p: a -> b"]

    def test_one_pod_that_fits_nowhere_settles_its_node(self) -> None:
        # a would be cheapest (1 card), but its pod selects nodes that there are none of; b is emptied instead. c is the
        # costlier receiver for b's pod: D 3 against a's 1 (both breach one PodGroup).
        pods = [pod("p", "a", 1, constraints=Constraints(node_selector=(("pool", "x"),))), pod("q", "b", 2), pod("r", "c", 3)]
        found = plan(cluster([node(n) for n in "abc"], pods))
        # a is stuck, hence certain to stay: q goes there although c would cost more. Then c's pod follows: 1 + 2 + 3 = 6.
        assert [(m.pod, m.to_node) for m in found.moves] == [("q", "a"), ("r", "a")]
        assert found.stays["a"].code is Code.RECEIVES

    def test_earlier_moves_use_up_room(self) -> None:
        # b has 3 cards idle. p (2 cards) and q (2 cards) each fit there, not both: costs are equal, so a goes first.
        pods = [pod("p", "a", 2), pod("q", "c", 2), keep("b", 5), keep("d", 7)]
        found = plan(cluster([node(n) for n in "abcd"], pods))
        assert [(m.pod, m.to_node) for m in found.moves] == [("p", "b")]
        assert found.stays["c"].code is Code.NO_RECEIVER


class TestGang:
    """以Gang语义评估工作负载中断影响: slack, breach, footprint."""

    def gang(self) -> ClusterSnapshot:
        """Return the guide's training: 8 running workers of 1 card, minAvailable 6; three of them alone on a node each."""
        spread = [pod(f"w{i}", f"n{i}", 1, "train") for i in range(3)]
        rest = [pod(f"w{i}", "r", 1, "train") for i in range(3, 8)]
        return cluster([*(node(f"n{i}") for i in range(3)), node("r", 16)], [*spread, *rest, keep("r")], {"train": 6})

    def test_two_of_eight_may_be_missing(self) -> None:
        # slack = 8 - 6 = 2: two cards move, two cards are damaged
        assert moves(self.gang(), spec(cards=2)) == ["w0: n0 -> r", "w1: n1 -> r"]
        assert plan(self.gang(), spec(cards=2)).disruption == Disruption(1, 0, 2, 2, 2)

    def test_the_third_breaches_and_damages_all_eight(self) -> None:
        assert moves(self.gang()) == ["w0: n0 -> r", "w1: n1 -> r", "w2: n2 -> r"]
        assert plan(self.gang()).disruption == Disruption(1, 1, 8, 3, 3)

    def test_the_guides_plans_a_b_and_c(self) -> None:
        # Each would free one node by moving 3 cards in 3 pods. A: of one workload, within slack. B: of three workloads.
        # C: of one workload that falls below minAvailable (2 of 4 running, slack 2) and holds 8 cards in all.
        #   A (1, 0, 3, 3, 3)   B (3, 0, 3, 3, 3)   C (1, 1, 8, 3, 3)
        # Round 1: C' and P' have no spread.  A = 0,  B = 1.0 * 2/2 = 1.0,  C = 0.8 + 0.6 = 1.4  -> A
        # Round 2:                                    B = 1.0,              C = 1.4              -> B, then C
        pods = [
            *(pod(f"a{i}", "A", 1, "a") for i in range(3)),
            *(pod(f"b{i}", "B", 1, f"b{i}") for i in range(3)),
            *(pod(f"c{i}", "C", 1, "c") for i in range(3)),
            pod("c3", "r", 5, "c"),
        ]
        minimum = {"a": 0, "b0": 0, "b1": 0, "b2": 0, "c": 2}
        snapshot = cluster([node("A"), node("B"), node("C"), node("r", 16)], [*pods, keep("r")], minimum)
        assert moves(snapshot) == [
            *("a0: A -> r", "a1: A -> r", "a2: A -> r"),
            *("b0: B -> r", "b1: B -> r", "b2: B -> r"),
            *("c0: C -> r", "c1: C -> r", "c2: C -> r"),
        ]

    def test_three_times_the_cards_within_slack_rather_than_a_breach(self) -> None:
        # a: one card of a gang that needs all its 4 members (footprint 4); b: 3 cards, slack 1.
        #   a (1, 1, 4, 1, 1) = 0.8 + 0.6 = 1.4      b (1, 0, 3, 3, 1) = 0.3      -> b, then a
        pods = [pod("a0", "a", 1, "g"), *(pod(f"r{i}", "r", 1, "g") for i in range(3)), pod("b0", "b", 3, "h"), keep("r")]
        snapshot = cluster([node("a"), node("b"), node("r", 16)], pods, {"g": 4, "h": 0})
        assert moves(snapshot) == ["b0: b -> r", "a0: a -> r"]


class TestScore:
    """多维中断影响评分: weights, and min-max over the candidates of one round."""

    def test_one_dimension_with_spread_decides_alone(self) -> None:
        # a: two pods of 1 card, b: one pod of 2 cards, both of one workload within slack.
        #   a (1, 0, 2, 2, 2) = 0.1      b (1, 0, 2, 2, 1) = 0      -> b, then a
        pods = [pod("a0", "a", 1, "g"), pod("a1", "a", 1, "g"), pod("b0", "b", 2, "h"), keep("r")]
        snapshot = cluster([node("a"), node("b"), node("r", 16)], pods, {"g": 0, "h": 0})
        assert moves(snapshot) == ["b0: b -> r", "a0: a -> r", "a1: a -> r"]

    def test_without_any_spread_the_name_decides(self) -> None:
        pods = [pod("q", "b", 1, "h"), pod("p", "a", 1, "g"), keep("r")]
        assert moves(cluster([node("b"), node("a"), node("r")], pods)) == ["p: a -> r", "q: b -> r"]

    def x_and_y(self, *more: Pod) -> ClusterSnapshot:
        """Return X (two workloads, 1 card each) and Y (one workload, 5 cards); everything is within slack."""
        pods = [pod("x0", "X", 1, "x0"), pod("x1", "X", 1, "x1"), pod("y0", "Y", 5, "y"), *more, keep("r")]
        names = {p.node: None for p in pods if p.node != "r"}
        minimum = {p.pod_group: 0 for p in pods if p.pod_group}
        return cluster([*(node(str(n)) for n in names), node("r", 32)], pods, minimum)

    def test_two_candidates(self) -> None:
        # X (2, 0, 2, 2, 2) = 1.0 + 0.1 = 1.1      Y (1, 0, 5, 5, 1) = 0.6 + 0.3 = 0.9      -> Y, then X
        assert moves(self.x_and_y()) == ["y0: Y -> r", "x0: X -> r", "x1: X -> r"]

    def test_a_third_changes_the_scale_and_with_it_the_order_of_the_two(self) -> None:
        # Z (5, 0, 5, 5, 5): five workloads of 1 card. G now spans 1..5, P 1..5, D and C still 2..5.
        # Round 1: X = 1/4 + 0.1 * 1/4 = 0.275,  Y = 0.6 + 0.3 = 0.9,  Z = 1.0 + 0.6 + 0.3 + 0.1 = 2.0    -> X
        # Round 2: without X, D and C have no spread: Y = 0,  Z = 1.0 + 0.1 = 1.1                         -> Y, then Z
        z = [pod(f"z{i}", "Z", 1, f"z{i}") for i in range(5)]
        assert moves(self.x_and_y(*z)) == [
            *("x0: X -> r", "x1: X -> r"),
            "y0: Y -> r",
            *(f"z{i}: Z -> r" for i in range(5)),
        ]


class TestRounds:
    """动态选择腾空目标: after every step the remaining candidates are scored anew, on the plan so far."""

    def test_a_workload_that_is_disturbed_anyway(self) -> None:
        # Round 1: a (1, 0, 1, 1, 1) = 0,  b and c (1, 0, 2, 2, 1) = 0.9                                  -> a
        # Round 2: c's workload is a's and already counts: b (1, 0, 2, 2, 1) = 1.0,  c (0, 0, 2, 2, 1) = 0 -> c, then b
        pods = [pod("a0", "a", 1, "g"), pod("b0", "b", 2, "h"), pod("c0", "c", 2, "g"), keep("r")]
        snapshot = cluster([node("a"), node("b"), node("c"), node("r", 16)], pods, {"g": 0, "h": 0})
        assert moves(snapshot) == ["a0: a -> r", "c0: c -> r", "b0: b -> r"]

    def test_slack_that_is_used_up(self) -> None:
        # g: 3 running, minAvailable 2: slack 1; 1 + 1 + 6 = 8 cards. h: slack 1.
        # Round 1: a, b, c are all (1, 0, 1, 1, 1): the name                                               -> a
        # Round 2: b would breach g: D = 8 - 1 (counted already) = 7.
        #          b (0, 1, 7, 1, 1) = 0.8 + 0.6 = 1.4,  c (1, 0, 1, 1, 1) = 1.0                           -> c, then b
        pods = [pod("a0", "a", 1, "g"), pod("b0", "b", 1, "g"), pod("c0", "c", 1, "h"), pod("r0", "r", 6, "g"), keep("r")]
        snapshot = cluster([node("a"), node("b"), node("c"), node("r", 16)], pods, {"g": 2, "h": 0})
        assert moves(snapshot) == ["a0: a -> r", "c0: c -> r", "b0: b -> r"]
        assert plan(snapshot).disruption == Disruption(2, 1, 8 + 1, 3, 3)


class TestReceivers:
    """接收节点的填充: certain to stay, costlier to empty, least left, name."""

    def test_certain_nodes_first_and_of_these_the_fullest(self) -> None:
        # v (1 card). b and c certainly stay, with 6 and 3 cards idle; d (7 cards, and a breach) would be filled exactly,
        # but may still be emptied. Of b and c, c is left with less: 2 against 5. d's pod of 7 fits nowhere.
        pods = [pod("v", "a", 1), keep("b", 2), keep("c", 5), pod("d0", "d", 7)]
        assert moves(cluster([node(n) for n in "abcd"], pods, {"pg-v": 0})) == ["v: a -> c"]

    def test_then_the_costlier_to_empty_breaches_before_workloads(self) -> None:
        # b: two workloads within slack, c: one workload that would breach.
        # Round 1: a (1, 0, 1, 1, 1) = 0
        #          b (2, 0, 2, 2, 2) = 1.0 + 0.6 + 0.3 + 0.1 = 2.0
        #          c (1, 1, 2, 2, 1) = 0.8 + 0.6 + 0.3 = 1.7                                              -> a
        # v goes to c: emptying it would breach one PodGroup, emptying b none. (By workloads alone it would be b.)
        # Round 2: c received, so it stays; b is emptied onto it: 2 + 1 + 2 = 5 cards.
        pods = [pod("v", "a", 1), pod("b0", "b", 1, "x"), pod("b1", "b", 1, "y"), pod("c0", "c", 2, "z")]
        snapshot = cluster([node(n) for n in "abc"], pods, {"pg-v": 0, "x": 0, "y": 0, "z": 1})
        assert moves(snapshot) == ["v: a -> c", "b0: b -> c", "b1: b -> c"]

    def test_least_left_is_counted_in_idle_cards(self) -> None:
        # b has 2 of 4 cards idle, c 5 of 8: after the move 1 and 4 are left. b it is, though c holds more.
        pods = [pod("v", "a", 1), keep("b", 2), keep("c", 3)]
        assert moves(cluster([node("a"), node("b", 4), node("c")], pods)) == ["v: a -> b"]

    def test_then_the_name(self) -> None:
        pods = [pod("v", "a", 1), keep("c", 3), keep("b", 3)]
        assert moves(cluster([node(n) for n in "abc"], pods)) == ["v: a -> b"]

    def test_largest_request_first(self) -> None:
        # a's pods: 1, 2, 2 and 3 cards; b and c have 4 idle each.
        #   3 -> b (equal to c; the name), 2 -> c (b has 1), 2 -> c, 1 -> b: everything fits.
        # Smallest first would not do: 1 -> b, 2 -> b (least left), 2 -> c, and 3 finds 1 and 2 cards idle.
        sizes = {"p1": 1, "p2": 2, "p3": 2, "p4": 3}
        pods = [*(pod(name, "a", cards, "g") for name, cards in sizes.items()), keep("b", 4), keep("c", 4)]
        snapshot = cluster([node(n) for n in "abc"], pods)
        assert moves(snapshot) == ["p4: a -> b", "p2: a -> c", "p3: a -> c", "p1: a -> b"]

    def test_a_receiver_is_never_emptied_and_an_emptied_node_never_receives(self) -> None:
        # Every pod is a PodGroup of its own that it breaches. a (1, 1, 2, 2, 1) = 0, b and c (1, 1, 3, 3, 1) = 0.9 -> a.
        # p goes to b: b and c cost the same and are left with 3 alike; the name. So b stays, with 5 cards.
        # Round 2: c's pod goes to b (5 + 3 = 8); a has 8 cards idle but receives nothing. Round 3: nobody is left.
        snapshot = cluster([node(n) for n in "abc"], [pod("p", "a", 2), pod("q", "b", 3), pod("r", "c", 3)])
        assert moves(snapshot) == ["p: a -> b", "r: c -> b"]

    def test_an_idle_node_never_receives(self) -> None:
        # 3 + 6 + 6 = 15 cards would do with two nodes, but 3 fits beside neither 6; d is idle, and using it gains nothing.
        found = plan(layout((3, 6, 6, 0)))
        assert (found.verdict, found.moves) == (Verdict.INSUFFICIENT, ())


class TestBudget:
    """通过执行预算限制单次影响范围: what exceeds a cap is no candidate, for good, and so certainly stays."""

    def nodes(self, *groups: str) -> ClusterSnapshot:
        """Return nodes n1, n2, n3 with a pod of 1, 2 and 3 cards, all within slack, and r, which stays."""
        pods = [pod(f"p{i}", f"n{i}", i, group) for i, group in enumerate(groups, start=1)]
        return cluster([node("n1"), node("n2"), node("n3"), node("r", 16)], [*pods, keep("r")], dict.fromkeys(groups, 0))

    def test_cards(self) -> None:
        # Cap 3. Round 1: n1 = 0, n2 = 0.6 * 1/2 + 0.3 * 1/2, n3 = 0.6 + 0.3: n1. Round 2: n2 makes it 1 + 2 = 3, which is
        # allowed; n3 would make it 1 + 3 = 4. So n3 certainly stays, and is left with less than r: 3 against 13.
        snapshot = self.nodes("x", "y", "z")
        assert moves(snapshot, spec(cards=3)) == ["p1: n1 -> r", "p2: n2 -> n3"]

    def test_what_a_cap_still_allows_may_still_be_emptied(self) -> None:
        # Cap 4: in round 2 both n2 (1 + 2 = 3) and n3 (1 + 3 = 4) are allowed, so p2 goes to r; then 3 + 3 > 4.
        assert moves(self.nodes("x", "y", "z"), spec(cards=4)) == ["p1: n1 -> r", "p2: n2 -> r"]

    def test_pod_groups_count_once(self) -> None:
        # n1 and n3 are of one workload. Round 1: n1. Now n2 would make it two PodGroups, n3 does not; so n2 certainly
        # stays, and is left with less than r: 3 against 12.
        assert moves(self.nodes("x", "y", "x"), spec(pod_groups=1)) == ["p1: n1 -> r", "p3: n3 -> n2"]

    def test_both_caps_hold_at_once(self) -> None:
        assert moves(self.nodes("x", "y", "x"), spec(pod_groups=1, cards=3)) == ["p1: n1 -> r"]
