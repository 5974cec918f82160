"""From policy and guardrails to the planner's options; and what is recorded of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.errors import InvalidInput
from repack_gitops.model.options import STRATEGIES, Envelope, PlannerOptions
from repack_gitops.model.policy import Guardrails, GuardrailsSpec, PolicyMetadata, PolicySpec, RunTemplate, Trigger
from repack_gitops.model.restart_status import OwnerRef
from repack_gitops.model.run import (
    EvictionPhase,
    EvictionStatus,
    Move,
    PlacementPhase,
    PlacementStatus,
    PlanStatus,
    PlanSummary,
    Relocation,
    RepackRun,
    ResolvedScope,
    RunMetadata,
    RunStatus,
    new_run,
    run_spec,
)
from repack_gitops.model.safeguards import Safeguards
from repack_gitops.model.safety import Safety, SafetyGuardrail
from repack_gitops.model.writing import to_yaml
from repack_gitops.policy.history import PastMove, ended_before, moved_since, past_moves
from repack_gitops.policy.names import PLANNER_OPTIONS
from repack_gitops.policy.replay import noted_options, options_note
from repack_gitops.policy.safety import effective_safety, planner_options, remembered_since
from tests.unit.planner.build import spec

NOW = datetime(2026, 11, 2, 9, 0, 30, 999_000, tzinfo=UTC)


def policy(**safety: Any) -> PolicySpec:
    return PolicySpec(trigger=Trigger(), run_template=RunTemplate(spec=spec()), safety=Safety(**safety))


def guardrails(**safety: Any) -> Guardrails:
    return Guardrails(
        api_version="gitops.repack.volcano.sh/v1alpha1",
        kind="Guardrails",
        metadata=PolicyMetadata(name="guardrails"),
        spec=GuardrailsSpec(safety=SafetyGuardrail(**safety), forbidden_namespaces=["kube-system"]),
    )


def test_a_policy_that_says_nothing_guards_nothing_but_cascades() -> None:
    assert planner_options(policy(), None, NOW) == PlannerOptions()
    assert not planner_options(policy(), None, NOW).allow_cascades
    assert remembered_since(policy(), None, NOW) is None


def test_every_option_reaches_the_planner() -> None:
    options = planner_options(
        policy(
            disruption_budgets="Enforce",
            cascades="Allow",
            min_pod_age="1h",
            max_priority=-3,
            max_pods_per_namespace=4,
            max_pods_per_owner=0,
            local_storage="Forbid",
            recently_moved="1d",
        ),
        None,
        NOW,
        [PastMove(("team", "PodGroup.scheduling.volcano.sh", "pg"), NOW - timedelta(hours=1))],
        Envelope(cards=3),
    )
    assert options == PlannerOptions(
        envelope=Envelope(cards=3),
        enforce_budgets=True,
        allow_cascades=True,
        safeguards=Safeguards(
            created_before="2026-11-02T08:00:30Z",
            max_priority=-3,
            pods_per_namespace=4,
            pods_per_owner=0,
            allow_local_storage=False,
            recently_moved=frozenset({("team", "PodGroup.scheduling.volcano.sh", "pg")}),
        ),
    )


def test_the_moment_is_one_whatever_its_zone() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert planner_options(policy(min_pod_age="1h"), None, NOW) == planner_options(policy(min_pod_age="1h"), None, elsewhere)


# ---- guardrails: the stricter of both ----
def test_guardrails_that_say_nothing_restrict_nothing() -> None:
    mine = Safety(cascades="Allow", min_pod_age="5m", max_priority=7, max_pods_per_owner=1, recently_moved="2h")
    assert (
        effective_safety(
            policy(cascades="Allow", min_pod_age="5m", max_priority=7, max_pods_per_owner=1, recently_moved="2h"), guardrails()
        )
        == mine
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "stricter"),
    [
        ({"disruption_budgets": "Enforce"}, {}, {"disruption_budgets": "Enforce"}),
        ({}, {"disruption_budgets": "Enforce"}, {"disruption_budgets": "Enforce"}),
        ({"cascades": "Allow"}, {"cascades": "Forbid"}, {"cascades": "Forbid"}),
        ({"cascades": "Forbid"}, {"cascades": "Allow"}, {"cascades": "Forbid"}),
        ({"min_pod_age": "90m"}, {"min_pod_age": "1h"}, {"min_pod_age": "90m"}),
        ({"min_pod_age": "59m"}, {"min_pod_age": "1h"}, {"min_pod_age": "1h"}),
        ({"max_priority": 5}, {"max_priority": -5}, {"max_priority": -5}),
        ({"max_priority": 0}, {}, {"max_priority": 0}),
        ({}, {"max_pods_per_namespace": 0}, {"max_pods_per_namespace": 0}),
        ({"max_pods_per_owner": 2}, {"max_pods_per_owner": 3}, {"max_pods_per_owner": 2}),
        ({}, {"local_storage": "Forbid"}, {"local_storage": "Forbid"}),
        ({"recently_moved": "1d"}, {"recently_moved": "7d"}, {"recently_moved": "7d"}),
    ],
)
def test_the_stricter_of_both_wins(mine: dict[str, Any], theirs: dict[str, Any], stricter: dict[str, Any]) -> None:
    assert effective_safety(policy(**mine), guardrails(**theirs)) == Safety(**stricter)


def test_guardrails_alone_make_the_history_needed_and_forbid_namespaces_as_before() -> None:
    assert remembered_since(policy(), guardrails(recently_moved="1h"), NOW) == NOW - timedelta(hours=1)
    assert planner_options(policy(), guardrails(), NOW).forbidden_namespaces == {"kube-system"}


# ---- row 124: what past runs moved ----
def relocation(name: str, phase: EvictionPhase, group: str = "pg", replacement: str = "") -> Relocation:
    return Relocation(
        namespace="team",
        pod_group_name=group,
        victim_pod_name=name,
        planned_node_name="b",
        eviction=EvictionStatus(phase=phase),
        placement=PlacementStatus(phase=PlacementPhase.PLACED),
        replacement_pod_group_name=replacement,
    )


def result(ended: str, *relocations: Relocation, owner: OwnerRef | None = None) -> RepackRun:
    summary = PlanSummary(50, 0, 1, 1, ResolvedScope(1, 2))
    moves = [Move("team", group, 1, [], owner) for group in dict.fromkeys(r.pod_group_name for r in relocations)]
    status = RunStatus(phase="Succeeded", completion_time=ended, plan=PlanStatus(summary, moves), relocations=list(relocations))
    return new_run(RunMetadata(name="r"), run_spec(spec(), "Execute"), status)


PG, JOB = "PodGroup.scheduling.volcano.sh", "Job.batch.volcano.sh"
OWNER = OwnerRef("batch.volcano.sh/v1alpha1", "Job", "train")


def test_row_124_what_a_run_moved_ten_minutes_ago_is_remembered() -> None:
    past = past_moves(result("2026-11-02T08:50:30Z", relocation("p", EvictionPhase.ACCEPTED, "pg", "pg-2"), owner=OWNER))
    options = planner_options(policy(recently_moved="30m"), None, NOW, past)
    assert options.safeguards.recently_moved == {("team", PG, "pg"), ("team", PG, "pg-2"), ("team", JOB, "train")}
    assert planner_options(policy(recently_moved="10m"), None, NOW, past).safeguards.recently_moved == frozenset()
    assert planner_options(policy(), None, NOW, past) == PlannerOptions()


@pytest.mark.parametrize(
    ("phase", "counts"),
    [
        (EvictionPhase.ACCEPTED, True),
        (EvictionPhase.INDIRECTLY_REMOVED, True),
        (EvictionPhase.REJECTED, False),
        (EvictionPhase.PENDING, False),
        (EvictionPhase.IN_PROGRESS, False),
    ],
)
def test_only_what_left_was_moved(phase: EvictionPhase, counts: bool) -> None:
    assert bool(past_moves(result("2026-11-02T08:50:30Z", relocation("p", phase), owner=OWNER))) == counts


def test_an_owner_of_which_nothing_moved_is_not_remembered() -> None:
    stayed = relocation("q", EvictionPhase.REJECTED, "other")
    past = past_moves(result("2026-11-02T08:50:30Z", relocation("p", EvictionPhase.ACCEPTED), stayed))
    assert {m.workload for m in past} == {("team", PG, "pg")}


@pytest.mark.parametrize("ended", ["", "yesterday", "2026-11-02T08:50:30"])
def test_a_result_that_does_not_say_when_it_ended_counts_as_recent(ended: str) -> None:
    past = past_moves(result(ended, relocation("p", EvictionPhase.ACCEPTED)))
    assert moved_since(past, NOW) == {("team", PG, "pg")}


@pytest.mark.parametrize(("ended", "before"), [("2026-11-02T09:00:29Z", True), ("2026-11-02T09:00:31Z", False), ("", False)])
def test_old_results_are_told_by_a_look(ended: str, before: bool) -> None:
    text = to_yaml(result(ended, relocation("p", EvictionPhase.ACCEPTED), owner=OWNER))
    assert ended_before(text.encode(), NOW) == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ended by hand\n",
        "completionTime: long ago\n",
        "completionTime: \udcff\n",
        "completionTime: 2026-11-02T09:00:29\n",
        "completionTime: 2020-01-01T00:00:00Z\nstatus:\n  completionTime: 2026-11-02T09:00:31Z\n",
    ],
)
def test_when_in_doubt_a_result_is_read(text: str) -> None:
    assert not ended_before(text.encode(errors="surrogateescape"), NOW)


def test_a_run_without_status_moved_nothing() -> None:
    assert past_moves(new_run(RunMetadata(name="r"), run_spec(spec(), "Execute"))) == frozenset()


# ---- the record in plan.yaml ----
_NAMES = st.frozensets(st.sampled_from(["a", "b", "kube-system"]))
_OPTIONS = st.builds(
    PlannerOptions,
    scheduler_names=st.just(frozenset({"volcano"})) | _NAMES,
    envelope=st.builds(
        Envelope,
        st.none() | st.frozensets(st.tuples(st.just("ns"), st.just("pg"))),
        st.none() | _NAMES,
        st.none() | st.integers(0, 9),
    ),
    forbidden_namespaces=_NAMES,
    strategy=st.sampled_from(STRATEGIES),
    frontier=st.booleans(),
    enforce_budgets=st.booleans(),
    allow_cascades=st.booleans(),
    safeguards=st.builds(
        Safeguards,
        created_before=st.none() | st.just("2026-11-02T08:00:30Z"),
        max_priority=st.none() | st.integers(-5, 5),
        pods_per_namespace=st.none() | st.integers(0, 5),
        allow_local_storage=st.booleans(),
        recently_moved=st.frozensets(st.tuples(st.just("ns"), st.sampled_from([PG, JOB]), st.sampled_from("xyz"))),
    ),
)


@given(_OPTIONS)
def test_recorded_options_are_read_again_as_they_were(options: PlannerOptions) -> None:
    assert noted_options(options_note(options)) == options


@given(_OPTIONS)
def test_the_record_is_the_same_text_every_time(options: PlannerOptions) -> None:
    assert options_note(options) == options_note(noted_options(options_note(options)))


def test_of_defaults_only_the_strategy_is_recorded() -> None:
    """A later release may plan otherwise by default."""
    assert options_note(PlannerOptions()) == {PLANNER_OPTIONS: '{"strategy":"Optimal"}'}
    assert noted_options({}) == PlannerOptions()


@pytest.mark.parametrize("text", ["", "[]", '{"safeguards": 3}', '{"envelope": {"cards": "x"}}'])
def test_a_record_that_somebody_changed_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=PLANNER_OPTIONS):
        noted_options({PLANNER_OPTIONS: text})
