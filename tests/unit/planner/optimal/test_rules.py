"""Every rule of the model on a cluster that one can work out by hand: what is freed, and what is proven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from bench.clusters import guarded, mixed
from repack_gitops.model.cluster import ClusterSnapshot, Constraints, HostPort, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import BoundKind, Evaluation, Optimality, Verdict
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.model.safeguards import Safeguards
from repack_gitops.planner.optimal import aggregation
from repack_gitops.planner.optimal.bounds import Bounds
from repack_gitops.planner.optimal.relaxation import Levels
from tests.unit.planner.budgets import pdb
from tests.unit.planner.build import DRAIN, GPU, cluster, layout, node, plan, pod, spec
from tests.unit.planner.optimal.cases import OPTIMAL

#: Whether nodes at risk have rows of their own, as they do on small clusters.
both_ways = pytest.mark.parametrize("single_flows", [aggregation.MOST_SINGLE_FLOWS, 0], ids=["single", "aggregated"])


@pytest.fixture(autouse=True)
def _flows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "single_flows" in request.fixturenames:
        monkeypatch.setattr(aggregation, "MOST_SINGLE_FLOWS", request.getfixturevalue("single_flows"))


def optimal(snapshot: ClusterSnapshot, run: RunTemplateSpec | None = None, **options: object) -> Evaluation:
    return plan(snapshot, run, replace(OPTIMAL, **options))  # type: ignore[arg-type]


def known(evaluation: Evaluation) -> Optimality:
    assert evaluation.optimality is not None
    return evaluation.optimality


def pinned(on: str, cards: int, **changes: object) -> Pod:
    """A pod that nothing would recreate."""
    return pod(f"pinned-{on}", on, cards, owner=None, **changes)


def full_of(idle: Sequence[int], moving: Sequence[int]) -> ClusterSnapshot:
    """Node a holds pods of ``moving`` cards; other nodes are pinned and have ``idle`` cards idle."""
    receivers = [node(f"r{i}") for i in range(len(idle))]
    pods = [pod(f"p{i}", "a", cards) for i, cards in enumerate(moving)]
    return cluster([node("a"), *receivers], [*pods, *(pinned(f"r{i}", 8 - cards) for i, cards in enumerate(idle))])


@both_ways
@pytest.mark.parametrize(
    ("idle", "moving", "freed"),
    [
        ((4,), (4,), 1),
        ((2, 2), (4,), 0),  # four cards idle, in no one place
        ((2, 2), (2, 2), 1),
        ((3, 3), (2, 2), 1),
        ((3, 1), (2, 2), 0),
        ((4, 2), (4, 1, 1), 1),
        ((5, 5), (4, 2), 1),
        ((7, 1), (4, 2, 2), 0),  # eight cards, of which 2-card pods reach six
        ((5, 4), (3, 3), 1),
        ((5, 1), (3, 3), 0),  # six cards idle, but only once three
        ((4, 4), (3, 3, 2), 0),  # eight cards: threes leave one each
        ((4, 4), (3, 3, 1, 1), 1),
        ((5, 3), (3, 3, 2), 1),
    ],
)
def test_sizes(idle: tuple[int, ...], moving: tuple[int, ...], freed: int, single_flows: int) -> None:
    evaluation = optimal(full_of(idle, moving))
    assert len(evaluation.steps) == freed
    assert known(evaluation).upper_bound == freed or not single_flows


@both_ways
@pytest.mark.parametrize(
    ("resource", "amount"), [("cpu", 4_000), ("memory", 4 * 2**30 * 1000), ("pods", 1_000), ("x/y", 2_000)]
)
@pytest.mark.parametrize("missing", [0, 1])
def test_other_resources(resource: str, amount: int, missing: int, single_flows: int) -> None:
    """Two pods of one card want ``amount`` each; there are plenty of cards, and one unit less than both want."""
    asks = {GPU: 1000, "pods": 1000, resource: amount}
    held = {GPU: 2000}
    moving = [pod(f"p{i}", "a", 1, requests=asks, template=asks) for i in range(2)]
    roomy = {GPU: 8000, "cpu": 10**6, "memory": 10**15, "pods": 10**6, "x/y": 10**6}
    nodes = [node("a", allocatable=roomy), node("r", allocatable={**roomy, resource: 2 * amount - missing})]
    evaluation = optimal(cluster(nodes, [*moving, pinned("r", 2, requests=held, template=held)]))
    assert len(evaluation.steps) == 1 - missing
    assert known(evaluation).upper_bound == 1 - missing
    assert known(evaluation).proven


@both_ways
@pytest.mark.parametrize("amount", [2**40 * 1000 + 1, 2**54 + 1])
def test_a_request_that_dwarfs_every_node_is_a_number_the_solver_takes(amount: int, single_flows: int) -> None:
    """What p asks for is more than 10^15 times what is idle anywhere in the unit that the others' requests demand."""
    roomy = {GPU: 8000, "cpu": 64_000, "memory": 10, "pods": 110_000}
    held, asks = ({GPU: 1000, "pods": 1000, "memory": memory} for memory in (1, amount))
    pods = [pod("p", "a", 1, requests=held, template=asks), *(pod(n, n, 1, requests=held, template=held) for n in "bc")]
    evaluation = optimal(cluster([node(n, allocatable=roomy) for n in "abc"], pods))
    assert set(evaluation.freed_nodes) == {"b", "c"}
    assert known(evaluation).proven


