"""Trial placements: pods tried on top of an occupancy, and the search that turns back."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from repack_gitops.model.cluster import ClusterSnapshot, Constraints, HostPort
from repack_gitops.planner import PlannerOptions, trial
from repack_gitops.planner.disruption import Ledger
from repack_gitops.planner.drain import drain
from repack_gitops.planner.occupancy import Occupancy
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.trial import Trial, any_placement, first_placement
from tests.unit.planner.build import GPU, cluster, node, plan, pod, spec
from tests.unit.planner.reference_drain import Reference

PORT = Constraints(host_ports=(HostPort(80, "TCP", "0.0.0.0"),))  # noqa: S104


def prepared(snapshot: ClusterSnapshot) -> tuple[Problem, Occupancy, Ledger]:
    problem = Problem(snapshot, spec(), PlannerOptions())
    return problem, Occupancy(problem), Ledger(problem.groups, problem.shares)


def classes_of(problem: Problem, name: str) -> tuple[int, ...]:
    return tuple(v.pod_class for v in problem.victims[problem.index[name]])


@pytest.fixture
def two_and_a_port() -> ClusterSnapshot:
    pods = [pod("p", "a", 2), pod("q", "a", 2, constraints=PORT), pod("b0", "b", 4, owner=None), pod("c0", "c", 5, owner=None)]
    return cluster([node(n) for n in "abc"], pods)


class TestTrial:
    def test_it_leaves_the_occupancy_alone(self, two_and_a_port: ClusterSnapshot) -> None:
        problem, occupancy, _ = prepared(two_and_a_port)
        plain, _ = classes_of(problem, "a")
        before = (occupancy.idle.copy(), occupancy.fits(plain).copy())
        tried = Trial(occupancy, barred=problem.index["a"])
        tried.put(plain, 1)
        assert (occupancy.idle == before[0]).all()
        assert (occupancy.fits(plain) == before[1]).all()

    def test_room_shrinks_and_comes_back(self, two_and_a_port: ClusterSnapshot) -> None:
        problem, occupancy, _ = prepared(two_and_a_port)
        plain, _ = classes_of(problem, "a")
        tried = Trial(occupancy, barred=0)
        assert tried.open_nodes(plain).tolist() == [False, True, True]
        tried.put(plain, 1)
        tried.put(plain, 1)
        tried.put(plain, 2)
        assert tried.open_nodes(plain).tolist() == [False, False, False]
        assert not tried.fits_on(plain, 1)
        tried.take_back(1)
        assert tried.open_nodes(plain).tolist() == [False, True, False]
        assert tried.fits_on(plain, 1)

    def test_ports_clash_within_a_trial(self, two_and_a_port: ClusterSnapshot) -> None:
        problem, occupancy, _ = prepared(two_and_a_port)
        plain, with_port = classes_of(problem, "a")
        tried = Trial(occupancy, barred=None)
        tried.put(with_port, 1)
        assert tried.fits_on(plain, 1)
        assert not tried.fits_on(with_port, 1)
        assert tried.fits_on(with_port, 2)
        tried.take_back(1)
        assert tried.fits_on(with_port, 1)

    def test_the_node_that_is_left_never_takes_back(self, two_and_a_port: ClusterSnapshot) -> None:
        problem, occupancy, _ = prepared(two_and_a_port)
        plain, _ = classes_of(problem, "a")
        assert Trial(occupancy, barred=0).fits_on(plain, 0) is False
        assert Trial(occupancy, barred=None).fits_on(plain, 0) is True


class TestPlacingForGood:
    def test_closes_full_nodes_and_taken_ports(self, two_and_a_port: ClusterSnapshot) -> None:
        problem, occupancy, _ = prepared(two_and_a_port)
        plain, with_port = classes_of(problem, "a")
        occupancy.place(with_port, 1)
        assert occupancy.fits(with_port).tolist() == [False, False, True]
        assert occupancy.fits(plain).tolist() == [True, True, True]
        occupancy.place(plain, 2)
        assert occupancy.fits(plain).tolist() == [True, True, False]
        occupancy.close(1)
        assert occupancy.fits(plain).tolist() == [True, False, False]
        assert occupancy.idle[0].tolist() == [4000, 2000, 1000]

    def test_a_node_overdrawn_in_a_resource_that_the_class_does_not_ask_for_stays_open(self) -> None:
        with_disk = {GPU: 2000, "cpu": 1000, "pods": 1000, "disk": 1000}
        pods = [pod("p", "a", 2, requests=with_disk, template=with_disk), pod("q", "a", 1)]
        pods.append(pod("r", "b", 1, owner=None, requests={GPU: 1000, "disk": 9000}))
        problem, occupancy, _ = prepared(cluster([node("a"), node("b")], pods))
        disk, plain = classes_of(problem, "a")
        assert not occupancy.fits(disk)[1]
        occupancy.place(plain, 1)
        assert occupancy.fits(plain)[1]


def needle(haystack: int) -> ClusterSnapshot:
    """Node a's big pod may go to any of many nodes; its two small ones need the one with the label, which has room for one."""
    picky = Constraints(node_selector=(("needle", "yes"),))
    pods = [pod("p", "a", 2, "g"), pod("q", "a", 1, "g", constraints=picky), pod("r", "a", 1, "g", constraints=picky)]
    pods += [pod(f"h{i}", f"h{i:03d}", 6, owner=None) for i in range(haystack)] + [pod("n", "needle", 7, owner=None)]
    nodes = [node("a"), *(node(f"h{i:03d}") for i in range(haystack)), node("needle", labels={"needle": "yes"})]
    return cluster(nodes, pods)


