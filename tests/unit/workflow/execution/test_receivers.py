"""Where a replacement may go (planner.receiver and the live view): idle now, occupied, not promised to somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.kube.interface import PodEvent, PodList
from repack_gitops.model.affinity import AffinityTerm
from repack_gitops.model.cluster import Constraints, HostPort, Node, Owner, Pod, Relations, Taint
from repack_gitops.model.labels import LabelSelector
from repack_gitops.model.plan import Code
from repack_gitops.model.run import EvictionPhase, EvictionStatus, PlacementPhase, PlacementStatus, Relocation
from repack_gitops.planner.feasibility.demands import PodDemands
from repack_gitops.planner.feasibility.placements import Placements
from repack_gitops.planner.feasibility.state import Surroundings
from repack_gitops.planner.receiver import Wish, choose_receiver, why_no_room, why_not_now
from repack_gitops.workflow.execution.matching import replaces
from repack_gitops.workflow.execution.receivers import Receivers, Rules, ghost, in_flight, shadow, without
from repack_gitops.workflow.execution.view import LiveView
from tests.unit.planner.build import GPU, cluster, node, pod

PORT = Constraints(host_ports=(HostPort(8080, "TCP", "0.0.0.0"),))  # noqa: S104


def around(nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> Surroundings:
    """Return what decides besides a node: ``pods`` bound to ``nodes``."""
    snapshot = cluster(nodes, pods)
    return Surroundings(snapshot, PodDemands(snapshot), Placements(nodes, pods, {}))


def why(found: Pod, target: Node, *residents: Pod) -> Code | None:
    reason = why_not_now(found, target, residents, around([target], residents), GPU)
    return None if reason is None else reason.code


@pytest.mark.parametrize(
    ("residents", "code"),
    [
        ([pod("r", "n1", 6)], None),
        ([pod("r", "n1", 7)], Code.NODE_RESOURCES),
        ([], Code.NOT_OCCUPIED),
        ([pod("r", "n1", 0)], Code.NOT_OCCUPIED),
        ([pod("r", "n1", 4), pod("x", None, 2, nominated_node="n1")], None),
        ([pod("r", "n1", 4), pod("x", None, 3, nominated_node="n1")], Code.NODE_RESOURCES),
        ([pod("r", None, 4, nominated_node="n1")], Code.NOT_OCCUPIED),
        ([pod("r", "n1", 2), pod("x", "n1", 5, terminating=True)], Code.NODE_RESOURCES),
        ([pod("r", "n1", 2, terminating=True)], Code.NOT_OCCUPIED),
        ([pod("r", "n1", 2), pod("x", "n1", 6, phase="Succeeded")], None),
        ([pod("r", "n1", 2, phase="Succeeded")], Code.NOT_OCCUPIED),
    ],
)
def test_only_what_is_idle_now_counts(residents: list[Pod], code: Code | None) -> None:
    assert why(pod("v", None, 2), node("n1"), *residents) is code


def test_the_pod_itself_does_not_stand_in_its_own_way() -> None:
    found = pod("v", None, 4, nominated_node="n1")
    assert why(found, node("n1"), pod("r", "n1", 4), found) is None


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (node("n1", unschedulable=True), Code.NODE_UNSCHEDULABLE),
        (node("n1", ready=False), Code.NODE_NOT_READY),
        (node("n1", taints=(Taint("gpu", "", "NoSchedule"),)), Code.TAINT_TOLERATION),
        (node("n1", taints=(Taint("gpu", "", "PreferNoSchedule"),)), None),
    ],
)
def test_the_schedulers_filters_hold(target: Node, code: Code | None) -> None:
    assert why(pod("v", None, 2), target, pod("r", "n1", 2)) is code


def test_host_ports_of_nominated_pods_count() -> None:
    waiting = pod("x", None, 1, nominated_node="n1", constraints=PORT)
    assert why(pod("v", None, 1, constraints=PORT), node("n1"), pod("r", "n1", 1), waiting) is Code.NODE_PORTS


AVOID = Relations(anti_affinity=(AffinityTerm("kubernetes.io/hostname", LabelSelector(), frozenset({"team"})),))


def test_pods_that_keep_others_away() -> None:
    assert why(pod("v", None, 1), node("n1"), pod("r", "n1", 1, relations=AVOID)) is Code.INTER_POD_AFFINITY
    assert why(pod("v", None, 1, relations=AVOID), node("n1"), pod("r", "n1", 1)) is Code.INTER_POD_AFFINITY


def test_replacement_asks_for_what_its_template_says() -> None:
    """A pod that was resized in place comes back as its template says."""
    grown = pod("v", None, 2, requests={GPU: 8000, "cpu": 1000, "pods": 1000})
    assert why(grown, node("n1"), pod("r", "n1", 6)) is None


def test_room_alone_does_not_ask_for_occupants() -> None:
    nobody = around([node("n1")])
    assert why_no_room(pod("v", None, 2), node("n1"), (), nobody) is None
    assert why_no_room(pod("v", None, 9), node("n1"), (), nobody) is not None


def choose(planned: str, **used: int) -> str | None:
    """Return the receiver of a 2-card pod, with that many cards used on each node."""
    residents = {name: [pod(f"r-{name}", name, cards)] for name, cards in used.items()}
    nodes = [node(n) for n in used]
    wish = Wish(pod("v", None, 2), planned, around(nodes), GPU)
    return choose_receiver(wish, nodes, lambda name: residents.get(name, []))


@pytest.mark.parametrize(
    ("planned", "used", "expected"),
    [
        ("n2", {"n1": 6, "n2": 1}, "n2"),
        ("n2", {"n1": 6, "n2": 7}, "n1"),
        ("n2", {"n1": 1, "n2": 7, "n3": 5, "n4": 4}, "n3"),
        ("n2", {"n4": 5, "n3": 5, "n2": 7}, "n3"),
        ("gone", {"n1": 3, "n2": 4}, "n2"),
        ("n1", {"n1": 7, "n2": 8}, None),
    ],
)
def test_planned_first_then_the_fullest(planned: str, used: dict[str, int], expected: str | None) -> None:
    assert choose(planned, **used) == expected


# ---- the live view ----
def test_view_follows_pods_from_node_to_node() -> None:
    view = LiveView([node("n1"), node("n2")], [pod("a", None, 1, nominated_node="n1")])
    assert [p.name for p in view.residents("n1")] == ["a"]
    view.apply(PodEvent("MODIFIED", pod("a", "n2", 1), "2"))
    assert (view.residents("n1"), [p.name for p in view.residents("n2")]) == ((), ["a"])
    view.apply(PodEvent("DELETED", pod("a", "n2", 1), "3"))
    assert view.residents("n2") == ()
    assert list(view.pods()) == []


def test_late_word_of_a_predecessor_does_not_remove_its_successor() -> None:
    view = LiveView([], [pod("a", "n1", 1, uid="new")])
    view.apply(PodEvent("DELETED", pod("a", "n0", 1, uid="old"), "3"))
    assert view.pod(("team", "a"), "new") is not None
    assert view.pod(("team", "a"), "old") is None


def test_a_list_replaces_everything() -> None:
    view = LiveView([], [pod("a", "n1", 1)])
    assert [p.name for p in view.apply(PodList((pod("b", "n1", 1),), "9"))] == ["b"]
    assert [p.name for p in view.residents("n1")] == ["b"]


def test_what_holds_room() -> None:
    pods = [pod("a", "n1", 1), pod("b", "n1", 1, terminating=True), pod("c", "n1", 1, phase="Succeeded")]
    view = LiveView([], pods)
    assert [view.holds(p.key, p.uid) for p in pods] == [True, True, False]
    assert not view.holds(("team", "a"), "other")


# ---- receivers with promises ----
def relocation(planned: str = "n1", *, selected: str = "", **changes: Any) -> Relocation:
    fields: dict[str, Any] = {
        "namespace": "team",
        "pod_group_name": "pg-v",
        "victim_pod_name": "v",
        "victim_pod_uid": "uid-v",
        "planned_node_name": planned,
        "eviction": EvictionStatus(phase=EvictionPhase.ACCEPTED),
        "placement": PlacementStatus(phase=PlacementPhase.WAITING_FOR_REPLACEMENT, selected_node_name=selected),
        "cards": 2,
    }
    return Relocation(**{**fields, **changes})


def receivers(*pods: Pod, nodes: str = "n1 n2 n0") -> Receivers:
    made = [node(n) for n in nodes.split()]
    rules = Rules(resource=GPU, owners={}, freed=frozenset({"n0"}), known=frozenset(), snapshot=cluster(made, pods))
    return Receivers(LiveView(made, pods), rules)


VICTIM = pod("v", "n0", 2)
ROOM = (pod("r1", "n1", 6), pod("r2", "n2", 5), pod("r0", "n0", 5))


def test_what_is_promised_is_taken() -> None:
    found = receivers(*ROOM)
    assert found.choose(VICTIM, relocation(), (), evicted=False) == "n1"
    assert found.choose(VICTIM, relocation(), [ghost(pod("w", "n0", 1), "n1")], evicted=False) == "n2"


def test_a_promise_kept_is_not_counted_twice() -> None:
    waiting = pod("w", None, 1, nominated_node="n2")
    found = receivers(*ROOM, waiting)
    assert found.fits(VICTIM, "n2", [ghost(waiting, "n2", waiting.uid)])
    assert not found.fits(VICTIM, "n2", [ghost(pod("x", "n0", 1), "n2")])


def test_nodes_that_are_freed_never_receive() -> None:
    assert receivers(pod("r0", "n0", 2)).choose(VICTIM, relocation("n0"), (), evicted=True) != "n0"


def test_selected_node_is_kept_while_it_fits() -> None:
    found = receivers(*ROOM)
    assert found.choose(VICTIM, relocation("n1", selected="n2"), (), evicted=True) == "n2"
    assert found.choose(VICTIM, relocation("n1", selected="n9"), (), evicted=True) == "n1"


def test_receiver_that_ran_empty() -> None:
    """Before the eviction it is no receiver; after it, it is still the best there is."""
    found = receivers()
    assert found.choose(VICTIM, relocation("n1", selected="n1"), (), evicted=False) is None
    assert found.choose(VICTIM, relocation("n1", selected="n1"), (), evicted=True) == "n1"
    assert found.choose(VICTIM, relocation("n1"), (), evicted=True) == "n1"
    assert receivers(nodes="n2").choose(VICTIM, relocation("n1"), (), evicted=True) is None


def test_anti_affinity_of_running_pods() -> None:
    found = receivers(replace(ROOM[0], relations=AVOID), *ROOM[1:])
    assert found.choose(VICTIM, relocation(), (), evicted=False) == "n2"


LONER = Relations(anti_affinity=(AffinityTerm("kubernetes.io/hostname", LabelSelector.of({"app": "x"}), frozenset({"team"})),))


def test_replacements_that_avoid_each_other_are_promised_different_nodes() -> None:
    pairs = [(pod(name, "n0", 1, labels={"app": "x"}, relations=LONER), relocation()) for name in ("v", "w")]
    found = receivers(*ROOM, *(p for p, _ in pairs))
    assert found.together(pairs, ()) is None
    third = (pod("x", "n0", 1, labels={"app": "x"}, relations=LONER), relocation())
    assert "InterPodAffinity" in str(found.together([*pairs, third], ()))
    promised = [ghost(pairs[0][0], "n1")]
    assert found.choose(pairs[1][0], relocation(), promised, evicted=False) == "n2"


def test_other_victims_of_the_node_count_until_they_are_leaving() -> None:
    """Both live in zone z and avoid each other there: the second may follow only if the first goes elsewhere, or is gone."""
    apart = Relations(anti_affinity=(AffinityTerm("zone", LabelSelector.of({"app": "x"}), frozenset({"team"})),))
    victims = [pod(name, "n0", 1, labels={"app": "x"}, relations=apart) for name in ("v", "w")]
    made = [node(n, labels={"zone": "z"}) for n in ("n0", "n1")]
    rules = Rules(GPU, {}, frozenset({"n0"}), frozenset(), cluster(made, [*victims, ROOM[0]]))
    found = Receivers(LiveView(made, [*victims, ROOM[0]]), rules)
    assert found.choose(victims[0], relocation(), (), evicted=False) is None
    assert found.choose(victims[0], relocation(), (), evicted=False, leaving=frozenset({victims[1].uid})) == "n1"


def test_all_victims_together() -> None:
    found = receivers(*ROOM)
    pairs = [(pod(name, "n0", 2), relocation()) for name in ("v", "w")]
    assert found.together(pairs, ()) is None
    why_not = found.together([*pairs, (pod("x", "n0", 2), relocation())], ())
    assert why_not == "no node can take team/x now; planned node n1: NodeResourcesFit: nvidia.com/gpu: needs 2, idle 0"


def test_planned_node_that_is_gone() -> None:
    assert "planned node n7: it is gone" in str(receivers().together([(VICTIM, relocation("n7"))], ()))
    assert "planned node n0: it is being freed" in str(receivers().together([(VICTIM, relocation("n0"))], ()))


def test_victim_nobody_saw_counts_by_its_cards() -> None:
    promise = shadow(relocation(selected="n2"), GPU, pod("any", "n2", 7))
    assert (promise.requests, promise.nominated_node, promise.node) == ({GPU: 2000}, "n2", None)
    assert receivers(*ROOM).fits(pod("x", None, 1), "n2", [promise])
    assert not receivers(*ROOM).fits(pod("x", None, 2), "n2", [promise])


def test_promises_to_others() -> None:
    promised = {1: pod("a", None, 1), 4: pod("b", None, 1)}
    assert [p.name for p in without(promised, (4,))] == ["a"]


@pytest.mark.parametrize(
    ("eviction", "placement", "flying"),
    [
        (EvictionPhase.PENDING, PlacementPhase.WAITING_FOR_REPLACEMENT, False),
        (EvictionPhase.IN_PROGRESS, PlacementPhase.WAITING_FOR_REPLACEMENT, True),
        (EvictionPhase.ACCEPTED, PlacementPhase.NOMINATED, True),
        (EvictionPhase.INDIRECTLY_REMOVED, PlacementPhase.WAITING_FOR_NODE_SELECTION, True),
        (EvictionPhase.ACCEPTED, PlacementPhase.PLACED, False),
        (EvictionPhase.ACCEPTED, PlacementPhase.TIMED_OUT, False),
        (EvictionPhase.REJECTED, PlacementPhase.WAITING_FOR_REPLACEMENT, False),
    ],
)
def test_in_flight(eviction: EvictionPhase, placement: PlacementPhase, flying: bool) -> None:
    changed = relocation(eviction=EvictionStatus(phase=eviction), placement=PlacementStatus(phase=placement))
    assert in_flight(changed) is flying


# ---- matching ----
WEB = Owner("apps/v1", "ReplicaSet", "web", "uid-1")
JOB = Owner("batch.volcano.sh/v1alpha1", "Job", "v", "uid-2")


@pytest.mark.parametrize(
    ("found", "owner", "group_owner", "expected"),
    [
        (pod("v", None, 2, uid="new", owner=JOB), JOB, JOB, True),
        (pod("v", None, 2, uid="new", owner=replace(JOB, uid="made-anew")), JOB, JOB, True),
        (pod("v", None, 2, uid="new", owner=JOB), None, None, True),
        (pod("v", None, 2, uid="new", owner=None), JOB, JOB, False),
        (pod("v", None, 2, uid="new", owner=replace(JOB, name="else")), JOB, JOB, False),
        (pod("v", None, 2, uid="uid-v", owner=JOB), JOB, JOB, False),
        (pod("v", None, 2, uid="new", owner=JOB, namespace="other"), JOB, JOB, False),
        (pod("w", None, 2, owner=JOB), JOB, JOB, False),
        (pod("web-x", None, 2, owner=WEB), WEB, JOB, True),
        (pod("web-x", None, 2, owner=replace(WEB, name="api")), WEB, WEB, False),
        (pod("web-x", None, 2, owner=replace(WEB, api_version="x/v1")), WEB, WEB, False),
        (pod("web-x", None, 2, owner=WEB), None, WEB, True),
        (pod("web-x", None, 2, "pg-v", owner=WEB), None, None, True),
        (pod("web-x", None, 2, "pg-w", owner=WEB), None, None, False),
        (pod("web-x", None, 2, "pg-w", owner=WEB), None, JOB, False),
    ],
)
def test_who_replaces_whom(found: Pod, owner: Owner | None, group_owner: Owner | None, expected: bool) -> None:
    assert replaces(found, relocation(), owner, group_owner) is expected
