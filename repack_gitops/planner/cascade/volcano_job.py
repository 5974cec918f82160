"""VCJob (batch.volcano.sh): its lifecycle policies, read as the job controller of Volcano 1.14.1 reads them.

Sources: ``pkg/controllers/job`` of Volcano 1.14.1 (``applyPolicies``, ``updatePod``, ``deletePod``, ``updatePodGroup``,
``killPods``, ``state/``), and ``tests/real/cascade``, which holds this module against that controller.

* Events. The removal of a pod raises PodEvicted. A kubelet that reports Failed before raises PodFailed first, with the
  exit code of the first container. While a gang lacks a member its PodGroup may become Unknown, which raises Unknown. A
  replacement raises PodPending. Peers that lose a member may fail or restart: TaskFailed. OutOfSync, CommandIssued,
  JobUpdated and TaskCompleted are not raised by an eviction. What is not known counts as raised.
* Order. For an event of a pod the policies of its task come before those of the job; in each list the first that names
  the event or ``*`` wins, and for PodFailed an exit code wins over policies that follow it. Unknown belongs to no task.
* Counting. RestartJob, RestartTask, RestartPartition and RestartPod add one to ``status.retryCount``; once that reaches
  ``spec.maxRetry`` the job is Failed and all of its pods go. RestartJob makes later events of the old pods outdated, the
  others do not, so an Unknown that follows them counts once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repack_gitops.model.cluster import JobPolicy, Key, Owner, Pod, VolcanoJob
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Retries, Unit, idle, only, refused, title
from repack_gitops.planner.cascade.members import Members

TASK, PARTITION, JOB = "volcano.sh/task-spec", "volcano.sh/partition-id", "volcano.sh/job-name"

HARMLESS = frozenset({"TaskCompleted", "OutOfSync", "CommandIssued", "JobUpdated"})
#: Raised for the victim or its replacement.
_RAISED = frozenset({"PodEvicted", "PodFailed", "PodPending", "TaskFailed"})
#: Raised for the job as a whole.
_OF_JOB = frozenset({"Unknown", "JobUnknown"})

_FATAL = frozenset({"AbortJob", "TerminateJob", "CompleteJob"})
_UNITS = {"RestartPod": Unit.POD, "RestartPartition": Unit.PARTITION, "RestartTask": Unit.TASK, "RestartJob": Unit.JOB}
#: The controller's way to say that nothing happens but the usual: the missing pod is created.
_NOTHING = frozenset({"", "SyncJob", "EnqueueJob", "ResumeJob"})
_ENDING = frozenset({"Aborting", "Aborted", "Completing", "Completed", "Terminating", "Terminated", "Failed"})


@dataclass(frozen=True, slots=True)
class Reaction:
    """The policies that act when a member of one task is evicted: on events of the pod, and on events of the job."""

    of_pod: tuple[JobPolicy, ...]
    of_job: tuple[JobPolicy, ...]

    @property
    def policies(self) -> tuple[JobPolicy, ...]:
        """All of them."""
        return tuple(dict.fromkeys((*self.of_pod, *self.of_job)))


def forecast(pod: Pod, owner: Owner, job: VolcanoJob, reaction: Reaction, members: Members) -> Forecast:
    """Return what evicting ``pod``, a member of ``job``, does; ``reaction`` is that of its task."""
    if job.deleting or job.phase in _ENDING:
        return idle(pod, owner, "is being deleted" if job.deleting else f"is {job.phase}")
    reacting, name = reaction.policies, title(pod, owner)
    if any(p.action in _FATAL for p in reacting):
        return refused(pod, owner, Code.FATAL_POLICY, f"{name} would end: {describe(reacting)}")
    if any(p.action not in _UNITS for p in reacting):
        return refused(pod, owner, Code.UNKNOWN_POLICY, f"nobody knows what {name} does: {describe(reacting)}")
    if not reacting:
        return only(pod, owner)
    unit, restarts = _restarts(pod, reaction, members)
    left = job.max_retry - 1 - job.retry_count - members.leaving_with(pod)
    retries = Retries(("Job.batch.volcano.sh", job.namespace, job.name), left, _cost(reaction))
    return Forecast(owner, unit, restarts, retries, why=describe(reacting))


def reaction_to(job: VolcanoJob, task: str | None) -> Reaction:
    """Return the policies of ``job`` that act when a member of ``task`` is evicted.

    Where the task is not known (None) it may be any of those with policies, or another.
    """
    every = [*job.policies, *(p for found in job.task_policies.values() for p in found)]
    named = frozenset(e for p in every for e in p.events) - HARMLESS - {"*"} - _OF_JOB
    of_pod: list[JobPolicy] = []
    lists = [job.task_policies.get(task, ())] if task is not None else [*job.task_policies.values(), ()]
    for policies in lists:
        for event in sorted(named | _RAISED):
            of_pod += _winners((*policies, *job.policies), event)
    of_job = [p for event in sorted(_OF_JOB) for p in _winners(job.policies, event)]
    return Reaction(_acting(of_pod), _acting(of_job))


def _winners(policies: Iterable[JobPolicy], event: str) -> list[JobPolicy]:
    """Return the policies that may act on ``event``: the first that names it, and exit codes before it."""
    found = []
    for policy in policies:
        if not policy.events:
            found += [policy] if event == "PodFailed" else []
        elif event in policy.events or "*" in policy.events:
            return [*found, policy]
    return found


def _acting(policies: list[JobPolicy]) -> tuple[JobPolicy, ...]:
    return tuple(dict.fromkeys(p for p in policies if p.action not in _NOTHING))


def _restarts(pod: Pod, reaction: Reaction, members: Members) -> tuple[Unit, frozenset[Key]]:
    """Return the largest unit, which holds the others, and its pods; without labels the job stands for any part of it."""
    # An event of the job has no task and no pod: only RestartJob finds anything to restart then.
    units = {_UNITS[p.action] for p in reaction.of_pod}
    units |= {Unit.JOB for p in reaction.of_job if p.action == "RestartJob"}
    largest = max(units, key=list(Unit).index, default=Unit.POD)
    if largest is Unit.POD:
        return largest, frozenset({pod.key})
    names = {Unit.PARTITION: (JOB, TASK, PARTITION), Unit.TASK: (JOB, TASK), Unit.JOB: ()}[largest]
    found = (members.labelled_as(pod, *names) if names else None) or members.owned_with(pod)
    return largest, found if pod.key in found else found | {pod.key}


def _cost(reaction: Reaction) -> int:
    of_pod, of_job = reaction.of_pod, reaction.of_job
    outdated = bool(of_pod) and all(p.action == "RestartJob" for p in of_pod)
    return bool(of_pod) + (bool(of_job) and not outdated)


def describe(policies: Iterable[JobPolicy]) -> str:
    """Return policies for people: ``PodEvicted/PodFailed -> RestartJob``."""
    return ", ".join(sorted(f"{'/'.join(sorted(p.events - HARMLESS)) or 'exitCode'} -> {p.action}" for p in policies))
