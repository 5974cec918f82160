"""Pods whose replacement would not run: gangs that lack members, ordered sets that wait, volumes that two pods share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.plan import Code
from tests.unit.planner.build import cluster, node, plan, pod, targets
from tests.unit.planner.objects import node_object, pod_object, snapshot_of
from tests.unit.planner.test_volumes import claim, limit, uses, volume

NODES = [node("a"), node("b")]


def gang(minimum: int, *others: Pod) -> Code | None:
    """Return why node a stays, whose pod belongs to a gang of ``minimum``; node b has room."""
    pods = [pod("p", "a", 1, "gang"), pod("stays", "b", 4, owner=None), *others]
    found = plan(cluster(NODES, pods, {"gang": minimum})).stays.get("a")
    return None if found is None else found.code


class TestGangs:
    """Volcano counts members that run, wait or have succeeded, and passes a gang with too few of them over."""

    def test_a_whole_gang_moves(self) -> None:
        assert gang(2, pod("q", "b", 1, "gang")) is None

    def test_a_gang_that_lacks_members_stays(self) -> None:
        assert gang(2) is Code.GANG_INCOMPLETE

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"phase": "Succeeded"}, None),
            ({"phase": "Pending", "node": None}, None),
            ({"phase": "Failed"}, Code.GANG_INCOMPLETE),
            ({"terminating": True}, Code.GANG_INCOMPLETE),
        ],
    )
    def test_which_members_count(self, changes: dict[str, Any], expected: Code | None) -> None:
        assert gang(2, replace(pod("q", "b", 0, "gang"), **changes)) is expected


def replica(number: int, on: str, cards: int, **changes: Any) -> Pod:
    made = pod(f"db-{number}", on, cards, f"pg-db-{number}", **changes)
    return replace(made, owner=Owner("apps/v1", "StatefulSet", "db", "uid-db"))


@pytest.mark.parametrize(
    ("changes", "moves"),
    [
        ({}, True),
        ({"ready": False}, False),
        ({"phase": "Pending"}, False),
        ({"terminating": True}, False),
    ],
)
def test_a_statefulset_creates_nothing_behind_a_replica_that_is_not_ready(changes: dict[str, Any], moves: bool) -> None:
    pods = [replica(1, "a", 1), replica(0, "b", 0, **changes), pod("stays", "b", 4, owner=None)]
    evaluation = plan(cluster(NODES, pods))
    assert bool(evaluation.steps) is moves
    if not moves:
        assert evaluation.stays["a"].code is Code.OWNER_WAITS


def test_a_replica_before_the_one_that_is_not_ready_comes_back() -> None:
    pods = [replica(0, "a", 1), replica(1, "b", 0, ready=False), pod("stays", "b", 4, owner=None)]
    assert targets(cluster(NODES, pods)) == {"db-0": "b"}


class TestSharedVolumes:
    """A ReadWriteOnce volume is attached to one node: the second pod would wait for it for ever."""

    def stay(self, mode: str = "ReadWriteOnce", **user: Any) -> Code | None:
        held = pod_object("stays", "b", 4)
        del held["metadata"]["ownerReferences"]
        pods = [pod_object("p", "a", 1, uses("data")), held, pod_object("other", "a", 0, uses("data"), **user)]
        storage = [claim(accessModes=[mode]), volume(), limit("a", None), limit("b", None)]
        found = plan(snapshot_of([node_object("a"), node_object("b"), *pods, *storage])).stays.get("a")
        return None if found is None else found.code

    def test_two_users_stay_together(self) -> None:
        assert self.stay() is Code.VOLUME_SHARED

    def test_a_volume_for_many_nodes(self) -> None:
        assert self.stay("ReadWriteMany") is None

    def test_a_user_that_has_ended(self) -> None:
        assert self.stay(status={"phase": "Succeeded"}) is None


def test_a_node_with_hundreds_of_pods_is_emptied() -> None:
    """Placing them must not recurse pod by pod."""
    nodes = [node("a", 1_500), node("b", 1_500)]
    pods = [pod(f"p{i}", "a", 1, "many") for i in range(600)]
    pods += [pod(f"q{i}", "b", 1, "stay", owner=None) for i in range(10)]
    wide = [replace(n, allocatable={**n.allocatable, "cpu": 2_000_000, "pods": 2_000_000}) for n in nodes]
    assert len(targets(cluster(wide, pods))) == 600


def test_explicit_zero_of_what_a_node_lacks_already() -> None:
    """Volcano compares what is named, even a zero: a node charged more of it than it has takes no such pod."""
    fpga, zero = "example.com/fpga", {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    zero["containers"][0]["resources"]["limits"][fpga] = "0"  # type: ignore[index]
    held = pod_object("stays", "b", 4)
    del held["metadata"]["ownerReferences"]
    hog = pod_object("hog", "b", 0, {"containers": [{"name": "main", "resources": {"limits": {fpga: "2"}}}]})
    objects = [node_object("a"), node_object("b"), pod_object("p", "a", 1, zero), held, hog]
    assert plan(snapshot_of(objects)).stays["a"].code is Code.NO_RECEIVER
    assert targets(snapshot_of([*objects[:2], pod_object("p", "a", 1), held, hog])) == {"p": "b"}
