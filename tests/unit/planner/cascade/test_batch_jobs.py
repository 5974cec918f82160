"""batch/v1 Jobs, alone and under a JobSet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.owners import BatchJob, ExitCodes, JobSet, JobSetRule, Owners, PodFailureRule
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Unit
from tests.unit.planner.cascade.workloads import BATCH, foretold, member, names, view

JOBSET = {"jobset.sigs.k8s.io/jobset-name": "set"}
PODS = (member("p0", BATCH, JOBSET), member("p1", BATCH, JOBSET))
SIBLING = replace(member("q0", BATCH, JOBSET), owner=replace(BATCH, name="sibling"))
ALONE = BatchJob("team", "once", 6, None, (), 0)
DISRUPTED = frozenset({("DisruptionTarget", "True")})


def on_disruption(action: str) -> PodFailureRule:
    return PodFailureRule(action, None, DISRUPTED)


def on_codes(action: str, operator: str, *codes: int) -> PodFailureRule:
    return PodFailureRule(action, ExitCodes(operator, frozenset(codes)))


def told(job: BatchJob = ALONE, above: JobSet | None = None, **changes: object) -> Forecast:
    found = replace(job, job_set="set", replicated_job="workers", **changes) if above else replace(job, **changes)  # type: ignore[arg-type]
    owners = Owners(batch_jobs={("team", "once"): found}, job_sets={("team", "set"): above} if above else {})
    return foretold(view(*PODS, SIBLING, owners=owners), "p0")


def refusal(forecast: Forecast) -> Code | None:
    return forecast.refusal.code if forecast.refusal else None


def left(forecast: Forecast) -> int | None:
    return forecast.retries.left if forecast.retries else None


def test_only_the_pod_is_replaced_and_it_counts() -> None:
    forecast = told(failed=2)
    assert (names(forecast), left(forecast), forecast.cascades) == ({"p0"}, 4, False)


@pytest.mark.parametrize(("limit", "failed", "survives"), [(0, 0, 0), (1, 0, 1), (6, 6, 0), (6, 5, 1)])
def test_p74_one_failure_more_than_the_limit_ends_the_job(limit: int, failed: int, survives: int) -> None:
    assert left(told(backoff_limit=limit, failed=failed)) == survives


def test_p74_a_policy_that_ignores_disruptions_makes_limit_0_harmless() -> None:
    forecast = told(backoff_limit=0, rules=(on_disruption("Ignore"),))
    assert (names(forecast), forecast.retries, forecast.refusal) == ({"p0"}, None, None)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ((on_disruption("FailJob"),), Code.FATAL_POLICY),
        ((on_disruption("FailIndex"),), Code.FATAL_POLICY),
        ((on_disruption("Wonder"),), Code.UNKNOWN_POLICY),
        ((on_disruption("Ignore"), on_disruption("FailJob")), None),
        ((on_codes("FailJob", "In", 143), on_disruption("Ignore")), Code.FATAL_POLICY),
        ((on_codes("FailJob", "NotIn", 0), on_disruption("Ignore")), Code.FATAL_POLICY),
        ((on_codes("FailJob", "In", 42), on_disruption("Ignore")), None),
        ((on_codes("FailJob", "NotIn", 1, 130, 137, 143), on_disruption("Ignore")), None),
        ((on_disruption("Ignore"), on_codes("FailJob", "In", 143)), None),
        ((PodFailureRule("FailJob", None, frozenset({("ConfigIssue", "True")})),), None),
        ((PodFailureRule("FailJob", None, frozenset({("DisruptionTarget", "False")})),), None),
    ],
)
def test_the_first_rule_that_may_match_decides_and_the_worst_counts(
    rules: tuple[PodFailureRule, ...], code: Code | None
) -> None:
    assert refusal(told(rules=rules)) is code


def test_an_exit_code_rule_alone_leaves_other_codes_counting() -> None:
    assert left(told(rules=(on_codes("Ignore", "In", 143),))) == 6


@pytest.mark.parametrize(("per_index", "failed", "code"), [(1, 0, None), (1, 1, Code.LAST_RETRY), (0, 0, Code.LAST_RETRY)])
def test_all_failures_are_taken_to_be_of_the_victims_index(per_index: int, failed: int, code: Code | None) -> None:
    forecast = told(backoff_limit=2**31 - 1, backoff_limit_per_index=per_index, failed=failed)
    assert (refusal(forecast), forecast.retries) == (code, None)


def test_a_job_that_is_over_or_suspended_replaces_nothing() -> None:
    assert refusal(told(idle="is suspended")) is Code.OWNER_NOT_FOUND


def test_a_job_that_is_not_in_the_snapshot() -> None:
    assert refusal(foretold(view(*PODS), "p0")) is Code.OWNER_NOT_FOUND


class TestJobSets:
    """The usual: backoffLimit 0, so that one killed pod fails its Job, and the JobSet reacts."""

    CHILD = replace(ALONE, backoff_limit=0)
    SET = JobSet("team", "set", 3, (), 1)

    def test_p73_a_killed_pod_restarts_the_whole_set_and_uses_a_restart(self) -> None:
        forecast = told(self.CHILD, self.SET)
        assert (forecast.unit, names(forecast), left(forecast)) == (Unit.JOB_SET, {"p0", "p1", "q0"}, 2)
        assert forecast.owner.kind == "JobSet"

    def test_p73_at_max_restarts_none_is_left(self) -> None:
        assert left(told(self.CHILD, replace(self.SET, restarts=3))) == 0

    def test_p73_or_the_pod_is_only_replaced_where_its_job_has_a_limit(self) -> None:
        forecast = told(replace(ALONE, backoff_limit=1), self.SET)
        assert (names(forecast), left(forecast), forecast.owner.kind) == ({"p0"}, 1, "Job")

    def test_without_a_failure_policy_the_set_fails(self) -> None:
        assert refusal(told(self.CHILD, replace(self.SET, max_restarts=None))) is Code.FATAL_POLICY

    @pytest.mark.parametrize(
        ("rule", "unit", "survives", "code"),
        [
            (JobSetRule("FailJobSet"), Unit.POD, None, Code.FATAL_POLICY),
            (JobSetRule("RestartJobSetAndIgnoreMaxRestarts"), Unit.JOB_SET, None, None),
            (JobSetRule("RestartJob"), Unit.JOB, 2, None),
            (JobSetRule("RecreateJob"), Unit.JOB, 2, None),
            (JobSetRule("Wonder"), Unit.POD, None, Code.UNKNOWN_POLICY),
            (JobSetRule("FailJobSet", reasons=frozenset({"PodFailurePolicy"})), Unit.JOB_SET, 2, None),
            (JobSetRule("FailJobSet", targets=frozenset({"driver"})), Unit.JOB_SET, 2, None),
            (JobSetRule("FailJobSet", targets=frozenset({"workers"})), Unit.POD, None, Code.FATAL_POLICY),
        ],
    )
    def test_rules(self, rule: JobSetRule, unit: Unit, survives: int | None, code: Code | None) -> None:
        forecast = told(self.CHILD, replace(self.SET, rules=(rule,)))
        assert (forecast.unit, left(forecast), refusal(forecast)) == (unit, survives, code)

    def test_a_job_failed_by_its_policy_has_that_reason(self) -> None:
        ends = replace(ALONE, rules=(on_disruption("FailJob"),))
        rule = JobSetRule("FailJobSet", reasons=frozenset({"PodFailurePolicy"}))
        assert refusal(told(ends, replace(self.SET, rules=(rule,)))) is Code.FATAL_POLICY
        assert refusal(told(ends, self.SET)) is None

    def test_a_set_that_is_idle_or_not_there(self) -> None:
        assert refusal(told(self.CHILD, replace(self.SET, idle="is suspended"))) is Code.OWNER_NOT_FOUND
        child = replace(self.CHILD, job_set="set")
        snapshot = view(*PODS, owners=Owners(batch_jobs={("team", "once"): child}))
        assert refusal(foretold(snapshot, "p0")) is Code.OWNER_NOT_FOUND
