"""The live re-plan under the approved envelope: everything that must hold before anything is touched (spec 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from repack_gitops.errors import InvalidInput, TryAgain
from repack_gitops.kube.interface import Cluster
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.policy import Guardrails, RepackPolicy
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from repack_gitops.policy.envelope import drift, envelope_of
from repack_gitops.policy.guardrails import violations
from repack_gitops.policy.history import PastMove
from repack_gitops.policy.safety import planner_options, remembered_since
from repack_gitops.workflow.books import ApprovedRun
from repack_gitops.workflow.clock import Clock
from repack_gitops.workflow.execution.lock import ExecutorLock
from repack_gitops.workflow.execution.preflight import (
    InvalidConfiguration,
    PlanDrifted,
    PreflightFailed,
    PreparationFailed,
    check_access,
    check_time,
)
from repack_gitops.workflow.execution.settings import Settings

#: A list of a live cluster may be torn (a node went between two lists); it is taken again that often, after a pause.
SNAPSHOTS, PAUSE_SECONDS = 3, 2.0
#: Differences that a message names.
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Assignment:
    """What was approved, and the rules it is executed under.

    ``past`` returns what the runs recorded by now moved, those that ended after a moment; asked only where the policy
    lets workloads rest.
    """

    approved: ApprovedRun
    policy: RepackPolicy
    guardrails: Guardrails | None
    settings: Settings
    wait_seconds: float
    past: Callable[[datetime], frozenset[PastMove]] = lambda _: frozenset()


def live_snapshot(cluster: Cluster, clock: Clock, lock: ExecutorLock) -> ClusterSnapshot:
    """Return the cluster as it is now; keeps the lease.

    Raises
    ------
    TryAgain
        The lists contradict each other time and again.
    """
    trouble = ""
    for _ in range(SNAPSHOTS):
        lock.check()
        try:
            return build_snapshot(cluster.list_objects())
        except InvalidInput as error:
            trouble = error.message
            clock.sleep(PAUSE_SECONDS)
    raise TryAgain(f"the cluster cannot be read: {trouble}", hint="The Job restarts and goes on.")


def replan(
    cluster: Cluster, clock: Clock, lock: ExecutorLock, namespace: str, assignment: Assignment
) -> tuple[ClusterSnapshot, Evaluation]:
    """Plan on live state inside what was approved.

    Raises
    ------
    Refused
        For every reason not to execute; its ``reason`` is the run's.
    """
    approved, policy = assignment.approved, assignment.policy
    check_time(policy, approved.plan_run, clock.now())
    namespaces = {m.namespace for m in approved.plan.moves}
    check_access(cluster, namespace, namespaces)
    options = _options(assignment, clock)  # may read git; the snapshot comes after it, as fresh as can be
    snapshot = live_snapshot(cluster, clock, lock)
    kind = policy.spec.approval.envelope
    evaluation = _evaluate(snapshot, assignment, options)
    lock.check()
    elsewhere = {m.namespace for m in evaluation.moves} - namespaces
    if elsewhere:
        check_access(cluster, namespace, elsewhere)
    if kind == "Exact" and (changed := drift(approved.plan, evaluation)):
        raise PlanDrifted(f"the cluster changed since approval: {_named(changed)}", hint="Nothing was evicted.")
    return snapshot, evaluation


def _options(assignment: Assignment, clock: Clock) -> PlannerOptions:
    policy, guardrails = assignment.policy.spec, assignment.guardrails
    envelope = envelope_of(policy.approval.envelope, assignment.approved.plan)
    now = clock.now()
    since = remembered_since(policy, guardrails, now)
    try:
        past = assignment.past(since) if since else frozenset()
    except InvalidInput as error:
        hint = f"Nothing was evicted. {error.hint}"
        raise PreflightFailed(f"what past runs moved is not known: {error.message}", hint=hint) from error
    return planner_options(policy, guardrails, now, past, envelope)


def _evaluate(snapshot: ClusterSnapshot, assignment: Assignment, options: PlannerOptions) -> Evaluation:
    spec = assignment.approved.run.spec
    try:
        evaluation = evaluate(snapshot, spec, options)
    except InvalidInput as error:
        raise InvalidConfiguration(error.message, hint=f"Nothing was evicted. {error.hint}") from error
    problems = verify(snapshot, spec, evaluation, options)
    if problems:
        raise PreparationFailed(
            f"the plan did not pass its own judge: {problems[0]}",
            hint="Nothing was evicted. Please report this with a snapshot.",
        )
    broken = violations(assignment.guardrails, spec, evaluation)
    if broken:
        raise PreflightFailed(f"guardrails forbid it: {'; '.join(broken)}", hint="Nothing was evicted.")
    return evaluation


def _named(changed: Sequence[str]) -> str:
    rest = len(changed) - SHOWN
    return "; ".join(changed[:SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
