"""Where victims go: certain receivers first, then the costlier to empty, then the fullest, then the name (spec 2.4)."""

from __future__ import annotations

from repack_gitops.model.cluster import Node, Pod
from repack_gitops.model.plan import Verdict
from tests.unit.planner.build import cluster, layout, node, only_nodes, plan, pod, spec


def goes_to(pods: list[Pod], minimum: dict[str, int] | None = None, nodes: str = "abc", capacity: int = 8) -> str:
    """Return where the pod "v" (1 card, alone on node a, its PodGroup within slack) goes in the first round."""
    victim = pod("v", "a", 1)
    snapshot = cluster([node(n, capacity) for n in nodes], [victim, *pods], {"pg-v": 0, **(minimum or {})})
    first = plan(snapshot).steps[0]
    assert first.node == "a"
    return first.moves[0].to_node


def stays(name: str, on: str, cards: int) -> Pod:
    return pod(name, on, cards, owner=None)


class TestCertainFirst:
    def test_a_node_with_an_immovable_pod(self) -> None:
        # c would be an exact fit (7 + 1), but c may still be emptied; b cannot.
        assert goes_to([stays("b0", "b", 2), pod("c0", "c", 7)]) == "b"

    def test_a_node_out_of_scope(self) -> None:
        snapshot = cluster([node(n) for n in "abc"], [pod("v", "a", 1), pod("b0", "b", 2), pod("c0", "c", 7)])
        assert plan(snapshot, spec(scope=only_nodes("a", "c"))).steps[0].moves[0].to_node == "b"

    def test_a_receiver_of_this_plan(self) -> None:
        # Round 1: a's pod goes to the costlier of b (3 cards) and c (4 cards), to c. Round 2: d's pod also goes to c,
        # which now certainly stays, though b would be fuller after the move by then: c has 5, b 6.
        pods = [pod("v", "a", 1), pod("w", "d", 1), pod("b0", "b", 5, "x"), pod("c0", "c", 4, "y"), pod("c1", "c", 1, "z")]
        snapshot = cluster([node(n) for n in "abcd"], pods, {"pg-v": 0, "pg-w": 0, "x": 0, "y": 0, "z": 0})
        steps = plan(snapshot).steps
        assert [(s.node, s.moves[0].to_node) for s in steps[:2]] == [("a", "c"), ("d", "c")]

    def test_a_node_proven_stuck(self) -> None:
        # b's pod of 6 cards fits nowhere else (a has 4 cards, c 4 idle), so b is stuck, hence certain. c would cost more
        # to empty than anything (two breaches), but it still may be: its pods fit on a (3 idle) and b (2 idle).
        pods = [pod("v", "a", 1), pod("b0", "b", 6), pod("c0", "c", 2, "x"), pod("c1", "c", 2, "y")]
        snapshot = cluster([node("a", 4), node("b"), node("c")], pods, {"pg-v": 0, "x": 2, "y": 2})
        first = plan(snapshot).steps[0]
        assert (first.node, first.moves[0].to_node) == ("a", "b")

    def test_a_node_over_budget(self) -> None:
        # one card may move: b (2 cards) never will, so it is certain; c (1 card) might, and comes after it
        pods = [pod("v", "a", 1), pod("b0", "b", 2), pod("c0", "c", 1, "x")]
        snapshot = cluster([node(n) for n in "abc"], pods, {"pg-v": 0, "x": 1})
        (step,) = plan(snapshot, spec(cards=1)).steps
        assert (step.node, step.moves[0].to_node) == ("a", "b")

    def test_the_receiver_of_the_candidates_own_first_victim(self) -> None:
        # a's victims: 2 cards, then 1 card. The first goes to c (costlier: 5 cards); from then on c is certain, and the
        # second follows although b would be left with less.
        pods = [pod("v0", "a", 2, "v"), pod("v1", "a", 1, "v"), pod("b0", "b", 4), pod("c0", "c", 5)]
        snapshot = cluster([node(n) for n in "abc"], pods, {"v": 0})
        assert [m.to_node for m in plan(snapshot).steps[0].moves] == ["c", "c"]