@both_ways
def test_a_node_short_of_cards_takes_pods_that_ask_for_none(single_flows: int) -> None:
    """More cards are charged on r than it has; that matters only to pods that want some."""
    held = {GPU: 1000, "cpu": 1000, "pods": 1000}
    light = pod("a", "a", 1, requests=held, template={"cpu": 1000, "pods": 1000})
    nodes = [node("a"), node("b", ready=False), node("r", 2)]
    evaluation = optimal(cluster(nodes, [light, pinned("b", 1), pinned("r", 3)]))
    assert evaluation.freed_nodes == ("a",)
    assert known(evaluation).proven


@both_ways
@pytest.mark.parametrize(("port", "freed"), [(8080, 0), (9090, 1)])
def test_host_ports(port: int, freed: int, single_flows: int) -> None:
    """Of two pods that hold the same port only one can go to r."""
    holding = [Constraints(host_ports=(HostPort(p, "TCP", ""),)) for p in (8080, port)]
    moving = [pod(f"p{i}", name, 1, constraints=c) for i, (name, c) in enumerate(zip("ab", holding, strict=True))]
    evaluation = optimal(cluster([node("a"), node("b"), node("r")], [*moving, pinned("r", 1)]))
    assert len(evaluation.steps) == 1 + freed
    assert known(evaluation).upper_bound == 1 + freed


def test_static_filters_by_class_of_receivers() -> None:
    """Room in pool b is of no use to pods that want pool a: of two, one finds a place."""
    wants = Constraints(node_selector=(("pool", "a"),))
    nodes = [node(n, labels={"pool": pool}) for n, pool in (("m", "a"), ("n", "a"), ("r", "a"), ("s", "b"))]
    pods = [pod("p", "m", 4, constraints=wants), pod("q", "n", 4, constraints=wants), pinned("r", 4), pinned("s", 1)]
    evaluation = optimal(cluster(nodes, pods))
    assert len(evaluation.steps) == known(evaluation).upper_bound == 1
    assert known(evaluation).proven


def test_receivers_never_send() -> None:
    evaluation = optimal(layout((2, 2)))
    assert len(evaluation.steps) == known(evaluation).upper_bound == 1


def test_an_emptied_node_gives_no_room() -> None:
    """The pod of n2 fills n0; that of n1 would have fitted on n2 only."""
    evaluation = optimal(layout((5, 4, 3)))
    assert evaluation.freed_nodes == ("n2",)
    assert known(evaluation).proven


