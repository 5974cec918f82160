"""One approved run from git to git: read, execute, record."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from repack_gitops.errors import InvalidInput, Refused
from repack_gitops.model.run import RepackRun
from repack_gitops.policy.names import RunPath
from repack_gitops.workflow.approval import check_approval
from repack_gitops.workflow.books import base_books
from repack_gitops.workflow.execution.executor import Assignment, Executor
from repack_gitops.workflow.execution.settings import settings_of
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.record import Recorded, check_results_mode, record, tell


@dataclass(frozen=True, slots=True)
class Outcome:
    """The run as it ended and where it is recorded; ``run`` is None when the result was recorded before."""

    run: RepackRun | None
    recorded: Recorded


def execute(ports: Ports, executor: Executor, branch: str, path: RunPath, wait_seconds: float) -> Outcome:
    """Execute the run at ``path`` on base branch ``branch`` and commit its result; a finished one is left alone."""
    books = base_books(ports.repository, branch)
    check_results_mode(books.config())
    if books.finished(path):
        # Whoever pushed it may have died before the pull request was told. People may write one, too, to end a run.
        with suppress(InvalidInput):
            tell(ports.forge, branch, path, books.result(path))
        return Outcome(None, Recorded(books.commit, f"{path.file('result.yaml')} is there already"))
    if path not in books.approved(path.policy):
        raise Refused(f"{path.file('run.yaml')} is not on branch {branch}", hint="Only what is merged is executed.")
    approved, policy = books.approved_run(path), books.policy(path.policy)
    check_approval(ports.forge, branch, policy, approved)
    eviction = approved.run.spec.eviction
    assignment = Assignment(
        approved=approved,
        policy=policy,
        guardrails=books.guardrails(),
        settings=settings_of(policy, eviction.grace_period_seconds if eviction else None),
        wait_seconds=wait_seconds,
        # fetched anew: while this run waited for its turn, another may have been recorded
        past=lambda since: base_books(ports.repository, branch).past_moves(since),
    )
    run = executor.execute(assignment)
    return Outcome(run, record(ports, books.config(), path, run))
