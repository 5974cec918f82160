"""What `repack explain` shows on a terminal, line for line."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Taint
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.evaluate import study
from repack_gitops.planner.inquiry import Inquiry
from repack_gitops.report.explanation import explanation_text
from tests.unit.planner.build import DRAIN, cluster, layout, node, only_nodes, pod, spec, without_groups

FOOT = "As of a plan for nvidia.com/gpu, strategy Drain: RepackRecommended, 1 node freed. Nothing\nhas been changed.\n"


def asked(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None) -> Inquiry:
    return Inquiry(study(snapshot, run or spec(), DRAIN))


def fleet() -> Inquiry:
    """Return a plan that moves a's pod to c; b's gang is then stuck, and d's pod may not move."""
    nodes = [node("a"), node("b"), node("c"), node("d", taints=(Taint("dedicated", "x", "NoSchedule"),)), node("e")]
    pods = [
        pod("p", "a", 1, "gang"),
        pod("q", "b", 3, "gang"),
        pod("twin", "b", 3, "gang"),
        pod("r", "c", 5, owner=None),
        pod("s", "d", 5, owner=None),
    ]
    return asked(cluster(nodes, pods, {"gang": 2}), spec(cards=6, scope=only_nodes("a", "b")))


def shown(inquiry: Inquiry, answer: object, **look: object) -> str:
    return explanation_text(answer, inquiry.evaluation, width=92, **look)  # type: ignore[arg-type]


def test_a_node_that_is_stuck() -> None:
    inquiry = fleet()
    assert (
        shown(inquiry, inquiry.node("b"))
        == (
            "node b  ■■■■■■□□  6 of 8 cards in use\n"
            "  stays: NoReceiver: no room for a pod of 3 cards on the 2 other occupied nodes (1 lack\n"
            "  nvidia.com/gpu, 1 TaintToleration (dedicated=x:NoSchedule))\n"
            "  nearest change: 4 more nvidia.com/gpu idle on node c\n"
            "\n"
            "Its pods\n"
            "  team/q  3 cards  on b\n"
            "    may move; this plan leaves it\n"
            "    after the moves of the plan that was found, 0 of 3 other occupied nodes could take it\n"
            "    (before: 2)\n"
            "      1  NodeResourcesFit: too little nvidia.com/gpu idle\n"
            "         c\n"
            "      1  TaintToleration: has a taint that is not tolerated (dedicated=x:NoSchedule)\n"
            "         d\n"
            "      1  emptied by that plan, so they receive nothing\n"
            "         a\n"
            "  team/twin  3 cards  on b\n"
            "    may move; this plan leaves it\n"
            "    the same nodes as for team/q\n"
            "\n"
        )
        + FOOT
    )


def test_a_node_that_is_freed_and_one_that_receives() -> None:
    inquiry = fleet()
    assert "  freed in step 1 of 1\n" in shown(inquiry, inquiry.node("a"))
    text = shown(inquiry, inquiry.node("c"))
    assert "Pods that this plan brings\n  team/p: 1 card from a\n" in text
    assert "nearest change: scope.nodes that includes node c" in text


def test_an_idle_node() -> None:
    inquiry = fleet()
    assert "uses none of the resource: there is nothing to free, and it never receives" in shown(inquiry, inquiry.node("e"))


def test_a_reason_that_nothing_changes() -> None:
    inquiry = asked(layout((1, 5)))
    assert "nearest change: nothing in the cluster or the run, by itself" in shown(inquiry, inquiry.node("n1"))


def test_a_pod_group() -> None:
    inquiry = fleet()
    assert shown(inquiry, inquiry.pod_group("team", "gang")).startswith(
        "PodGroup team/gang  of Job team/gang\n"
        "  3 running, minAvailable 2: slack 1; holds 7 cards of nvidia.com/gpu\n"
        "  in scope of the run\n"
        "  this plan moves 1 pod (1 card), within its slack\n"
        "\n"
        "Its pods\n"
        "  team/p  1 card  on a\n"
        "    may move; step 1 takes it to c\n"
        "  team/q  3 cards  on b\n"
    )


def test_a_pod_group_that_is_breached() -> None:
    inquiry = asked(layout((1, 4)))
    text = shown(inquiry, inquiry.pod_group("team", "pg-p0"))
    words = "this plan moves 1 pod (1 card), more than its slack: BREACH, all it holds counts as damaged (1 card)"
    assert words in " ".join(text.split())


def test_a_pod_group_out_of_scope() -> None:
    inquiry = asked(layout((1, 4)), spec(scope=without_groups("pg-p0")))
    text = shown(inquiry, inquiry.pod_group("team", "pg-p0"))
    assert "outside scope.podGroups: none of its pods may move" in text
    assert "may not move: PodGroupOutOfScope: PodGroup team/pg-p0 is out of scope" in text


def test_a_pod() -> None:
    inquiry = fleet()
    text = shown(inquiry, inquiry.pod("team", "p"))
    assert text.startswith(
        "  team/p  1 card  on a\n    of PodGroup team/gang\n    may move; step 1 takes it to c\n\nEvery other"
    )
    assert "before this plan's moves, 2 of 3 other occupied nodes could take it\n    2  open\n       b, c\n" in text


def test_everything() -> None:
    inquiry = fleet()
    text = shown(inquiry, inquiry.overview())
    assert text.startswith(
        "1 node freed\n        a\n\nWhy other nodes stay\n     2  Outside the run's node scope (NodeOutOfScope)\n"
    )
    assert "        nearest change: 4 more nvidia.com/gpu idle on node c\n" in text


def test_nothing_to_explain() -> None:
    inquiry = asked(layout((8, 8)))
    compact = "No node is freed: the occupied nodes are already the fewest that could hold the same requests."
    for answer in (inquiry.overview(), inquiry.node("n0")):
        assert compact in " ".join(shown(inquiry, answer).split())


def test_plain_terminals_and_hostile_names() -> None:
    inquiry = asked(cluster([node("a\x1b[31m"), node("b")], [pod("p", "a\x1b[31m", 1), pod("q", "b", 4, owner=None)]))
    text = shown(inquiry, inquiry.node("a\x1b[31m"), unicode=False)
    assert text.isascii()
    assert "\x1b" not in text
    assert "\x1b[" in shown(inquiry, inquiry.node("b"), colour=True)
