"""Envelope, drift, guardrails and tickets: what an approval allows, and what nobody may exceed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.model.options import Envelope, PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.policy import Caps, ChangeTicket, Guardrails, GuardrailsSpec, PolicyMetadata
from repack_gitops.model.run import (
    PodGroupScope,
    PodGroupSet,
    RepackRun,
    RunMetadata,
    RunTemplateSpec,
    Scope,
    new_run,
    run_spec,
)
from repack_gitops.model.status import plan_status
from repack_gitops.planner import evaluate
from repack_gitops.policy.envelope import drift, envelope_of
from repack_gitops.policy.guardrails import MOST_PODS, guarded_options, violations
from repack_gitops.policy.names import CHANGE_TICKET
from repack_gitops.policy.ticket import ticket_of, why_not_ticket
from tests.unit.planner.build import cluster, layout, node, pod, spec


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    """Two nodes freed, two pods, four cards."""
    found = evaluate(layout([2, 2, 4, 6]), spec())
    assert (len(found.steps), found.disruption.moved_cards, found.disruption.pod_groups) == (2, 4, 2)
    return found


# ---- envelope ----
@pytest.mark.parametrize("kind", ["Subset", "Exact"])
def test_envelope_is_what_was_planned(kind: Any, evaluation: Evaluation) -> None:
    found = envelope_of(kind, plan_status(evaluation))
    assert found == Envelope(
        pod_groups=frozenset({("team", "pg-p0"), ("team", "pg-p1")}), nodes=frozenset({"n0", "n1"}), cards=4
    )


def test_budget_leaves_the_runs_own_limits(evaluation: Evaluation) -> None:
    assert envelope_of("Budget", plan_status(evaluation)) == Envelope()


def test_an_empty_plan_allows_nothing() -> None:
    compact = plan_status(evaluate(layout([8, 8]), spec()))
    assert envelope_of("Subset", compact) == Envelope(pod_groups=frozenset(), nodes=frozenset(), cards=0)


def test_no_drift(evaluation: Evaluation) -> None:
    assert drift(plan_status(evaluation), evaluation) == ()


def test_order_is_no_drift(evaluation: Evaluation) -> None:
    assert drift(plan_status(evaluation), replace(evaluation, steps=evaluation.steps[::-1])) == ()


def test_drift_names_what_is_missing_and_what_is_new(evaluation: Evaluation) -> None:
    step = evaluation.steps[0]
    move = replace(step.moves[0], to_node="n9")
    changed = replace(evaluation, steps=(replace(step, moves=(move,)), *evaluation.steps[1:]))
    missing, added = drift(plan_status(evaluation), changed)
    assert missing == f"no longer planned: team/{move.pod} {step.node} -> {step.moves[0].to_node}"
    assert added == f"not approved: team/{move.pod} {step.node} -> n9"


def test_nothing_left_is_drift(evaluation: Evaluation) -> None:
    assert len(drift(plan_status(evaluation), replace(evaluation, steps=()))) == 2


# ---- guardrails ----
def guardrails(**fields: Any) -> Guardrails:
    return Guardrails(
        api_version="gitops.repack.volcano.sh/v1alpha1",
        kind="Guardrails",
        metadata=PolicyMetadata(name="guardrails"),
        spec=GuardrailsSpec(**fields),
    )


@pytest.mark.parametrize(
    ("caps", "broken"),
    [
        (Caps(), 0),
        (Caps(cards=4, pod_groups=2, nodes=2), 0),
        (Caps(cards=3), 1),
        (Caps(pod_groups=1), 1),
        (Caps(nodes=1), 1),
        (Caps(cards=0, pod_groups=0, nodes=0), 3),
    ],
)
def test_caps(caps: Caps, broken: int, evaluation: Evaluation) -> None:
    assert len(violations(guardrails(max_per_run=caps), spec(), evaluation)) == broken


def test_violation_names_both_numbers(evaluation: Evaluation) -> None:
    found = violations(guardrails(max_per_run=Caps(cards=3)), spec(), evaluation)
    assert found == ("maxPerRun.cards: the plan has 4, the guardrails allow 3",)


@pytest.mark.parametrize(
    ("scope", "broken"),
    [
        (None, True),
        (Scope(), True),
        (Scope(pod_groups=PodGroupScope()), True),
        (Scope(pod_groups=PodGroupScope(exclude=PodGroupSet(names=["team/x"]))), True),
        (Scope(pod_groups=PodGroupScope(include=PodGroupSet(names=["team/x"]))), False),
    ],
)
def test_required_scope(scope: Scope | None, broken: bool, evaluation: Evaluation) -> None:
    asked: RunTemplateSpec = spec(scope=scope)
    assert bool(violations(guardrails(require_pod_group_scope=True), asked, evaluation)) is broken


def test_an_include_that_means_everything_is_no_scope(evaluation: Evaluation) -> None:
    """``include: {}`` means all: it names nothing."""
    asked = spec(scope=Scope(pod_groups=PodGroupScope(include=PodGroupSet())))
    assert violations(guardrails(require_pod_group_scope=True), asked, evaluation)


def test_without_guardrails_nothing_is_broken(evaluation: Evaluation) -> None:
    assert violations(None, spec(), evaluation) == ()
    options = PlannerOptions(strategy="Drain")
    assert guarded_options(None, options) is options


def test_forbidden_is_added_to_what_is_forbidden_already() -> None:
    options = PlannerOptions(
        strategy="Drain",
        scheduler_names=frozenset({"volcano", "x"}),
        envelope=Envelope(cards=3),
        forbidden_namespaces=frozenset({"mine"}),
        forbidden_owner_kinds=frozenset({"RayCluster"}),
    )
    found = guarded_options(guardrails(forbidden_namespaces=["kube-system"], forbidden_owner_kinds=["Job"]), options)
    assert found == replace(
        options,
        forbidden_namespaces=frozenset({"mine", "kube-system"}),
        forbidden_owner_kinds=frozenset({"RayCluster", "Job"}),
    )


def test_forbidden_pods_do_not_move() -> None:
    snapshot = layout([2, 4])
    assert evaluate(snapshot, spec()).steps
    for fields in ({"forbidden_namespaces": ["team"]}, {"forbidden_owner_kinds": ["Job"]}):
        assert not evaluate(snapshot, spec(), guarded_options(guardrails(**fields), PlannerOptions())).steps


# ---- tickets ----
def run(annotation: str = "", label: str = "") -> RepackRun:
    metadata = RunMetadata(
        name="r",
        annotations={CHANGE_TICKET: annotation} if annotation else {},
        labels={"change-ticket": label} if label else {},
    )
    return new_run(metadata, run_spec(spec(), "Execute"))


@pytest.mark.parametrize(
    ("annotation", "label", "ticket"), [("", "", ""), ("CHG1", "", "CHG1"), ("", "CHG2", "CHG2"), ("CHG1", "CHG2", "CHG1")]
)
def test_where_the_ticket_stands(annotation: str, label: str, ticket: str) -> None:
    assert ticket_of(run(annotation, label)) == ticket


@pytest.mark.parametrize(
    ("rule", "ticket", "ok"),
    [
        (ChangeTicket(), "", True),
        (ChangeTicket(), "anything", True),
        (ChangeTicket(required=True), "", False),
        (ChangeTicket(required=True), "CHG0001234", True),
        (ChangeTicket(pattern="CHG[0-9]{7}"), "", True),
        (ChangeTicket(pattern="CHG[0-9]{7}"), "CHG0001234", True),
        (ChangeTicket(pattern="CHG[0-9]{7}"), "xCHG0001234", False),
        (ChangeTicket(pattern="CHG[0-9]{7}"), "CHG0001234x", False),
        (ChangeTicket(pattern="CHG[0-9]{7}"), "CHG0001234\n", False),
        (ChangeTicket(pattern="CHG[0-9]{7}"), "chg0001234", False),
        (ChangeTicket(pattern="A|B"), "AB", False),
    ],
)
def test_ticket_rule(rule: ChangeTicket, ticket: str, ok: bool) -> None:
    assert (why_not_ticket(rule, run(ticket)) is None) is ok


def test_ticket_refusal_says_why() -> None:
    assert why_not_ticket(ChangeTicket(required=True), run()) == "a change ticket is required"
    assert why_not_ticket(ChangeTicket(pattern="X"), run("Y")) == "change ticket 'Y' does not match 'X'"


def test_a_run_never_moves_more_pods_than_its_journal_can_hold() -> None:
    nodes = [node(f"n{i:04}") for i in range(1100)]
    pods = [pod(f"p{i:04}-{k}", f"n{i:04}", 1) for i in range(1100) for k in range(2)]
    evaluation = evaluate(cluster(nodes, pods), spec())
    assert evaluation.disruption.moved_pods > MOST_PODS
    assert violations(None, spec(), evaluation) == (
        f"the plan moves {evaluation.disruption.moved_pods} pods, one run can move 1000: set a maxPerRun",
    )
