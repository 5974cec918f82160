"""VCJob policies; the same table is held against Volcano's own controller in tests/real/cascade."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.cluster import JobPolicy, VolcanoJob
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Unit
from tests.unit.planner.cascade.workloads import foretold, job, names, policy, view, worker

PODS = (worker(0, partition="0"), worker(1, partition="0"), worker(2, partition="1"), worker(0, "ps"))
ALL = {"worker-0", "worker-1", "worker-2", "ps-0"}
WORKERS = {"worker-0", "worker-1", "worker-2"}


def told(volcano_job: VolcanoJob, victim: str = "worker-0") -> Forecast:
    return foretold(view(*PODS, volcano_job=volcano_job), victim)


def refusal(forecast: Forecast) -> Code | None:
    return forecast.refusal.code if forecast.refusal else None


@pytest.mark.parametrize(
    ("action", "unit", "restarts"),
    [
        ("RestartPod", Unit.POD, {"worker-0"}),
        ("RestartPartition", Unit.PARTITION, {"worker-0", "worker-1"}),
        ("RestartTask", Unit.TASK, WORKERS),
        ("RestartJob", Unit.JOB, ALL),
    ],
)
def test_p56_the_cascade_is_the_whole_unit_and_each_counts_a_retry(action: str, unit: Unit, restarts: set[str]) -> None:
    forecast = told(job(policy("PodEvicted", action)))
    assert (forecast.unit, names(forecast)) == (unit, restarts)
    assert forecast.retries is not None
    assert (forecast.retries.left, forecast.retries.cost) == (2, 1)


@pytest.mark.parametrize(
    "event", ["*", "PodEvicted", "PodFailed", "Unknown", "JobUnknown", "TaskFailed", "PodPending", "NewOne"]
)
def test_events_that_an_eviction_may_raise(event: str) -> None:
    assert names(told(job(policy(event, "RestartJob")))) == ALL
    assert refusal(told(job(policy(event, "AbortJob")))) is Code.FATAL_POLICY


@pytest.mark.parametrize("event", ["TaskCompleted", "OutOfSync", "CommandIssued", "JobUpdated"])
def test_events_that_it_does_not_raise(event: str) -> None:
    forecast = told(job(policy(event, "AbortJob")))
    assert (refusal(forecast), names(forecast), forecast.retries) == (None, {"worker-0"}, None)


def test_without_policies_only_the_pod_restarts_and_nothing_counts() -> None:
    forecast = told(job())
    assert (names(forecast), forecast.retries, forecast.cascades) == ({"worker-0"}, None, False)


@pytest.mark.parametrize("action", ["SyncJob", "EnqueueJob", "ResumeJob", ""])
def test_actions_that_do_nothing(action: str) -> None:
    assert told(job(policy("PodEvicted", action))).retries is None


def test_p58_restarting_and_terminating_together_is_fatal() -> None:
    found = told(job(policy("PodEvicted", "RestartJob"), policy("PodFailed", "TerminateJob")))
    assert refusal(found) is Code.FATAL_POLICY
    assert found.refusal is not None
    assert "PodEvicted -> RestartJob, PodFailed -> TerminateJob" in found.refusal.detail


@pytest.mark.parametrize("action", ["TerminateJob", "AbortJob", "CompleteJob"])
def test_p59_a_job_that_ends_is_never_touched(action: str) -> None:
    assert refusal(told(job(policy("PodEvicted", action)))) is Code.FATAL_POLICY


def test_an_action_of_a_later_release_is_unknown() -> None:
    assert refusal(told(job(policy("PodEvicted", "RestartHalf")))) is Code.UNKNOWN_POLICY


class TestOrder:
    """Policies of the task come first, and in a list the first that names the event."""

    def test_a_task_overrides_its_job(self) -> None:
        tasks = {"worker": (policy("PodEvicted", "RestartPod"),)}
        overridden = job(policy("PodEvicted", "AbortJob"), tasks=tasks)
        assert names(told(overridden)) == {"worker-0"}
        assert refusal(told(overridden, "ps-0")) is Code.FATAL_POLICY

    def test_only_for_the_events_it_names(self) -> None:
        tasks = {"worker": (policy("PodEvicted", "RestartPod"),)}
        assert refusal(told(job(policy("PodFailed", "AbortJob"), tasks=tasks))) is Code.FATAL_POLICY

    def test_policies_of_another_task_do_not_count(self) -> None:
        assert told(job(tasks={"ps": (policy("PodEvicted", "AbortJob"),)})).refusal is None

    def test_the_first_wins(self) -> None:
        two = (policy("PodEvicted", "RestartPod"), policy("PodEvicted", "AbortJob"))
        assert told(job(*two)).refusal is None
        assert refusal(told(job(*reversed(two)))) is Code.FATAL_POLICY

    def test_an_exit_code_before_counts_and_after_does_not(self) -> None:
        failed, code = policy("PodFailed", "RestartPod"), policy(None, "AbortJob")
        assert refusal(told(job(code, failed))) is Code.FATAL_POLICY
        assert told(job(failed, code)).refusal is None

    def test_an_event_of_the_job_has_no_task(self) -> None:
        tasks = {"worker": (policy("*", "RestartPod"),)}
        assert refusal(told(job(policy("Unknown", "AbortJob"), tasks=tasks))) is Code.FATAL_POLICY

    def test_without_the_label_it_may_be_any_task(self) -> None:
        bare = replace(worker(7, "any"), labels={})
        snapshot = view(*PODS, bare, volcano_job=job(tasks={"ps": (policy("PodEvicted", "AbortJob"),)}))
        assert refusal(foretold(snapshot, "any-7")) is Code.FATAL_POLICY
        snapshot = view(*PODS, bare, volcano_job=job(policy("PodEvicted", "RestartTask")))
        assert names(foretold(snapshot, "any-7")) == ALL | {"any-7"}


class TestRetries:
    def left(self, found: VolcanoJob) -> int:
        retries = told(found).retries
        assert retries is not None
        return retries.left

    def test_the_retry_that_reaches_max_retry_ends_the_job(self) -> None:
        restart = policy("PodEvicted", "RestartPod")
        assert self.left(job(restart)) == 2
        assert self.left(job(restart, retry_count=1)) == 1
        assert self.left(job(restart, retry_count=2)) == 0
        assert self.left(job(restart, max_retry=1)) == 0

    def test_members_on_their_way_out_are_not_counted_yet_by_volcano(self) -> None:
        leaving = worker(9, terminating=True)
        snapshot = view(*PODS, leaving, volcano_job=job(policy("PodEvicted", "RestartJob")))
        forecast = foretold(snapshot, "worker-0")
        assert forecast.retries is not None
        assert forecast.retries.left == 1
        assert names(forecast) == ALL

    @pytest.mark.parametrize(
        ("policies", "cost"),
        [
            # RestartJob makes an Unknown that follows outdated; RestartPod does not.
            ((policy("PodEvicted", "RestartJob"), policy("Unknown", "RestartJob")), 1),
            ((policy("PodEvicted", "RestartPod"), policy("Unknown", "RestartJob")), 2),
            ((policy("Unknown", "RestartJob"),), 1),
            ((policy("*", "RestartJob"),), 1),
            ((policy("*", "RestartPod"),), 2),
        ],
    )
    def test_what_an_eviction_costs(self, policies: tuple[JobPolicy, ...], cost: int) -> None:
        retries = told(job(*policies)).retries
        assert retries is not None
        assert retries.cost == cost


@pytest.mark.parametrize("phase", ["Aborting", "Aborted", "Completing", "Completed", "Terminating", "Terminated", "Failed"])
def test_a_job_that_ends_recreates_nothing(phase: str) -> None:
    assert refusal(told(job(phase=phase))) is Code.OWNER_NOT_FOUND


@pytest.mark.parametrize("phase", ["", "Pending", "Running", "Restarting"])
def test_a_job_that_lives(phase: str) -> None:
    assert told(job(phase=phase)).refusal is None


def test_p64_succeeded_members_are_run_again_by_a_restart_of_the_job() -> None:
    done = worker(8, phase="Succeeded")
    snapshot = view(*PODS, done, volcano_job=job(policy("PodEvicted", "RestartJob")))
    assert names(foretold(snapshot, "worker-0")) == ALL | {"worker-8"}
