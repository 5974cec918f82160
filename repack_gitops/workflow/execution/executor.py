"""The story of one run in the cluster: lock, live re-plan, journal, node by node, verify, end (spec 4).

Everything the story needs to go on after a crash is in the journal: called again, it resumes where the journal stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from repack_gitops.errors import Refused, RepackError, TryAgain
from repack_gitops.kube.interface import Cluster
from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.model.policy import Guardrails, RepackPolicy
from repack_gitops.model.run import (
    Condition,
    EvictionPhase,
    EvictionStatus,
    PlacementPhase,
    PlacementStatus,
    Relocation,
    RepackRun,
    ResultStatus,
    RunMetadata,
    RunStatus,
    new_run,
)
from repack_gitops.model.status import advance, complete, failed, pending, plan_status, progressing, verdict_message
from repack_gitops.planner import evaluate
from repack_gitops.planner.feasibility.inter_pod_affinity import repelling
from repack_gitops.planner.verify import verify
from repack_gitops.policy.ending import REMOVED, Ending, Observed, ending_of
from repack_gitops.policy.envelope import drift, envelope_of
from repack_gitops.policy.guardrails import guarded_options, violations
from repack_gitops.workflow.books import ApprovedRun
from repack_gitops.workflow.clock import Clock, timestamp
from repack_gitops.workflow.execution.feed import Feed
from repack_gitops.workflow.execution.follower import Follower, Rules
from repack_gitops.workflow.execution.journal import Journal
from repack_gitops.workflow.execution.lock import ExecutorLock
from repack_gitops.workflow.execution.preflight import PlanDrifted, PreflightFailed, check_access, check_time
from repack_gitops.workflow.execution.session import Session
from repack_gitops.workflow.execution.settings import Settings
from repack_gitops.workflow.execution.transaction import NodeTransaction
from repack_gitops.workflow.execution.verification import verify_result
from repack_gitops.workflow.execution.view import LiveView

Progress = Callable[[str], None]
WAIT_POLL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Assignment:
    """What was approved, and the rules it is executed under."""

    approved: ApprovedRun
    policy: RepackPolicy
    guardrails: Guardrails | None
    settings: Settings
    wait_seconds: float


class Executor:
    """Executes one approved run; every port is given, so that tests can play any of them."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        lock: ExecutorLock,
        feed: Callable[[], Feed],
        *,
        namespace: str,
        progress: Progress,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._cluster, self._clock, self._lock, self._feed = cluster, clock, lock, feed
        self._namespace, self._progress, self._stopping = namespace, progress, stopping

    def execute(self, assignment: Assignment) -> RepackRun:
        """Return the RepackRun with a terminal status.

        Raises
        ------
        TryAgain
            The lease is held or was lost, or the process was asked to stop: the journal stands, a restart goes on.
        """
        journal = Journal(self._cluster, self._object(assignment.approved.run))
        if journal.status.phase in ("Succeeded", "Failed"):
            return journal.run
        self._wait_for_lease(journal, assignment.wait_seconds)
        try:
            self._locked(journal, assignment)
        except Refused as refusal:
            self._end(journal, Ending("Failed", refusal.reason, str(refusal.message)))
        finally:
            evicted = any(r.eviction.phase in REMOVED for r in journal.relocations)
            if evicted and journal.status.phase in ("Succeeded", "Failed"):
                self._lock.release(assignment.settings.cooldown)
            else:
                self._lock.surrender()
        return journal.run

    # ---- the object and the lock ----
    def _object(self, run: RepackRun) -> RepackRun:
        """Return the in-cluster object of ``run``, created if it is not there; a foreign one of that name is refused."""
        metadata = RunMetadata(name=run.metadata.name, labels=run.metadata.labels, annotations=run.metadata.annotations)
        created = self._cluster.create_run(new_run(metadata, run.spec))
        if isinstance(created, RepackRun):
            return created
        existing = self._cluster.get_run(run.metadata.name)
        if existing is None:
            raise TryAgain(f"RepackRun {run.metadata.name} was deleted while it was created", hint="Try again.")
        if existing.spec != run.spec:
            raise Refused(f"a RepackRun {run.metadata.name} with another spec is in the cluster", hint="Delete or rename it.")
        return existing

    def _wait_for_lease(self, journal: Journal, seconds: float) -> None:
        deadline = self._clock.monotonic() + seconds
        while (wait := self._lock.acquire(journal.run.metadata.name)) is not None:
            if not journal.relocations:
                self._set(journal, lambda now, old: pending(wait.reason, wait.message, now, old))
            self._progress(f"waiting: {wait.message}")
            if self._clock.monotonic() >= deadline or self._stopping():
                raise TryAgain(f"{wait.reason}: {wait.message}", hint="The run stays Pending; the Job tries again.")
            self._clock.sleep(WAIT_POLL_SECONDS)

    # ---- under the lock ----
    def _locked(self, journal: Journal, assignment: Assignment) -> None:
        resource = assignment.approved.run.spec.goals[0].resource
        if not journal.relocations:
            snapshot, evaluation = self._replan(journal, assignment)
            if not evaluation.steps:
                self._end_without_eviction(journal, assignment, evaluation)
                return
            self._write_plan(journal, evaluation)
        else:
            self._progress("resuming from the journal")
            snapshot = build_snapshot(self._cluster.list_objects())
        self._move(journal, assignment, snapshot, resource)

    def _replan(self, journal: Journal, assignment: Assignment) -> tuple[ClusterSnapshot, Evaluation]:
        """Plan on live state inside what was approved; refuses by raising Refused."""
        approved, policy = assignment.approved, assignment.policy
        self._set(journal, lambda now, old: progressing("Planning", "Planning on the live cluster.", now, old))
        check_time(policy, approved.plan_run, self._clock.now())
        plan = approved.plan
        check_access(self._cluster, self._namespace, {m.namespace for m in plan.moves})
        snapshot = build_snapshot(self._cluster.list_objects())
        envelope = envelope_of(policy.spec.approval.envelope, plan)
        options = guarded_options(assignment.guardrails, PlannerOptions(envelope=envelope))
        spec = approved.run.spec
        evaluation = evaluate(snapshot, spec, options)
        problems = verify(snapshot, spec, evaluation, options)
        if problems:
            raise RepackError(f"the plan did not pass its own judge: {problems[0]}", hint="Please report this with a snapshot.")
        broken = violations(assignment.guardrails, spec, evaluation)
        if broken:
            raise PreflightFailed(f"guardrails forbid it: {'; '.join(broken)}", hint="Nothing was evicted.")
        if policy.spec.approval.envelope == "Exact" and (changed := drift(plan, evaluation)):
            raise PlanDrifted(f"the cluster changed since approval: {changed[0]} ({len(changed)} differences)")
        return snapshot, evaluation

    def _end_without_eviction(self, journal: Journal, assignment: Assignment, evaluation: Evaluation) -> None:
        """Nothing to gain is never a success of an approved run, except that there is no fragmentation left."""
        threshold = assignment.approved.run.spec.goals[0].min_frag_improvement_percent
        message = verdict_message(evaluation, threshold=threshold)
        journal.write(msgspec.structs.replace(journal.status, plan=plan_status(evaluation)))
        if evaluation.verdict is Verdict.NO_FRAGMENTATION or assignment.policy.spec.approval.envelope == "Budget":
            self._end(journal, Ending("Complete", evaluation.verdict.value, f"Nothing was evicted. {message}"))
        else:
            self._end(
                journal,
                Ending("Failed", "PlanDrifted", f"Nothing was evicted: nothing of the approved plan is left. {message}"),
            )

    def _write_plan(self, journal: Journal, evaluation: Evaluation) -> None:
        """Make the plan durable, then the relocations, all Pending; only then may anything be evicted."""
        journal.write(msgspec.structs.replace(journal.status, plan=plan_status(evaluation)))
        disruption = evaluation.disruption
        message = (
            f"Freeing {len(evaluation.steps)} nodes by moving {disruption.moved_pods} pods "
            f"({disruption.moved_cards} cards) of {disruption.pod_groups} PodGroups."
        )
        now = timestamp(self._clock.now())
        status = advance(journal.status, progressing("Evicting", message, now, journal.status.conditions), now)
        journal.write(msgspec.structs.replace(status, relocations=_relocations(evaluation)))
        self._progress(message)

    def _move(self, journal: Journal, assignment: Assignment, snapshot: ClusterSnapshot, resource: str) -> None:
        session = Session(self._cluster, self._clock, self._lock, journal, assignment.settings)
        rules = Rules(
            resource=resource,
            owners=_owners(journal.status),
            freed=frozenset(journal.plan.freed_nodes),
            known=_known(journal, snapshot),
            terms=repelling(snapshot),
        )
        feed = self._feed()
        try:
            follower = Follower(session, feed, LiveView(self._cluster.list_nodes()), rules)
            follower.start()
            aborted = self._nodes(session, follower)
        finally:
            feed.stop()
        self._set(journal, lambda now, old: progressing("ReconcilingPlacements", "Verifying the result.", now, old))
        occupied = (p.node for p in snapshot.pods if p.uid in rules.known and p.node and p.requests.get(resource))
        self._verify(journal, frozenset(occupied), resource, aborted)

    def _nodes(self, session: Session, follower: Follower) -> str:
        """Free node after node; returns why it stopped early, or an empty string."""
        transaction, limits = NodeTransaction(session, follower), session.settings
        half_drained = rejected = 0
        for node, indices in _by_node(session.journal.relocations).items():
            if self._stopping():
                raise TryAgain("asked to stop; the journal stands", hint="The Job restarts and goes on.")
            follower.view.nodes = self._cluster.list_nodes()
            self._progress(f"node {node}: {len(indices)} pods")
            outcome = transaction.run(node, indices)
            half_drained += outcome.half_drained
            rejected += outcome.rejected if outcome.removed else 0
            if half_drained >= limits.half_drained_nodes or rejected >= limits.rejections:
                return f"stopped at node {node}: {half_drained} nodes half drained, {rejected} evictions refused"
        return ""

    # ---- the end ----
    def _verify(self, journal: Journal, occupied_before: frozenset[str], resource: str, aborted: str) -> None:
        plan = journal.plan
        seen = verify_result(self._cluster, self._clock, self._lock, plan.freed_nodes, resource)
        relocations = journal.relocations
        percents = (plan.summary.frag_before_percent, seen.fragmentation.percent)
        observed = Observed(seen.freed, seen.agreed, _newly_occupied(journal.status, occupied_before), aborted)
        result = ResultStatus(
            frag_after_percent=percents[1],
            freed_node_count=len(seen.freed),
            freed_nodes=list(seen.freed),
            moved_card_count=sum(r.cards for r in relocations if r.eviction.phase is EvictionPhase.ACCEPTED),
            metrics_verified=seen.agreed,
        )
        journal.write(msgspec.structs.replace(journal.status, result=result))
        self._end(journal, ending_of(resource, plan.freed_nodes, relocations, observed, percents))

    def _end(self, journal: Journal, ending: Ending) -> None:
        make = complete if ending.type == "Complete" else failed
        self._set(journal, lambda now, old: make(ending.reason, ending.message, now, old))
        self._progress(ending.message)

    def _set(self, journal: Journal, conditions: Callable[[str, list[Condition]], list[Condition]]) -> None:
        now = timestamp(self._clock.now())
        journal.write(advance(journal.status, conditions(now, journal.status.conditions), now))


