"""The story of one run in the cluster: lock, live re-plan, journal, node by node, verify, end (spec 4).

Everything the story needs to go on after a crash is in the journal: called again, it resumes where the journal stands.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import msgspec

from repack_gitops.errors import Forbidden, InvalidInput, Refused, RepackError, TryAgain
from repack_gitops.kube.interface import Cluster
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.model.run import (
    Condition,
    EvictionPhase,
    RepackRun,
    ResultStatus,
    RunMetadata,
    new_run,
)
from repack_gitops.model.status import (
    advance,
    complete,
    counted,
    failed,
    pending,
    plan_status,
    progressing,
    verdict_message,
)
from repack_gitops.policy.due import why_closed
from repack_gitops.policy.ending import Ending, Observed, attempted, ending_of
from repack_gitops.workflow.clock import Clock, timestamp
from repack_gitops.workflow.execution.entries import (
    by_node,
    evicted,
    known_pods,
    newly_occupied,
    owners_of,
    relocations_of,
    why_too_much,
)
from repack_gitops.workflow.execution.feed import Feed
from repack_gitops.workflow.execution.follower import Follower, evictable
from repack_gitops.workflow.execution.journal import Journal, JournalLost
from repack_gitops.workflow.execution.lock import ExecutorLock
from repack_gitops.workflow.execution.preflight import why_stale
from repack_gitops.workflow.execution.receivers import Rules
from repack_gitops.workflow.execution.replanning import Assignment, live_snapshot, replan
from repack_gitops.workflow.execution.session import Session
from repack_gitops.workflow.execution.settings import Settings
from repack_gitops.workflow.execution.transaction import NodeTransaction
from repack_gitops.workflow.execution.verification import verify_result
from repack_gitops.workflow.execution.view import LiveView

__all__ = ["Assignment", "Executor"]

Progress = Callable[[str], None]
WAIT_POLL_SECONDS = 5.0


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
        if journal.ended:
            cooldown = assignment.settings.cooldown if evicted(journal) else None
            self._lock.settle(journal.run.metadata.name, cooldown, journal.status.completion_time)
            return journal.run
        try:
            self._wait_for_lease(journal, assignment.wait_seconds)
            self._under_lease(journal, assignment)
        except (Forbidden, InvalidInput) as error:
            if not journal.relocations:
                raise
            # final for a Job, but a run on its way must not be left where it is
            raise TryAgain(f"interrupted: {error.message}", hint="The journal stands; the Job goes on.") from error
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
        deadline, said = self._clock.monotonic() + seconds, ""
        name, resuming = journal.run.metadata.name, bool(journal.relocations)
        while (wait := self._lock.acquire(name, resuming=resuming)) is not None:
            if journal.status.phase == "Pending":
                self._set_waiting(journal, wait.reason, wait.message)
            if wait.message != said:
                self._progress(f"waiting: {wait.message}")
                said = wait.message
            if self._clock.monotonic() >= deadline or self._stopping():
                raise TryAgain(f"{wait.reason}: {wait.message}", hint="The run waits; the Job tries again.")
            self._clock.sleep(WAIT_POLL_SECONDS)

    def _set_waiting(self, journal: Journal, reason: str, message: str) -> None:
        """Say in the status that the run waits; whoever has the lease and works on this very run comes first."""
        try:
            self._set(journal, lambda now, old: pending(reason, message, now, old))
        except JournalLost:
            journal.reload()

    def _give_back(self, journal: Journal, settings: Settings) -> None:
        """Release the lease; where an error is on its way already, that one is what the reader must see."""
        if journal.ended and evicted(journal):
            self._lock.release(settings.cooldown, journal.status.completion_time)
            return
        with suppress(RepackError):
            self._lock.surrender(interrupted=bool(journal.relocations) and not journal.ended)

    # ---- under the lock ----
    def _under_lease(self, journal: Journal, assignment: Assignment) -> None:
        try:
            journal.reload()
            resumed = bool(journal.relocations)
            stale = why_stale(assignment.policy, journal.status.start_time, self._clock.now()) if resumed else ""
            snapshot = None if journal.ended else self._ready_to_move(journal, assignment)
            if snapshot is not None:
                self._move(journal, assignment, snapshot, stale)
        except Refused as refusal:
            self._end(journal, Ending("Failed", refusal.reason, _told(refusal)))
        finally:
            self._give_back(journal, assignment.settings)

    def _ready_to_move(self, journal: Journal, assignment: Assignment) -> ClusterSnapshot | None:
        """Return the cluster as it is once relocations are in the journal; None where the run ended without any."""
        if journal.relocations:
            self._progress("resuming from the journal")
            return live_snapshot(self._cluster, self._clock, self._lock)
        self._set(journal, lambda now, old: progressing("Planning", "Planning on the live cluster.", now, old))
        snapshot, evaluation = replan(self._cluster, self._clock, self._lock, self._namespace, assignment)
        if not evaluation.steps:
            self._end_without_eviction(journal, assignment, evaluation)
            return None
        self._write_plan(journal, evaluation)
        return snapshot

    def _end_without_eviction(self, journal: Journal, assignment: Assignment, evaluation: Evaluation) -> None:
        """Nothing to gain is never a success of an approved run, except that there is no fragmentation left."""
        threshold = assignment.approved.run.spec.goals[0].min_frag_improvement_percent
        message = verdict_message(evaluation, threshold=threshold)
        journal.write(msgspec.structs.replace(journal.status, plan=plan_status(evaluation)))
        if evaluation.verdict is Verdict.NO_FRAGMENTATION or assignment.policy.spec.approval.envelope == "Budget":
            self._end(journal, Ending("Complete", evaluation.verdict.value, f"Nothing was evicted. {message}"))
            return
        left = "what is left of the approved plan gains too little" if evaluation.improvement else "nothing of it is left"
        why = f"Nothing was evicted: the cluster changed since the plan was approved, and {left}. {message}"
        self._end(journal, Ending("Failed", "PlanDrifted", why))

    def _write_plan(self, journal: Journal, evaluation: Evaluation) -> None:
        """Make the plan durable, then the relocations, all Pending; only then may anything be evicted."""
        journal.write(msgspec.structs.replace(journal.status, plan=plan_status(evaluation)))
        disruption = evaluation.disruption
        message = (
            f"Freeing {counted(len(evaluation.steps), 'node')} by moving {counted(disruption.moved_pods, 'pod')} "
            f"({counted(disruption.moved_cards, 'card')}) of {counted(disruption.pod_groups, 'PodGroup')}."
        )
        now = timestamp(self._clock.now())
        status = advance(journal.status, progressing("Evicting", message, now, journal.status.conditions), now)
        journal.write(msgspec.structs.replace(status, relocations=relocations_of(evaluation)))
        self._progress(message)

    def _move(self, journal: Journal, assignment: Assignment, snapshot: ClusterSnapshot, stale: str) -> None:
        resource = assignment.approved.run.spec.goals[0].resource
        session = Session(self._cluster, self._clock, self._lock, journal, assignment.settings)
        rules = Rules(
            resource=resource,
            owners=owners_of(journal.status),
            freed=frozenset(journal.plan.freed_nodes),
            known=known_pods(journal, snapshot),
            snapshot=snapshot,
        )
        feed = self._feed()
        try:
            follower = Follower(session, feed, LiveView(self._cluster.list_nodes()), rules)
            follower.start()
            aborted = self._nodes(
                session, follower, lambda: stale or why_closed(assignment.policy.spec.windows, self._clock.now())
            )
        finally:
            feed.stop()
        occupied = {p.node for p in snapshot.pods if p.uid in rules.known and p.node and p.requests.get(resource)}
        self._verify(journal, occupied, resource, aborted)

    def _nodes(self, session: Session, follower: Follower, why_not_now: Callable[[], str | None]) -> str:
        """Free node after node, as long as ``why_not_now`` says nothing; returns why it stopped early, or an empty string.

        What a node's turn brought is read from the journal, so that a restart counts the troubles before it too.
        """
        journal, transaction, stopped = session.journal, NodeTransaction(session, follower), ""
        for node, indices in by_node(journal.relocations).items():
            closed = stopped or self._closed(journal, indices, why_not_now)
            if closed and all(journal.relocations[i].eviction.phase is EvictionPhase.PENDING for i in indices):
                stopped = stopped or f"stopped before node {node}: {closed}"
                continue
            self._progress(f"node {node}: {counted(len(indices), 'pod')}")
            follower.list_nodes()
            transaction.run(node, indices, closed)
            stopped = stopped or why_too_much(journal, session.settings)
        return stopped

    def _closed(self, journal: Journal, indices: list[int], why_not_now: Callable[[], str | None]) -> str:
        """Return why the node of ``indices`` may not be begun or gone on with, or an empty string."""
        if not any(evictable(journal.relocations[i]) for i in indices):
            return ""
        if self._stopping():
            raise TryAgain("asked to stop; the journal stands", hint="The Job restarts and goes on.")
        return why_not_now() or ""

    # ---- the end ----
    def _verify(self, journal: Journal, occupied_before: set[str], resource: str, aborted: str) -> None:
        plan, relocations = journal.plan, journal.relocations
        before = plan.summary.frag_before_percent
        if not any(attempted(r) for r in relocations):
            nothing = Observed((), verified=True, newly_occupied=(), aborted=aborted)
            self._end(journal, ending_of(resource, plan.freed_nodes, relocations, nothing, (before, before)))
            return
        self._set(journal, lambda now, old: progressing("ReconcilingPlacements", "Verifying the result.", now, old))
        seen = verify_result(self._cluster, self._clock, self._lock, plan.freed_nodes, resource)
        after = seen.fragmentation.percent
        observed = Observed(seen.freed, seen.agreed, newly_occupied(journal.status, occupied_before), aborted)
        result = ResultStatus(
            frag_after_percent=after,
            freed_node_count=len(seen.freed),
            freed_nodes=list(seen.freed),
            moved_card_count=sum(r.cards for r in relocations if r.eviction.phase is EvictionPhase.ACCEPTED),
            metrics_verified=seen.agreed,
        )
        journal.write(msgspec.structs.replace(journal.status, result=result))
        self._end(journal, ending_of(resource, plan.freed_nodes, relocations, observed, (before, after)))

    def _end(self, journal: Journal, ending: Ending) -> None:
        make = complete if ending.type == "Complete" else failed
        self._set(journal, lambda now, old: make(ending.reason, ending.message, now, old))
        self._progress(ending.message)

    def _set(self, journal: Journal, conditions: Callable[[str, list[Condition]], list[Condition]]) -> None:
        now = timestamp(self._clock.now())
        journal.write(advance(journal.status, conditions(now, journal.status.conditions), now))


def _told(refusal: Refused) -> str:
    """Return the refusal and what to do about it, as one message."""
    return f"{refusal.message.rstrip('.')}. {refusal.hint}".rstrip()
