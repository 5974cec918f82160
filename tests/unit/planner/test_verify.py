"""The judge: it accepts every plan of the planner, and every way to spoil one is reported."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction

import pytest

from repack_gitops.model.cluster import ClusterSnapshot, Constraints, HostPort, Owner, PodGroup, Taint
from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Code, Evaluation, PodMove, Reason, Stay, Step, Verdict
from repack_gitops.planner import Envelope, PlannerOptions, evaluate
from repack_gitops.planner import verify as verify_module
from repack_gitops.planner.verify import verify
from tests.unit.planner.build import GPU, cluster, layout, node, only_nodes, pod, spec, without_groups
from tests.unit.planner.random_clusters import random_case
from tests.unit.planner.replay import replay_fits

PORT = Constraints(host_ports=(HostPort(80, "TCP", "0.0.0.0"),))  # noqa: S104


def example() -> ClusterSnapshot:
    """Two nodes a and b to empty (three moves), c and d that take their pods, e that is full, f without pods."""
    nodes = [node(n) for n in "abcdef"]
    pods = [pod("a0", "a", 1, "gang"), pod("a1", "a", 1, "gang"), pod("b0", "b", 1, constraints=PORT)]
    pods += [pod(n, n, cards, owner=None) for n, cards in (("c", 5), ("d", 5), ("e", 8))]
    return cluster(nodes, pods, {"gang": 1})


SNAPSHOT = example()
GOOD = evaluate(SNAPSHOT, spec())


def test_the_example_is_what_the_mutations_rely_on() -> None:
    assert verify(SNAPSHOT, spec(), GOOD) == ()
    assert GOOD.freed_nodes == ("b", "a")
    assert [(m.pod, m.to_node) for m in GOOD.moves] == [("b0", "c"), ("a0", "c"), ("a1", "c")]


def first(**changes: object) -> Evaluation:
    """Return the good evaluation with its first move changed."""
    step, *rest = GOOD.steps
    return with_steps(replace(step, moves=(replace(step.moves[0], **changes), *step.moves[1:])), *rest)  # type: ignore[arg-type]


def with_steps(*steps: Step) -> Evaluation:
    return replace(GOOD, steps=steps)


def stranger(**changes: object) -> PodMove:
    return replace(GOOD.moves[0], **changes)  # type: ignore[arg-type]


B, A = GOOD.steps
MUTATIONS: dict[str, Evaluation] = {
    "another resource": replace(GOOD, resource="example.com/other"),
    "verdict: compact": replace(GOOD, verdict=Verdict.NO_FRAGMENTATION),
    "verdict: insufficient": replace(GOOD, verdict=Verdict.INSUFFICIENT),
    "before: occupied": replace(GOOD, before=replace(GOOD.before, occupied=6)),
    "before: optimal": replace(GOOD, before=replace(GOOD.before, optimal=2)),
    "before: providing": replace(GOOD, before=replace(GOOD.before, providing=7)),
    "before: exact": replace(GOOD, before=replace(GOOD.before, exact=not GOOD.before.exact)),
    "after: one node better": replace(GOOD, after=replace(GOOD.after, occupied=GOOD.after.occupied - 1)),
    "after: another optimum": replace(GOOD, after=replace(GOOD.after, optimal=1)),
    "improvement": replace(GOOD, improvement=GOOD.improvement + Fraction(1, 10**9)),
    "no steps": with_steps(),
    "a step missing": with_steps(B),
    "a step twice": with_steps(B, A, B),
    "step: a node that does not exist": with_steps(replace(B, node="nowhere"), A),
    "step: an empty node": with_steps(B, A, Step("f", ())),
    "step: a node that may not be emptied": with_steps(B, A, Step("e", (stranger(pod="e", from_node="e"),))),
    "step: another node's moves": with_steps(replace(B, node="a"), replace(A, node="b")),
    "step: without moves": with_steps(replace(B, moves=()), A),
    "step: a move missing": with_steps(B, replace(A, moves=A.moves[:1])),
    "step: a move twice": with_steps(B, replace(A, moves=(*A.moves, A.moves[0]))),
    "step: a move of another step": with_steps(replace(B, moves=(*B.moves, A.moves[0])), replace(A, moves=A.moves[1:])),
    "move: a pod that does not exist": first(pod="nobody"),
    "move: another namespace": first(namespace="else"),
    "move: another uid": first(uid="uid-of-its-successor"),
    "move: another PodGroup": first(pod_group="gang"),
    "move: a PodGroup that does not exist": first(pod_group="nowhere"),
    "move: another owner": first(owner=Owner("apps/v1", "ReplicaSet", "other")),
    "move: no owner": first(owner=None),
    "move: more cards": first(cards=2),
    "move: from elsewhere": first(from_node="a"),
    "move: to a node that does not exist": first(to_node="nowhere"),
    "move: to a node without room": first(to_node="e"),
    "move: to a node without pods": first(to_node="f"),
    "move: to a node that is freed": first(to_node="a"),
    "move: to where it is": first(to_node="b"),
    "impacts: one missing": replace(GOOD, impacts=GOOD.impacts[1:]),
    "impacts: order": replace(GOOD, impacts=GOOD.impacts[::-1]),
    "impacts: running": replace(GOOD, impacts=(replace(GOOD.impacts[0], running=99), *GOOD.impacts[1:])),
    "impacts: minAvailable": replace(GOOD, impacts=(replace(GOOD.impacts[0], min_available=0), *GOOD.impacts[1:])),
    "impacts: footprint": replace(GOOD, impacts=(replace(GOOD.impacts[0], footprint_cards=0), *GOOD.impacts[1:])),
    "stays: a node missing": replace(GOOD, stays={n: r for n, r in GOOD.stays.items() if n != "e"}),
    "stays: a freed node": replace(GOOD, stays={**GOOD.stays, "a": Stay(Reason(Code.RECEIVES, ""))}),
    "stays: a node without pods": replace(GOOD, stays={**GOOD.stays, "f": Stay(Reason(Code.RECEIVES, ""))}),
    "scope: PodGroups": replace(GOOD, scope_pod_groups=99),
    "scope: nodes": replace(GOOD, scope_nodes=99),
}
MUTATIONS |= {
    f"disruption: {f.name}": replace(GOOD, disruption=replace(GOOD.disruption, **{f.name: 9})) for f in fields(Disruption)
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_spoilt_plan_is_reported(name: str) -> None:
    assert verify(SNAPSHOT, spec(), MUTATIONS[name]) != ()


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("node b is freed twice", "a step twice"),
        ("node nowhere does not exist", "step: a node that does not exist"),
        ("pod team/b0 cannot go to e: NodeResourcesFit: nvidia.com/gpu: needs 1, idle 0", "move: to a node without room"),
        ("pod team/b0 goes to a, which is freed", "move: to a node that is freed"),
        ("pod team/b0 is not what the plan says", "move: another uid"),
        ("the moves of node a are not exactly its pods with nvidia.com/gpu", "step: a move missing"),
    ],
)
def test_it_says_what_is_wrong(said: str, name: str) -> None:
    assert said in verify(SNAPSHOT, spec(), MUTATIONS[name])


def changed_node(name: str, **changes: object) -> Callable[[ClusterSnapshot], ClusterSnapshot]:
    def change(snapshot: ClusterSnapshot) -> ClusterSnapshot:
        nodes = tuple(replace(n, **changes) if n.name == name else n for n in snapshot.nodes)  # type: ignore[arg-type]
        return replace(snapshot, nodes=nodes)

    return change


def changed_pod(name: str, **changes: object) -> Callable[[ClusterSnapshot], ClusterSnapshot]:
    def change(snapshot: ClusterSnapshot) -> ClusterSnapshot:
        pods = tuple(replace(p, **changes) if p.name == name else p for p in snapshot.pods)  # type: ignore[arg-type]
        return replace(snapshot, pods=pods)

    return change


def with_pod(name: str, **arguments: object) -> Callable[[ClusterSnapshot], ClusterSnapshot]:
    def change(snapshot: ClusterSnapshot) -> ClusterSnapshot:
        more = pod(name, **arguments)  # type: ignore[arg-type]
        groups = {
            **snapshot.pod_groups,
            (more.namespace, more.pod_group or ""): PodGroup("team", more.pod_group or "", "", {}, 1),
        }
        return replace(snapshot, pods=tuple(sorted((*snapshot.pods, more), key=lambda p: p.key)), pod_groups=groups)

    return change


DRIFTS: dict[str, Callable[[ClusterSnapshot], ClusterSnapshot]] = {
    "receiver cordoned": changed_node("c", unschedulable=True),
    "receiver not ready": changed_node("c", ready=False),
    "receiver tainted": changed_node("c", taints=(Taint("t", "", "NoSchedule"),)),
    "receiver shrank": changed_node("c", allocatable={GPU: 7_000, "cpu": 64_000, "pods": 110_000}),
    "receiver out of cpu": changed_node("c", allocatable={GPU: 8_000, "cpu": 3_000, "pods": 110_000}),
    "receiver's only pod finished": changed_pod("c", phase="Succeeded"),
    "receiver's only pod is leaving": changed_pod("c", terminating=True),
    "receiver got a pod": with_pod("new", on="c", cards=1),
    "receiver got a nomination": with_pod("new", on=None, cards=1, nominated_node="c"),
    "receiver's port was taken": with_pod("new", on="c", cards=0, constraints=PORT),
    "receiver's port was promised": with_pod("new", on=None, cards=0, constraints=PORT, nominated_node="c"),
    "source got a pod": with_pod("new", on="a", cards=1),
    "source not ready": changed_node("a", ready=False),
    "victim is leaving": changed_pod("a0", terminating=True),
    "victim finished": changed_pod("a0", phase="Succeeded"),
    "victim was replaced": changed_pod("a0", uid="another"),
    "victim lost its controller": changed_pod("a0", owner=None),
    "victim got a constraint": changed_pod("a0", constraints=Constraints(node_selector=(("pool", "x"),))),
    "victim got an undecided constraint": changed_pod("a0", unsupported=("resourceClaims",)),
    "a member of the gang stopped running": changed_pod("a1", phase="Pending"),
}


@pytest.mark.parametrize("name", DRIFTS)
def test_a_plan_for_another_state_is_reported(name: str) -> None:
    assert verify(DRIFTS[name](SNAPSHOT), spec(), GOOD) != ()


@pytest.mark.parametrize(
    "stricter",
    [
        spec(34),
        spec(cards=2),
        spec(pod_groups=1),
        spec(scope=only_nodes("a")),
        spec(scope=without_groups("gang")),
        spec(resource="example.com/other"),
    ],
)
def test_a_plan_for_a_laxer_run_is_reported(stricter: object) -> None:
    assert verify(SNAPSHOT, stricter, GOOD) != ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        PlannerOptions(envelope=Envelope(nodes=frozenset({"a"}))),
        PlannerOptions(envelope=Envelope(pod_groups=frozenset({("team", "gang")}))),
        PlannerOptions(envelope=Envelope(cards=2)),
        PlannerOptions(scheduler_names=frozenset({"other"})),
        PlannerOptions(forbidden_namespaces=frozenset({"team"})),
        PlannerOptions(forbidden_owner_kinds=frozenset({"Job"})),
    ],
)
def test_a_plan_beyond_the_approval_is_reported(options: PlannerOptions) -> None:
    assert verify(SNAPSHOT, spec(), GOOD, options) != ()


class TestAnswersWithoutAPlan:
    def test_compact_is_only_compact_if_it_is(self) -> None:
        fragmented = layout((2, 2))
        wrong = replace(evaluate(layout((8, 8)), spec()), before=evaluate(fragmented, spec()).before)
        assert verify(fragmented, spec(), replace(wrong, after=wrong.before)) != ()

    def test_what_is_compact_is_not_called_insufficient(self) -> None:
        compact = evaluate(layout((8, 8)), spec())
        assert verify(layout((8, 8)), spec(), replace(compact, verdict=Verdict.INSUFFICIENT)) != ()

    def test_insufficient_must_be_below_the_threshold(self) -> None:
        snapshot = layout((1, 5, 0, 0))
        insufficient = evaluate(snapshot, spec(50))
        assert verify(snapshot, spec(50), insufficient) == ()
        assert verify(snapshot, spec(50), replace(insufficient, improvement=Fraction(50))) != ()
        assert verify(snapshot, spec(25), insufficient) != ()


@pytest.mark.parametrize("seed", range(400))
def test_plans_moved_at_random_are_judged_like_a_replay(seed: int) -> None:
    """Send one pod of a good plan to another node: the judge objects exactly if a naive replay finds no room there."""
    case = random_case(seed)
    good = evaluate(case.snapshot, case.spec)
    assert verify(case.snapshot, case.spec, good) == ()
    if not good.moves:
        return
    chosen = good.moves[seed % len(good.moves)]
    for target in case.snapshot.nodes:
        steps = tuple(
            replace(s, moves=tuple(replace(m, to_node=target.name) if m == chosen else m for m in s.moves)) for s in good.steps
        )
        spoilt = replace(good, steps=steps)
        assert (verify(case.snapshot, case.spec, spoilt) == ()) == replay_fits(case.snapshot, spoilt)


def test_the_judge_never_imports_the_search() -> None:
    """Not even through a module that does: what it imports is listed here, and none of it finds plans."""
    tree = ast.parse(inspect.getsource(verify_module))
    imported = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    search = ("drain", "candidates", "trial", "occupancy", "problem", "evaluate", "explain")
    assert not [m for m in imported if m.rpartition(".")[2] in search]
    assert "numpy" not in imported


def test_threshold_is_judged_exactly() -> None:
    third = evaluate(layout((4, 2, 0)), spec())
    assert verify(layout((4, 2, 0)), spec(33), third) == ()
    assert "the gain is below minFragImprovementPercent" in verify(layout((4, 2, 0)), spec(34), third)
