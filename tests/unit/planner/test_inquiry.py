"""Answers about one node, PodGroup or pod."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.model.cluster import ClusterSnapshot, Owner
from repack_gitops.model.explanation import Closed, Receivers
from repack_gitops.model.plan import Code
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.evaluate import study
from repack_gitops.planner.inquiry import Inquiry
from tests.unit.planner.build import GPU, cluster, layout, node, only_nodes, pod, spec, without_groups
from tests.unit.planner.random_clusters import crowded_case, random_case


def inquiry(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None) -> Inquiry:
    return Inquiry(study(snapshot, run or spec()))


def busy() -> ClusterSnapshot:
    """Return a cluster whose plan moves a's pod to c, which leaves no room there for b's."""
    nodes = [node("a"), node("b"), node("c"), node("d"), node("e"), node("plain", 0, allocatable={"cpu": 64_000})]
    pods = [
        pod("p", "a", 1, "gang"),
        pod("q", "b", 3, "gang"),
        pod("r", "c", 5, owner=None),
        pod("s", "d", 8, owner=None),
        pod("cpu", "a", 0),
        pod("waiting", None, 2),
    ]
    return cluster(nodes, pods, {"gang": 1})


class TestNode:
    def test_freed(self) -> None:
        answer = inquiry(layout((1, 4))).node("n0")
        assert (answer.step, answer.stay, answer.capacity, answer.used) == (1, None, 8, 1)
        (found,) = answer.pods
        assert found.move is not None
        assert (found.move.to_node, found.step) == ("n1", 1)

    def test_a_receiver_shows_what_arrives(self) -> None:
        answer = inquiry(layout((1, 4))).node("n1")
        assert answer.stay is not None
        assert answer.stay.code is Code.RECEIVES
        assert [m.pod for m in answer.arriving] == ["p0"]

    def test_stuck_with_what_closes_the_others(self) -> None:
        asked = inquiry(busy(), spec(scope=only_nodes("a", "b")))
        assert asked.evaluation.freed_nodes == ("a",)
        (found,) = asked.node("b").pods  # the cpu-only pod does not matter
        # before, a had room, and c 3 cards idle, of which p took one
        assert found.receivers == Receivers("after", (), 2, ("a",), (Closed(Code.NODE_RESOURCES, GPU, ("c", "d")),))

    def test_idle(self) -> None:
        answer = inquiry(busy()).node("e")
        assert (answer.step, answer.stay, answer.pods) == (None, None, ())

    def test_without_fragmentation_there_is_nothing_to_explain(self) -> None:
        answer = inquiry(layout((8, 8))).node("n0")
        assert (answer.step, answer.stay) == (None, None)
        assert answer.pods[0].receivers == Receivers("after", (), 0, (), (Closed(Code.NODE_RESOURCES, GPU, ("n1",)),))

    def test_scope(self) -> None:
        asked = inquiry(layout((1, 4)), spec(scope=only_nodes("n1")))
        assert [asked.node(n).in_scope for n in ("n0", "n1")] == [False, True]


class TestPodGroup:
    def test_moved_and_left_members(self) -> None:
        answer = inquiry(busy(), spec(cards=1)).pod_group("team", "gang")
        assert (answer.running, answer.min_available, answer.slack, answer.footprint) == (2, 1, 1, 4)
        assert (answer.moved_pods, answer.moved_cards, answer.breached) == (1, 1, False)
        assert [(p.pod, p.step) for p in answer.members] == [("p", 1), ("q", None)]

    def test_breach(self) -> None:
        assert inquiry(layout((1, 4))).pod_group("team", "pg-p0").breached

    def test_scope(self) -> None:
        asked = inquiry(layout((1, 4)), spec(scope=without_groups("pg-p0")))
        answer = asked.pod_group("team", "pg-p0")
        assert not answer.in_scope
        assert answer.members[0].why_not is not None
        assert answer.members[0].why_not.code is Code.POD_GROUP_OUT_OF_SCOPE

    def test_by_the_name_of_its_workload(self) -> None:
        """Reports show workloads; the name that people copy from them will do where it means one PodGroup."""
        pods = [pod("p", "a", 1, "podgroup-1"), pod("q", "b", 4, "podgroup-2"), pod("r", "b", 1, "podgroup-3")]
        named = [
            replace(p, owner=Owner("apps/v1", "ReplicaSet", n, n)) for p, n in zip(pods, ("web", "job", "job"), strict=True)
        ]
        asked = inquiry(cluster([node("a"), node("b")], named))
        assert asked.pod_group("team", "web").key == ("team", "podgroup-1")
        with pytest.raises(InvalidInput, match="team/job has 2 PodGroups") as caught:
            asked.pod_group("team", "job")
        assert caught.value.hint == "Name one of them: team/podgroup-2 or team/podgroup-3."

    def test_without_the_resource(self) -> None:
        assert inquiry(busy()).pod_group("team", "pg-cpu").members == ()


class TestPod:
    def test_a_pod_that_moves_is_asked_about_before_the_moves(self) -> None:
        answer = inquiry(layout((1, 4, 8))).pod("team", "p0")
        assert answer.receivers == Receivers("before", ("n1",), 1, (), (Closed(Code.NODE_RESOURCES, GPU, ("n2",)),))

    def test_a_pod_of_a_plan_that_gains_too_little(self) -> None:
        answer = inquiry(layout((1, 5, 0, 0)), spec(50)).pod("team", "p0")
        assert answer.move is None
        assert answer.receivers is not None
        assert (answer.receivers.moment, answer.receivers.open) == ("before", ("n1",))

    def test_a_movable_pod_beside_one_that_is_not(self) -> None:
        pods = [pod("p", "a", 1), pod("q", "a", 1, owner=None), pod("r", "b", 2)]
        asked = inquiry(cluster([node("a"), node("b")], pods), spec(scope=only_nodes("a")))
        assert [p.receivers is None for p in asked.node("a").pods] == [False, True]
        assert asked.pod("team", "p").receivers == Receivers("after", ("b",), 1, (), ())

    def test_a_node_with_nothing_but_terminating_pods(self) -> None:
        pods = [pod("p", "a", 1), pod("q", "b", 4), pod("t", "c", 1, terminating=True)]
        answer = inquiry(cluster([node(n) for n in "abc"], pods)).pod("team", "p")
        assert answer.receivers is not None
        assert answer.receivers.closed == (Closed(Code.NOT_OCCUPIED, "", ("c",)),)

    @pytest.mark.parametrize(
        ("name", "message"),
        [("cpu", f"requests no {GPU}"), ("waiting", "is not bound to a node yet"), ("ended", r"has ended \(Failed\)")],
    )
    def test_pods_that_do_not_matter(self, name: str, message: str) -> None:
        snapshot = busy()
        more = replace(snapshot, pods=(*snapshot.pods, pod("ended", "a", 1, phase="Failed")))
        with pytest.raises(InvalidInput, match=f"pod team/{name} {message}"):
            inquiry(more).pod("team", name)

    def test_a_pod_on_a_node_without_the_resource(self) -> None:
        snapshot = busy()
        more = replace(snapshot, pods=(*snapshot.pods, pod("lost", "plain", 1)))
        with pytest.raises(InvalidInput, match="is on node plain, which provides no"):
            inquiry(more).pod("team", "lost")


class TestUnknownNames:
    def test_nodes(self) -> None:
        with pytest.raises(InvalidInput, match="holds no node plane") as caught:
            inquiry(busy()).node("plane")
        assert caught.value.hint == "Did you mean plain?"
        with pytest.raises(InvalidInput, match=f"node plain provides no {GPU}"):
            inquiry(busy()).node("plain")

    def test_names_that_begin_alike_come_first(self) -> None:
        pods = [pod("p", "a", 1, "train-4f33a8ae-ffe8-4596-abe3"), pod("q", "b", 4, "strain")]
        with pytest.raises(InvalidInput, match="holds no PodGroup team/train") as caught:
            inquiry(cluster([node("a"), node("b")], pods)).pod_group("team", "train")
        assert caught.value.hint == "Did you mean team/train-4f33a8ae-ffe8-4596-abe3?"

    def test_nothing_similar(self) -> None:
        with pytest.raises(InvalidInput) as caught:
            inquiry(layout((1, 4))).pod("x", "y")
        assert caught.value.hint == "Pods are named NS/NAME."


def test_overview_is_every_staying_node_once() -> None:
    asked = inquiry(busy(), spec(scope=only_nodes("a", "b")))
    groups = asked.overview()
    assert [(g.code, len(g.nodes)) for g in groups] == [(Code.NODE_OUT_OF_SCOPE, 2), (Code.NO_RECEIVER, 1)]
    assert sorted(n for g in groups for n in g.nodes) == sorted(asked.evaluation.stays)
    assert all(g.stay is asked.evaluation.stays[g.example] for g in groups)


@pytest.mark.parametrize("seed", range(80))
@pytest.mark.parametrize("draw", [random_case, crowded_case])
def test_exact_answers_agree_with_the_arrays_that_decided(draw: object, seed: int) -> None:
    """A node is stuck with a homeless pod exactly if that pod is told that nothing is open, and by the same filters."""
    case = draw(seed)  # type: ignore[operator]
    asked = Inquiry(study(case.snapshot, case.spec))
    for name, stay in asked.evaluation.stays.items():
        if stay.code is not Code.NO_RECEIVER:
            continue
        homeless = [p.receivers for p in asked.node(name).pods if p.receivers is not None and not p.receivers.open]
        assert bool(homeless) == (stay.detail != "each of its pods fits somewhere, but not all together")
        told = {(r.code, r.what): r.count for r in stay.refusals}
        answers = [
            {(c.code, c.what): len(c.nodes) for c in found.closed if c.code is not Code.NOT_OCCUPIED} for found in homeless
        ]
        assert not told or _by_filter(told) in map(_by_filter, answers)


def _by_filter(counts: dict[tuple[Code, str], int]) -> dict[Code, int]:
    found: dict[Code, int] = {}
    for (code, _), count in counts.items():
        found[code] = found.get(code, 0) + count
    return found
