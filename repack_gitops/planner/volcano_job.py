"""What a VCJob's lifecycle policies make of an eviction.

Until the cascade forecast exists, a job whose policies react to an eviction is left alone: restarting policies burn a
retry each time (the last one kills the job), and aborting ones end it. Measured on Volcano 1.14.1.
"""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, JobPolicy, Owner, Pod
from repack_gitops.model.plan import Code, Reason

#: Events that an eviction does not raise. Every other one counts as raised, also one that we do not know: the eviction
#: itself, what the killed containers and the PodGroup go through, and the replacement on its way (PodPending, PodRunning).
HARMLESS = frozenset({"TaskCompleted", "OutOfSync", "CommandIssued", "JobUpdated"})
FATAL = frozenset({"AbortJob", "TerminateJob", "CompleteJob"})


def why_not_evict(pod: Pod, owner: Owner, snapshot: ClusterSnapshot) -> Reason | None:
    """Return why a member of VCJob ``owner`` must not be evicted, or None.

    A snapshot without any VCJob says nothing about policies (the evaluation warns); one with some must hold this one.
    """
    if not snapshot.volcano_jobs:
        return None
    job = snapshot.volcano_jobs.get((pod.namespace, owner.name))
    if job is None:
        return Reason(Code.OWNER_NOT_FOUND, f"Job.batch.volcano.sh {pod.namespace}/{owner.name} is not in the snapshot")
    name = f"Job.batch.volcano.sh {job.namespace}/{job.name}"
    if job.deleting:
        return Reason(Code.OWNER_NOT_FOUND, f"{name} is being deleted and recreates nothing")
    policies = [*job.policies, *(p for found in job.task_policies.values() for p in found)]
    reacting = [p for p in policies if _reacts(p)]
    if any(p.action in FATAL for p in reacting):
        return Reason(Code.FATAL_POLICY, f"{name} would end: {_describe(reacting)}")
    if reacting:
        return Reason(Code.CASCADING_POLICY, f"{name} would restart more than the pod: {_describe(reacting)}")
    return None


def _reacts(policy: JobPolicy) -> bool:
    """A policy without events goes by exit codes, and with which one an evicted container ends is its own business."""
    return not policy.events or bool(policy.events - HARMLESS)


def _describe(policies: list[JobPolicy]) -> str:
    return ", ".join(sorted(f"{'/'.join(sorted(p.events - HARMLESS)) or 'exitCode'} -> {p.action}" for p in policies))