class TestTurningBack:
    def test_it_gives_up_after_a_number_of_tries_not_of_seconds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problem, occupancy, ledger = prepared(needle(50))
        asked = []
        monkeypatch.setattr(Trial, "put", _counting(Trial.put, asked))
        monkeypatch.setattr(trial, "TRIES", 20)
        assert first_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs) is None
        assert len(asked) == 20

    def test_and_is_right_where_it_does_not(self) -> None:
        problem, occupancy, ledger = prepared(needle(50))
        assert first_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs) is None
        assert plan(needle(50)).steps == ()

    def test_the_scarcest_first_proves_it_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problem, occupancy, ledger = prepared(needle(50))
        asked: list[int] = []
        monkeypatch.setattr(Trial, "put", _counting(Trial.put, asked))
        assert any_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs) is None
        assert len(asked) == 1

    def test_twins_are_not_tried_in_both_orders(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # five pods alike for four places on four nodes: each set of nodes is tried once, not once per order (4! = 24)
        pods = [pod(f"p{i}", "a", 1, "g") for i in range(5)] + [pod(f"h{i}", f"h{i}", 7, owner=None) for i in range(4)]
        problem, occupancy, ledger = prepared(cluster([node("a"), *(node(f"h{i}") for i in range(4))], pods))
        asked: list[int] = []
        monkeypatch.setattr(Trial, "put", _counting(Trial.put, asked))
        assert first_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs) is None
        assert len(asked) <= 15  # subsets of four nodes

    def test_where_it_gives_up_a_witness_still_places_the_victims(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Spread placement may find by luck what a bounded search does not; such a candidate is still emptied."""
        picky = Constraints(node_selector=(("pool", "c"),))
        pods = [pod("p", "x", 2, "g"), pod("q", "x", 2, "g", constraints=picky)]
        pods += [pod("b", "b", 5, owner=None), pod("c", "c", 6, owner=None)]
        snapshot = cluster([node("b"), node("c", labels={"pool": "c"}), node("x")], pods)
        problem, occupancy, ledger = prepared(snapshot)
        monkeypatch.setattr(trial, "TRIES", 1)
        assert first_placement(occupancy, classes_of(problem, "x"), problem.index["x"], ledger.costs) is None
        (step,) = drain(problem).steps
        assert {m.pod: m.to_node for m in step.moves} == {"p": "b", "q": "c"}


def crowded(seed: int) -> ClusterSnapshot:
    """One candidate with up to seven victims of a few classes, for receivers that certainly stay and have little room."""
    random = Random(seed)
    choices = (Constraints(), Constraints(), PORT, Constraints(node_selector=(("pool", "x"),)))
    kinds = [(random.choice((1, 1, 2, 3)), random.choice(choices)) for _ in range(3)]
    victims = [random.choice(kinds) for _ in range(random.randint(2, 7))]
    pods = [pod(f"v{i}", "a", cards, "g", constraints=limits) for i, (cards, limits) in enumerate(victims)]
    nodes = [node("a", 24)]
    for name in "bcde"[: random.randint(2, 4)]:
        nodes.append(node(name, labels={"pool": random.choice("xy")}))
        pods.append(pod(f"held-{name}", name, random.randint(4, 8), owner=None))
    return cluster(nodes, pods)


@pytest.mark.parametrize("chunk", range(8))
def test_the_first_placement_is_that_of_trying_everything(chunk: int) -> None:
    found = 0
    for seed in range(chunk * 150, (chunk + 1) * 150):
        snapshot = crowded(seed)
        problem, occupancy, ledger = prepared(snapshot)
        receivers = first_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs)
        names = None if receivers is None else [problem.nodes[r].name for r in receivers]
        assert names == Reference(snapshot, spec()).first_placement("a"), f"crowded({seed})"
        anyhow = any_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs)
        assert (anyhow is None) == (receivers is None), f"crowded({seed})"
        assert anyhow is None or _stands(Trial(occupancy, 0), classes_of(problem, "a"), anyhow), f"crowded({seed})"
        found += names is not None
    assert 20 < found < 130  # both answers are put to the test


def _stands(tried: Trial, classes: tuple[int, ...], receivers: tuple[int, ...]) -> bool:
    for pod_class, receiver in zip(classes, receivers, strict=True):
        if not tried.fits_on(pod_class, receiver):
            return False
        tried.put(pod_class, receiver)
    return True


def _counting(put: object, asked: list[int]) -> object:
    def counted(self: Trial, pod_class: int, node: int) -> None:
        asked.append(node)
        put(self, pod_class, node)  # type: ignore[operator]

    return counted


def test_nothing_to_place_on() -> None:
    problem, occupancy, ledger = prepared(cluster([node("a"), node("b")], [pod("p", "a", 5), pod("q", "b", 5)]))
    assert first_placement(occupancy, classes_of(problem, "a"), 0, ledger.costs) is None
    assert np.count_nonzero(occupancy.certain) == 0
