"""From approved runs to Jobs (spec 3.4): exactly one per run and plan, however often this is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from repack_gitops.errors import ClusterUnavailable, Forbidden, RepackError, TryAgain
from repack_gitops.kube.interface import Conflict, JobState
from repack_gitops.policy.names import PLAN_DIGEST, RUNS, RunPath, job_name
from repack_gitops.workflow.approval import check_approval
from repack_gitops.workflow.books import ApprovedRun, Books, base_books
from repack_gitops.workflow.job import job_manifest, job_template
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.record import check_results_mode


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What became of one approved run: ``created``, ``exists`` or ``refused``."""

    run: str
    job: str
    action: str
    message: str = ""


def dispatch(ports: Ports, branch: str) -> tuple[Dispatched, ...]:
    """Create the missing Jobs of approved runs on ``branch``; one run's trouble does not stop the others.

    Raises
    ------
    InvalidInput
        The executor's template is missing or broken: no run can be dispatched.
    Refused
        Results cannot be recorded in the way that repack.yaml asks for.
    """
    books = base_books(ports.repository, branch)
    check_results_mode(books.config())
    return (*_Dispatcher(ports, books, branch).dispatch(), *(_misplaced(path) for path in books.misplaced()))


class _Dispatcher:
    def __init__(self, ports: Ports, books: Books, branch: str) -> None:
        self._ports, self._books, self._branch = ports, books, branch
        self._job = books.config().spec.job
        self._template: Callable[[], dict[str, Any]] = cache(lambda: job_template(ports.cluster, self._job))

    def dispatch(self) -> tuple[Dispatched, ...]:
        return tuple(self._one(path) for path in self._books.approved())

    def _one(self, path: RunPath) -> Dispatched:
        try:
            approved = self._approved(path)
            name = job_name(path.run, approved.run.metadata.annotations[PLAN_DIGEST])
            existing = self._ports.cluster.get_job(self._job.namespace, name)
        except RepackError as error:
            return _refused(path, error)
        if existing is not None:
            return Dispatched(path.run, name, "exists", f"its Job {_state(existing)}")
        manifest = job_manifest(self._template(), name, self._job.namespace, approved)
        try:
            answer = self._ports.cluster.create_job(self._job.namespace, manifest)
        except RepackError as error:
            return _refused(path, error)
        return Dispatched(path.run, name, "exists" if isinstance(answer, Conflict) else "created")

    def _approved(self, path: RunPath) -> ApprovedRun:
        approved, policy = self._books.approved_run(path), self._books.policy(path.policy)
        check_approval(self._ports.forge, self._branch, policy, approved)
        return approved


def _refused(path: RunPath, error: RepackError) -> Dispatched:
    """Return the refusal of one run; what meets all runs alike ends the dispatch."""
    if isinstance(error, TryAgain | ClusterUnavailable | Forbidden):
        raise error
    return Dispatched(path.run, "", "refused", " ".join(filter(None, (error.message, error.hint))))


def _misplaced(path: str) -> Dispatched:
    folder = path.removesuffix("/run.yaml")
    message = f"{path} is in no run's folder: name it {RUNS}/<policy>/<run>, in lower-case letters, digits, - and ."
    return Dispatched(folder, "", "refused", message)


def _state(job: JobState) -> str:
    return "is running" if job.active else "failed" if job.failed else "is finished"
