"""Volcano's queues: would one let the replacement in, and which node groups does it use?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import ClusterSnapshot, NodeGroupAffinity, Queue
from repack_gitops.model.plan import Code
from repack_gitops.planner.feasibility.node_group import LABEL
from tests.unit.planner.build import GPU, cluster, node, plan, pod, targets

OPEN = Queue("default", state="Open")


def with_queues(*queues: Queue, queue: str = "") -> ClusterSnapshot:
    """Return two half-full nodes a and b; the pod of a is in ``queue``."""
    snapshot = cluster([node("a"), node("b")], [pod("p", "a", 1), pod("q", "b", 4)])
    groups = {key: replace(g, queue=queue) if g.name == "pg-p" else g for key, g in snapshot.pod_groups.items()}
    return replace(snapshot, pod_groups=groups, queues={q.name: q for q in queues})


def code(snapshot: ClusterSnapshot) -> Code | None:
    reason = plan(snapshot).stays.get("a")
    return None if reason is None else reason.code


def test_open_queues_and_snapshots_without_queues() -> None:
    assert targets(with_queues()) == {"p": "b"}
    assert targets(with_queues(OPEN)) == {"p": "b"}


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown", ""])
def test_a_queue_that_is_not_open_lets_nobody_in(state: str) -> None:
    assert code(with_queues(OPEN, Queue("batch", state=state), queue="batch")) is Code.QUEUE_CLOSED


def test_a_queue_that_is_gone() -> None:
    assert code(with_queues(OPEN, queue="batch")) is Code.QUEUE_CLOSED


def test_ancestors_count() -> None:
    child = Queue("batch", parent="root", state="Open")
    assert targets(with_queues(OPEN, child, Queue("root", state="Open"), queue="batch")) == {"p": "b"}
    assert code(with_queues(OPEN, child, Queue("root", state="Closed"), queue="batch")) is Code.QUEUE_CLOSED


def test_queues_in_a_circle_end() -> None:
    queues = (Queue("x", parent="y", state="Open"), Queue("y", parent="x", state="Open"), OPEN)
    assert targets(with_queues(*queues, queue="x")) == {"p": "b"}


@pytest.mark.parametrize(("capability", "expected"), [(5, None), (4, Code.QUEUE_OVER_CAPABILITY)])
def test_a_queue_may_hold_what_it_holds_and_no_more(capability: int, expected: Code | None) -> None:
    """default holds five cards; at a capability of five the victim's own card makes room for its replacement."""
    assert code(with_queues(replace(OPEN, capability={GPU: capability * 1000}))) is expected


def test_the_children_of_a_queue_count_in_it() -> None:
    root = Queue("root", state="Open", capability={GPU: 4000})
    queues = (replace(OPEN, parent="root"), Queue("batch", parent="root", state="Open"), root)
    found = plan(with_queues(*queues, queue="batch")).stays["a"]
    assert (found.code, found.detail) == (
        Code.QUEUE_OVER_CAPABILITY,
        f"queue root holds 5 of {GPU}, its capability is 4",
    )


# ---- node groups ----
def grouped(rule: NodeGroupAffinity, group: str | None, parent_rule: NodeGroupAffinity | None = None) -> str | None:
    """Return where p goes under its queue's ``rule`` if node b is of ``group``."""
    parent = Queue("root", state="Open", node_groups=parent_rule or NodeGroupAffinity())
    queue = Queue("batch", parent="root", state="Open", node_groups=rule)
    snapshot = with_queues(OPEN, queue, parent, queue="batch")
    labels = {"kubernetes.io/hostname": "b"} | ({LABEL: group} if group else {})
    return targets(replace(snapshot, nodes=(node("a"), node("b", labels=labels)))).get("p")


G1, G2 = frozenset({"g1"}), frozenset({"g1", "g2"})


@pytest.mark.parametrize(
    ("rule", "group", "admitted"),
    [
        (NodeGroupAffinity(required=G1), "g1", True),
        (NodeGroupAffinity(required=G1), "g2", False),
        (NodeGroupAffinity(required=G1), None, False),
        (NodeGroupAffinity(preferred=G1), "g1", True),
        (NodeGroupAffinity(required=G2, anti_required=G1), "g1", False),
        (NodeGroupAffinity(required=G2, anti_required=G1), "g2", True),
        (NodeGroupAffinity(anti_required=G1), "g2", False),  # nothing asks for g2
        (NodeGroupAffinity(anti_preferred=G1), "g1", True),
    ],
)
def test_node_groups(rule: NodeGroupAffinity, group: str | None, admitted: bool) -> None:
    assert grouped(rule, group) == ("b" if admitted else None)


def test_a_queue_inherits_its_parents_groups() -> None:
    assert grouped(NodeGroupAffinity(), "g1", NodeGroupAffinity(required=G1)) == "b"
    assert grouped(NodeGroupAffinity(required=frozenset({"g2"})), "g1", NodeGroupAffinity(required=G1)) is None


def test_where_groups_are_used_a_queue_without_any_reaches_no_node() -> None:
    chooser = Queue("other", state="Open", node_groups=NodeGroupAffinity(required=G1))
    assert code(with_queues(OPEN, chooser)) is Code.NO_RECEIVER