def test_more_than_drain_under_a_budget_of_pod_groups() -> None:
    """Greedy spends the one PodGroup on one card; the gang on b and c frees two nodes."""
    pods = [pod("a", "a", 1), pod("b", "b", 2, "gang"), pod("c", "c", 2, "gang"), pinned("r", 1)]
    evaluation = optimal(cluster([node("a"), node("b"), node("c"), node("r")], pods), spec(pod_groups=1))
    assert set(evaluation.freed_nodes) == {"b", "c"}
    assert known(evaluation).proven


@pytest.mark.parametrize(("limit", "freed"), [(0, 0), (2, 1), (3, 1), (4, 2), (6, 2), (7, 3)])
def test_a_budget_of_cards(limit: int, freed: int) -> None:
    pods = [pod("a", "a", 2), pod("b", "b", 2), pod("c", "c", 3), pinned("r", 1)]
    evaluation = optimal(cluster([node("a"), node("b"), node("c"), node("r")], pods), spec(cards=limit))
    assert len(evaluation.steps) == known(evaluation).upper_bound == freed
    assert known(evaluation).proven


@pytest.mark.parametrize(("allowed", "freed"), [(0, 0), (1, 1), (2, 1), (3, 2)])
def test_quotas(allowed: int, freed: int) -> None:
    """Each cap lets ``allowed`` of three pods go: one on a, two on b."""
    pods = [pod("a", "a", 1), pod("b0", "b", 1), pod("b1", "b", 1), pinned("r", 1, namespace="other")]
    snapshot = cluster([node("a"), node("b"), node("r")], pods)
    capped = optimal(snapshot, safeguards=Safeguards(pods_per_namespace=allowed))
    budgeted = optimal(replace(snapshot, budgets=(pdb("all", allowed),)), enforce_budgets=True)
    for evaluation in (capped, budgeted):
        assert len(evaluation.steps) == known(evaluation).upper_bound == freed


def one_of_two(left: list[Pod], right: list[Pod], minimum: dict[str, int]) -> tuple[str, ...]:
    """Return which of nodes a and b is freed where each finds room on r, but not both."""
    nodes = [node("a"), node("b"), node("r")]
    evaluation = optimal(cluster(nodes, [*left, *right, pinned("r", 5)], minimum))
    assert known(evaluation).proven
    return evaluation.freed_nodes


def test_fewest_pod_groups_then() -> None:
    apart, together = [pod("a0", "a", 1), pod("a1", "a", 1)], [pod(f"b{i}", "b", 1, "gang") for i in range(3)]
    assert one_of_two(apart, together, {"gang": 3}) == ("b",)


def test_fewest_breaches_then() -> None:
    assert one_of_two([pod("a0", "a", 2, "tight")], [pod("b0", "b", 3, "slack")], {"tight": 1, "slack": 0}) == ("b",)


def test_fewest_damaged_cards_then() -> None:
    """Both gangs are breached; the one on a has a large member elsewhere."""
    left, right = [pod("a0", "a", 2, "wide"), pod("w", "r", 3, "wide", owner=None)], [pod("b0", "b", 3, "narrow")]
    nodes = [node("a"), node("b"), node("r")]
    evaluation = optimal(cluster(nodes, [*left, *right, pinned("r", 2)], {"wide": 2, "narrow": 1}))
    assert evaluation.freed_nodes == ("b",)
    assert known(evaluation).proven


def test_a_gang_over_two_nodes_is_breached_only_beyond_its_slack() -> None:
    """Two of four members may be missing: a and b together are within slack, and damage what they move."""
    pods = [pod(f"g{i}", name, 1, "gang") for i, name in enumerate("abrr")]
    pods[2:] = [replace(p, owner=None) for p in pods[2:]]
    snapshot = cluster([node("a"), node("b"), node("r")], pods, {"gang": 2})
    evaluation = optimal(snapshot)
    assert (len(evaluation.steps), evaluation.disruption.breaches, evaluation.disruption.damaged_cards) == (2, 0, 2)
    tight = optimal(cluster([node("a"), node("b"), node("r")], pods, {"gang": 3}))
    assert (len(tight.steps), tight.disruption.breaches, tight.disruption.damaged_cards) == (2, 1, 4)
    assert known(evaluation).proven
    assert known(tight).proven


