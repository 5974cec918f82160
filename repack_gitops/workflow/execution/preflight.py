"""Everything that must hold before anything is touched; all of it read-only (spec 4.1)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from repack_gitops.errors import Refused
from repack_gitops.kube.interface import Access, Cluster
from repack_gitops.model.duration import parse_duration
from repack_gitops.model.kinds import PLURALS
from repack_gitops.model.policy import RepackPolicy
from repack_gitops.model.run import RepackRun
from repack_gitops.policy.due import why_closed
from repack_gitops.policy.names import PLANNED_AT
from repack_gitops.workflow.clock import parse_timestamp
from repack_gitops.workflow.execution.lock import LEASE_NAME


class PlanExpired(Refused):
    """The approved plan is older than the policy's maxPlanAge."""

    reason = "PlanExpired"


class PreflightFailed(Refused):
    """A permission is missing, or execution is not allowed now."""

    reason = "PreflightFailed"


class PlanDrifted(Refused):
    """The live cluster no longer allows what was approved."""

    reason = "PlanDrifted"


class PreparationFailed(Refused):
    """The live plan could not be made or did not stand up to its judge."""

    reason = "ExecutionPreparationFailed"


class InvalidConfiguration(Refused):
    """What the run asks for means nothing on this cluster."""

    reason = "InvalidConfiguration"


#: Clocks of planner and executor may disagree by that much.
CLOCK_SKEW = timedelta(minutes=5)


def required_access(namespace: str, namespaces: Collection[str]) -> tuple[Access, ...]:
    """Return every permission an executor needs, for victims in ``namespaces``."""
    group = "repack.volcano.sh"
    cluster = [
        *(Access("list", version.rpartition("/")[0], plural) for (version, _), plural in PLURALS.items()),
        Access("get", "", "pods"),
        Access("watch", "", "pods"),
        Access("get", group, "repackruns"),
        Access("create", group, "repackruns"),
        Access("update", group, "repackruns", "status"),
    ]
    coordination = "coordination.k8s.io"
    lease = [
        Access("create", coordination, "leases", namespace=namespace),
        *(Access(verb, coordination, "leases", namespace=namespace, name=LEASE_NAME) for verb in ("get", "update")),
    ]
    victims = [
        access
        for name in sorted(namespaces)
        for access in (
            Access("create", "", "pods", "eviction", namespace=name),
            Access("patch", "", "pods", "status", namespace=name),
        )
    ]
    return (*cluster, *lease, *victims)


def check_access(cluster: Cluster, namespace: str, namespaces: Collection[str]) -> None:
    """Raise PreflightFailed naming every missing permission."""
    missing = [str(a) for a in required_access(namespace, namespaces) if not cluster.allowed(a)]
    if missing:
        raise PreflightFailed(
            f"the executor's service account may not: {'; '.join(missing)}",
            hint="Apply cronjob/ again, or grant these in your own RBAC.",
        )


def check_time(policy: RepackPolicy, plan: RepackRun, now: datetime) -> None:
    """Raise PlanExpired for a plan that is too old, PreflightFailed outside the policy's windows."""
    age, most = now - _planned_at(plan), policy.spec.approval.max_plan_age
    if age < -CLOCK_SKEW:
        raise PreflightFailed(
            f"the plan was made {_hours(-age)} in the future", hint="Nothing was evicted. Compare the clocks, or propose again."
        )
    if age > _duration(most):
        raise PlanExpired(
            f"the plan is {_hours(age)} old; policy {policy.metadata.name} allows {most}",
            hint="Nothing was evicted. The next proposal plans anew.",
        )
    closed = why_closed(policy.spec.windows, now)
    if closed is not None:
        raise PreflightFailed(f"execution is not allowed now: {closed}", hint="Nothing was evicted.")


def why_stale(policy: RepackPolicy, started: str, now: datetime) -> str:
    """Return why an interrupted run may start no further node at ``now``, or an empty string.

    Parameters
    ----------
    started
        RFC 3339: when the live plan was made; after a long interruption the cluster is another one.
    """
    if not started:
        return ""
    age, most = now - parse_timestamp(started), policy.spec.approval.max_plan_age
    return f"the live plan is {_hours(age)} old; policy {policy.metadata.name} allows {most}" if age > _duration(most) else ""


def _planned_at(plan: RepackRun) -> datetime:
    completion = plan.status.completion_time if plan.status else ""
    text = plan.metadata.annotations.get(PLANNED_AT) or completion
    if not text:
        raise PreflightFailed("plan.yaml does not say when it was made", hint="Propose the run again.")
    try:
        planned = parse_timestamp(text)
    except ValueError:
        planned = None
    if planned is None or planned.tzinfo is None:
        raise PreflightFailed(
            f"plan.yaml says it was made at {text!r}, which is no time with a zone", hint="Propose the run again."
        )
    return planned


def _duration(text: str) -> timedelta:
    return timedelta(milliseconds=parse_duration(text))


def _hours(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    return f"{minutes // 60}h{minutes % 60:02d}m"
