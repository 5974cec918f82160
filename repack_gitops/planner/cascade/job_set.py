"""JobSet (jobset.x-k8s.io): what it does when one of its Jobs fails for good.

Sources: ``pkg/controllers/failure_policy.go`` and the v1alpha2 types of JobSet 0.8 to 0.10. Not tried on its controller.

* Without a failurePolicy the JobSet fails. With one, the first rule for the Job's reason and template decides, else
  RestartJobSet: all Jobs are created anew. That counts; at ``maxRestarts`` the JobSet fails instead.
* RestartJobSetAndIgnoreMaxRestarts counts nothing; RestartJob (RecreateJob before) creates one Job anew, and counts.
* With a backoffLimit of 0, as is usual under a JobSet, one killed pod fails its Job and with that restarts everything.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.owners import BatchJob, JobSet
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Retries, Unit, idle, refused, title
from repack_gitops.planner.cascade.members import Members

NAME = "jobset.sigs.k8s.io/jobset-name"
_ONE_JOB = frozenset({"RestartJob", "RecreateJob"})


def owner_named(name: str) -> Owner:
    """Return the JobSet called ``name`` as an owner; pods name only their Job."""
    return Owner("jobset.x-k8s.io/v1alpha2", "JobSet", name)


def forecast(pod: Pod, job: BatchJob, above: JobSet, reason: str, members: Members) -> Forecast:
    """Return what ``above`` does when its ``job`` fails for ``reason`` because ``pod`` was evicted."""
    owner = owner_named(above.name)
    name = title(pod, owner)
    if above.idle:
        return idle(pod, owner, above.idle)
    if above.max_restarts is None:
        why = f"{name} would fail: it has no failurePolicy, and Job {job.name} would fail ({reason})"
        return refused(pod, owner, Code.FATAL_POLICY, why)
    action, why = _action(job, above, reason), f"Job {job.name} would fail ({reason})"
    retries = Retries((owner.kind, above.namespace, above.name), above.max_restarts - above.restarts)
    every = (members.labelled_as(pod, NAME) or frozenset()) | members.owned_with(pod) | {pod.key}
    match action:
        case "RestartJobSet":
            return Forecast(owner, Unit.JOB_SET, every, retries, why=f"{why} -> {action}")
        case "RestartJobSetAndIgnoreMaxRestarts":
            return Forecast(owner, Unit.JOB_SET, every, why=f"{why} -> {action}")
        case _ if action in _ONE_JOB:
            return Forecast(owner, Unit.JOB, members.owned_with(pod) | {pod.key}, retries, why=f"{why} -> {action}")
        case "FailJobSet":
            return refused(pod, owner, Code.FATAL_POLICY, f"{name} would fail: {why} -> {action}")
    return refused(pod, owner, Code.UNKNOWN_POLICY, f"nobody knows what {name} does: {why} -> {action}")


def _action(job: BatchJob, above: JobSet, reason: str) -> str:
    for rule in above.rules:
        if (not rule.reasons or reason in rule.reasons) and (not rule.targets or job.replicated_job in rule.targets):
            return rule.action
    return "RestartJobSet"