def test_fewest_cards_then() -> None:
    assert one_of_two([pod("a0", "a", 3, "x")], [pod("b0", "b", 2, "y")], {"x": 0, "y": 0}) == ("b",)


def test_fewest_pods_then() -> None:
    left, right = [pod("a0", "a", 1, "x"), pod("a1", "a", 1, "x")], [pod("b0", "b", 2, "y")]
    assert one_of_two(left, right, {"x": 0, "y": 0}) == ("b",)


def test_a_plan_below_the_threshold_still_says_how_good_it_is() -> None:
    evaluation = optimal(layout((2, 2)), spec(90))
    assert evaluation.verdict is Verdict.INSUFFICIENT
    assert (known(evaluation).freed, known(evaluation).upper_bound, known(evaluation).proven) == (1, 1, True)
    assert known(evaluation).bound_kind is BoundKind.MODEL


def test_drain_says_nothing_of_optimality() -> None:
    assert plan(layout((2, 2)), options=DRAIN).optimality is None


def test_a_compact_layout_has_nothing_to_prove() -> None:
    assert optimal(layout((8, 8))).optimality is None


@pytest.mark.parametrize("claim", [Bounds(0, True), Bounds(1, True, (-1, 9, 9, 9, 9, 9)), Bounds(1, True, (-1, 9))])
def test_a_solver_that_is_refuted_by_a_plan_is_not_believed(claim: Bounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is then what nobody needs a solver for: the number of candidates."""
    monkeypatch.setattr(Levels, "bounds", claim)
    evaluation = optimal(layout((2, 2, 6)), frontier=True)
    found, frontier = known(evaluation), evaluation.frontier
    assert (found.freed, found.upper_bound, found.proven, found.bound_kind) == (1, 3, False, BoundKind.WORK_LIMIT)
    assert frontier is not None
    assert [p.upper_bound for p in (*frontier.pod_groups, *frontier.cards)] == [3, 3]


@both_ways
@pytest.mark.parametrize(("pods", "freed"), [(4, 1), (5, 0)])
def test_pods_are_counted_where_sizes_do_not_nest(pods: int, freed: int, single_flows: int) -> None:
    """Eleven cards hold 5 + 6, but fours only twice: of five fours one is left, though 20 cards are fewer than 22.

    Node b, whose pods of 5 and 6 cards make those sums possible, is beyond the budget of one PodGroup.
    """
    nodes = [node("a", 4 * pods), node("b", 11), node("r", 12), node("s", 12)]
    fours = [pod(f"a{i}", "a", 4, "gang") for i in range(pods)]
    snapshot = cluster(nodes, [*fours, pod("b0", "b", 5), pod("b1", "b", 6), pinned("r", 1), pinned("s", 1)])
    evaluation = optimal(snapshot, spec(pod_groups=1))
    assert len(evaluation.steps) == known(evaluation).upper_bound == freed


@pytest.mark.parametrize("busy", [mixed, guarded])
@pytest.mark.parametrize("nodes", [40, 150])
def test_busy_clusters(busy: Callable[[int], ClusterSnapshot], nodes: int) -> None:
    """Too large for brute force: the judge accepts the plan, it is no worse than Drain's and within the bound."""
    evaluation = optimal(busy(nodes), spec(pod_groups=5), enforce_budgets=True)
    drained = plan(busy(nodes), spec(pod_groups=5), PlannerOptions(enforce_budgets=True))
    assert len(drained.steps) <= len(evaluation.steps) <= known(evaluation).upper_bound
    assert known(evaluation).gap <= 1