class TestCostlierEmptying:
    """b and c may both still be emptied; they differ in one dimension. The name and the fit speak for b."""

    def test_breaches_before_everything(self) -> None:
        # c: one pod that breaches; b: three PodGroups, 5 cards, within slack
        pods = [pod("b0", "b", 3, "x"), pod("b1", "b", 1, "y"), pod("b2", "b", 1, "z"), pod("c0", "c", 2, "w")]
        assert goes_to(pods, {"x": 0, "y": 0, "z": 0, "w": 1}) == "c"

    def test_pod_groups(self) -> None:
        pods = [pod("b0", "b", 4, "x"), pod("c0", "c", 1, "y"), pod("c1", "c", 1, "z")]
        assert goes_to(pods, {"x": 0, "y": 0, "z": 0}) == "c"

    def test_damaged_cards(self) -> None:
        # both breach one gang; c's has 2 + 4 = 6 cards, b's 3
        pods = [pod("b0", "b", 3, "x"), pod("c0", "c", 2, "y"), pod("d0", "d", 4, "y"), stays("d1", "d", 4)]
        assert goes_to(pods, {"x": 1, "y": 2}, nodes="abcd") == "c"

    def test_moved_cards(self) -> None:
        # both breach gangs of 5 cards; 3 are on c, 2 on b; b would be left with the same as c
        pods = [pod("b0", "b", 2, "x"), pod("c0", "c", 3, "y"), pod("d0", "d", 3, "x"), pod("d1", "d", 2, "y")]
        pods.append(stays("d2", "d", 3))
        assert goes_to(pods, {"x": 2, "y": 2}, nodes="abcd") == "c"

    def test_moved_pods(self) -> None:
        # one gang of 2 cards on each, in one pod on b, in two on c
        pods = [pod("b0", "b", 2, "x"), pod("c0", "c", 1, "y"), pod("c1", "c", 1, "y")]
        assert goes_to(pods, {"x": 0, "y": 0}) == "c"


class TestLeastLeftThenName:
    def test_least_left(self) -> None:
        assert goes_to([stays("b0", "b", 2), stays("c0", "c", 5)]) == "c"

    def test_least_left_counts_cards_that_are_idle_not_cards_that_are_used(self) -> None:
        # b: 2 of 4 used, c: 5 of 16 used
        victim, others = pod("v", "a", 1), [stays("b0", "b", 2), stays("c0", "c", 5)]
        snapshot = cluster([node("a"), node("b", 4), node("c", 16)], [victim, *others])
        assert plan(snapshot).steps[0].moves[0].to_node == "b"

    def test_the_name(self) -> None:
        assert goes_to([stays("c0", "c", 3), stays("b0", "b", 3)]) == "b"

    def test_full_nodes_are_no_choice(self) -> None:
        assert goes_to([stays("b0", "b", 8), stays("c0", "c", 1)]) == "c"


class TestNever:
    """a's pod of 3 cards fits neither beside c's 6 nor beside d's 6, though 15 cards would do with two nodes; b is left."""

    PODS = (pod("p", "a", 3), pod("q", "c", 6), pod("r", "d", 6))

    def frees_nothing(self, b: Node, *more: Pod) -> bool:
        evaluation = plan(cluster([node("a"), b, node("c"), node("d")], [*self.PODS, *more]))
        assert evaluation.verdict is not Verdict.NO_FRAGMENTATION
        return evaluation.steps == ()

    def test_but_for_a_pod_with_cards_it_would_receive(self) -> None:
        assert not self.frees_nothing(node("b"), pod("s", "b", 4))

    def test_an_empty_node_never_receives(self) -> None:
        assert self.frees_nothing(node("b"))
        assert self.frees_nothing(node("b"), pod("cpu", "b", 0))

    def test_a_node_with_nothing_but_terminating_pods_never_receives(self) -> None:
        assert self.frees_nothing(node("b"), pod("s", "b", 2, terminating=True))

    def test_a_node_with_a_nomination_alone_never_receives(self) -> None:
        assert self.frees_nothing(node("b"), pod("s", None, 2, nominated_node="b"))

    def test_a_node_that_does_not_provide_the_resource_never_receives(self) -> None:
        assert self.frees_nothing(node("b", allocatable={"cpu": 64_000, "pods": 110_000}), pod("s", "b", 4))

    def test_an_emptied_node_never_receives_and_a_receiver_is_never_emptied(self) -> None:
        # {1, 1, 1, 5}: n0 is emptied onto n3 (costlier), n1 as well, and n2 too: 8. Nothing else can move.
        steps = plan(layout((1, 1, 1, 5))).steps
        assert [s.node for s in steps] == ["n0", "n1", "n2"]
        assert {m.to_node for s in steps for m in s.moves} == {"n3"}
