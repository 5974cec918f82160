"""Counting pods by topology domain gives the answers of looking at every pod, before and after any moves."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from repack_gitops.model.affinity import AffinityTerm
from repack_gitops.model.cluster import ClusterSnapshot, Node, Pod
from repack_gitops.model.labels import LabelSelector
from repack_gitops.planner.feasibility import inter_pod_affinity, pod_topology_spread
from repack_gitops.planner.feasibility.placements import Placements
from repack_gitops.planner.neighbourhood import Neighbourhood
from tests.unit.planner.build import cluster, node, pod
from tests.unit.planner.naive_relations import admits
from tests.unit.planner.random_clusters import CONSTRAINTS, RELATIONS, TAINT

NAMESPACES = {"team": {"tier": "a"}, "other": {"tier": "b"}}
SELECTING = AffinityTerm("zone", LabelSelector.of({"app": "x"}), frozenset({"third"}), LabelSelector.of({"tier": "b"}))


def random_cluster(random: Random) -> ClusterSnapshot:
    nodes = [random_node(random, i) for i in range(random.randint(1, 7))]
    pods = [random_pod(random, i, nodes) for i in range(random.randint(1, 14))]
    return cluster(nodes, pods, namespaces=NAMESPACES)


def random_node(random: Random, index: int) -> Node:
    labels = {"kubernetes.io/hostname": f"n{index}", "pool": random.choice("ab"), "rank": str(index)}
    labels |= {key: random.choice("xy") for key in ("zone", "rack") if random.random() < 0.8}
    return node(f"n{index}", labels=labels, taints=(TAINT,) if random.random() < 0.3 else ())


def random_pod(random: Random, index: int, nodes: list[Node]) -> Pod:
    made = pod(
        f"p{index}",
        random.choice(nodes).name,
        1,
        labels={"app": random.choice("xyz")},
        namespace=random.choice(("team", "other")),
    )
    relations = random.choice(RELATIONS)
    if random.random() < 0.2:
        relations = replace(relations, affinity=(SELECTING,), anti_affinity=(SELECTING,) if random.random() < 0.5 else ())
    changes: dict[str, object] = {"relations": relations} if random.random() < 0.6 else {}
    if random.random() < 0.3:
        changes["constraints"] = random.choice(CONSTRAINTS)
    if random.random() < 0.1:
        changes["terminating"] = True
    if random.random() < 0.1:
        changes |= {"node": None, "nominated_node": made.node}
    if random.random() < 0.1:
        changes["phase"] = "Succeeded"
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(400))
def test_counted_like_looking_at_every_pod(seed: int) -> None:
    random = Random(seed)
    snapshot = random_cluster(random)
    placements = Placements(snapshot.nodes, snapshot.pods, snapshot.namespaces)
    around = Neighbourhood(snapshot, snapshot.nodes)
    where = {p.key: p.node or p.nominated_node or "" for p in snapshot.pods if p.active}
    bound = {p.key for p in snapshot.pods if p.node}
    for _ in range(6):
        subject = random.choice(snapshot.pods)
        if subject.key not in bound or not subject.active:
            continue
        placements.remove(subject)
        others = [
            (p, snapshot.node_by_name[where[p.key]], p.key in bound)
            for p in snapshot.pods
            if p.key in where and p.key != subject.key
        ]
        with around.without([]):
            around.take_back(subject)
        flags = around.open_nodes(subject)
        for i, target in enumerate(snapshot.nodes):
            expected = admits(subject, target, others, snapshot.nodes, NAMESPACES)
            refused = inter_pod_affinity.why_not(subject, target, placements, NAMESPACES)
            refused = refused or pod_topology_spread.why_not(subject, target, placements)
            assert (refused is None, bool(flags[i])) == (expected, expected), f"seed {seed}: {subject.name} on {target.name}"
        where[subject.key] = random.choice(snapshot.nodes).name
        placements.place(subject, where[subject.key])
        around.put(subject, [n.name for n in snapshot.nodes].index(where[subject.key]))


@pytest.mark.parametrize("seed", range(100))
def test_what_a_move_changes_is_told(seed: int) -> None:
    """Whoever's open nodes change asked about something that the moved pod touches."""
    random = Random(seed)
    snapshot = random_cluster(random)
    around = Neighbourhood(snapshot, snapshot.nodes)
    subjects = [p for p in snapshot.pods if p.node and p.active]
    asked = {p.key: set(around.asked_by([p])) for p in subjects}
    if len(subjects) < 2:
        return
    mover = random.choice(subjects)
    others = [p for p in subjects if p is not mover]

    def answers() -> dict[tuple[str, str], list[bool]]:
        found = {}
        for p in others:
            with around.without([p]):
                found[p.key] = around.open_nodes(p).tolist()
        return found

    before = answers()
    tokens = set(around.move(mover, random.randrange(len(snapshot.nodes))))
    after = answers()
    for p in others:
        assert before[p.key] == after[p.key] or tokens & asked[p.key]


def test_trying_pods_elsewhere_leaves_no_trace() -> None:
    avoid = AffinityTerm("kubernetes.io/hostname", LabelSelector.of({"app": "x"}), frozenset({"team"}))
    relations = replace(RELATIONS[0], anti_affinity=(avoid,))
    pods = [pod(f"p{i}", "a", 1, labels={"app": "x"}, relations=relations) for i in range(2)]
    snapshot = cluster([node(n) for n in "abc"], pods)
    around = Neighbourhood(snapshot, snapshot.nodes)
    with around.without(list(snapshot.pods)) as company:
        assert company.open_nodes().tolist() == [True, True, True]
        company.put(1)
        assert company.open_nodes().tolist() == [True, False, True]
        company.put(2)
        company.take_back()
        assert company.open_nodes().tolist() == [True, False, True]
    subject = pod("q", None, 1, labels={"app": "x"})
    assert around.open_nodes(subject).tolist() == [False, True, True]