def _known(journal: Journal, snapshot: ClusterSnapshot) -> frozenset[str]:
    """Return the UIDs of pods that replace nobody: all that are there before the first eviction.

    After a crash replacements are there already; then only pods older than the run are known.
    """
    started = any(r.eviction.phase is not EvictionPhase.PENDING for r in journal.relocations)
    created = journal.run.metadata.creation_timestamp
    return frozenset(p.uid for p in snapshot.pods if not started or p.created < created)


def _relocations(evaluation: Evaluation) -> list[Relocation]:
    return [
        Relocation(
            namespace=m.namespace,
            pod_group_name=m.pod_group,
            victim_pod_name=m.pod,
            victim_pod_uid=m.uid,
            source_node_name=m.from_node,
            planned_node_name=m.to_node,
            cards=m.cards,
            eviction=EvictionStatus(phase=EvictionPhase.PENDING),
            placement=PlacementStatus(phase=PlacementPhase.WAITING_FOR_REPLACEMENT),
        )
        for m in evaluation.moves
    ]


def _by_node(relocations: list[Relocation]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, relocation in enumerate(relocations):
        found.setdefault(relocation.source_node_name, []).append(index)
    return found


def _owners(status: RunStatus) -> Mapping[Key, Owner]:
    moves = status.plan.moves if status.plan else []
    return {
        (m.namespace, m.pod_group_name): Owner(m.owner.api_version, m.owner.kind, m.owner.name)
        for m in moves
        if m.owner is not None
    }


def _newly_occupied(status: RunStatus, occupied_before: frozenset[str]) -> frozenset[str]:
    """Return nodes that were empty of the resource and now hold a replacement: what they took is no gain."""
    actual = {r.placement.actual_node_name for r in status.relocations if r.placement.actual_node_name}
    return frozenset(actual - occupied_before - set(status.plan.freed_nodes if status.plan else ()))
