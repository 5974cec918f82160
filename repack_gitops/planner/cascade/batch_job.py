"""Job (batch/v1): an eviction is a failure of the pod, and failures are counted.

Sources: ``pkg/controller/job`` of Kubernetes 1.36 (``syncJob``, ``matchPodFailurePolicy``, ``isPodFailed``), and
``tests/real/cascade``.

* The Eviction API sets condition DisruptionTarget. The first rule of ``podFailurePolicy`` that matches decides: Ignore
  counts nothing, Count counts, FailIndex gives the index up, FailJob ends the Job. A rule on exit codes may come first;
  ``ENDS_WITH`` are the codes that a container told to stop usually ends with.
* What counts adds to ``status.failed``; one more than ``backoffLimit`` ends the Job. With ``backoffLimitPerIndex`` each
  index has a limit of its own. How often an index failed stands in no status, so all failures of the Job are taken to be
  of that index.
* Either way replacements come late: 10 s, 20 s, 40 s... after the latest failure, ignored ones included (up to 6 min).
* A Job that ends under a JobSet is that one's business: see ``job_set``.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.owners import BatchJob, JobSet, PodFailureRule
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade import job_set
from repack_gitops.planner.cascade.forecast import Forecast, Retries, idle, missing, only, refused, title
from repack_gitops.planner.cascade.members import Members

#: torchrun and others on SIGTERM, SIGINT, SIGKILL, SIGTERM.
ENDS_WITH = (1, 130, 137, 143)
#: The backoffLimit of a Job that has none: with backoffLimitPerIndex it is the default.
UNLIMITED = 2**31 - 1
#: Actions, the worst last.
_ACTIONS = ("Ignore", "Count", "FailIndex", "FailJob")


def forecast(pod: Pod, owner: Owner, job: BatchJob, above: JobSet | None, members: Members) -> Forecast:
    """Return what evicting ``pod``, a pod of ``job``, does; ``above`` is the JobSet of the Job, where it has one."""
    if job.idle:
        return idle(pod, owner, job.idle)
    action, name = _worst(job), title(pod, owner)
    if action == "Ignore":
        return only(pod, owner)
    if action == "FailJob":
        why = f"{name} would end: its podFailurePolicy fails it on DisruptionTarget, or on an exit code of stopped containers"
        return _ended(pod, job, above, "PodFailurePolicy", members) or refused(pod, owner, Code.FATAL_POLICY, why)
    if action == "FailIndex":
        return refused(
            pod, owner, Code.FATAL_POLICY, f"{name} would give up the pod's index: its podFailurePolicy says FailIndex"
        )
    if action != "Count":
        return refused(pod, owner, Code.UNKNOWN_POLICY, f"nobody knows what {name} does: podFailurePolicy {action}")
    return _counted(pod, owner, job, above, members)


def _counted(pod: Pod, owner: Owner, job: BatchJob, above: JobSet | None, members: Members) -> Forecast:
    failed = job.failed + members.leaving_with(pod)
    per_index = job.backoff_limit_per_index
    if per_index is not None and failed + 1 > per_index:
        why = f"{title(pod, owner)} may give up the pod's index: backoffLimitPerIndex is {per_index}, {failed} failures so far"
        return refused(pod, owner, Code.LAST_RETRY, why)
    if job.backoff_limit == UNLIMITED:
        return only(pod, owner)
    left = job.backoff_limit - failed
    if left <= 0 and (ended := _ended(pod, job, above, "BackoffLimitExceeded", members)) is not None:
        return ended
    return only(pod, owner, Retries(("Job.batch", job.namespace, job.name), left), "evictions count towards backoffLimit")


def _ended(pod: Pod, job: BatchJob, above: JobSet | None, reason: str, members: Members) -> Forecast | None:
    """Return what a JobSet makes of the end of ``job``; None where the Job stands by itself."""
    if not job.job_set:
        return None
    if above is None:
        return missing(pod, job_set.owner_named(job.job_set))
    return job_set.forecast(pod, job, above, reason, members)


def _worst(job: BatchJob) -> str:
    """Return the worst action that a failure of an evicted pod may lead to; one that is not known is worse than all."""
    possible = []
    for rule in job.rules:
        if ("DisruptionTarget", "True") in rule.conditions:
            possible.append(rule.action)
            break
        if _by_exit_code(rule):
            possible.append(rule.action)
    else:
        possible.append("Count")
    return max(possible, key=lambda a: _ACTIONS.index(a) if a in _ACTIONS else len(_ACTIONS))


def _by_exit_code(rule: PodFailureRule) -> bool:
    return rule.exit_codes is not None and any(rule.exit_codes.match(code) for code in ENDS_WITH)
