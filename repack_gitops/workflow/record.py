"""A finished run goes to git: result.yaml and result.md, in a commit of their own (spec 3.5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from repack_gitops.errors import GitFailed, Refused
from repack_gitops.forge.interface import Forge, PullRequest
from repack_gitops.git.interface import Denied, Identity, Protected, Pushed
from repack_gitops.model.policy import RepositoryConfig
from repack_gitops.model.run import RepackRun, RunMetadata, new_run
from repack_gitops.model.trailers import one_line, with_trailers
from repack_gitops.model.writing import to_yaml
from repack_gitops.policy.names import PLAN_DIGEST, RunPath
from repack_gitops.policy.ticket import ticket_of
from repack_gitops.report.markup import code, link
from repack_gitops.report.result import result_comment, result_markdown
from repack_gitops.workflow.approval import approvers, merged_request
from repack_gitops.workflow.books import Books
from repack_gitops.workflow.clock import parse_timestamp
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.rebase import push_with_rebase

_HEADER = "# yaml-language-server: $schema=../../../schemas/repackrun.schema.json\n"


@dataclass(frozen=True, slots=True)
class Recorded:
    """Where the result stands: the commit on the base branch, and how it got there."""

    commit: str
    message: str


def check_results_mode(config: RepositoryConfig) -> None:
    """Refuse a way of recording that this version does not know, before anything is evicted.

    Raises
    ------
    Refused
        ``results`` is not ``direct``.
    """
    if config.spec.results != "direct":
        raise Refused(
            f"repack.yaml asks for results: {config.spec.results}, which this version cannot do",
            hint="Set it to direct, and let the bot push to the base branch.",
        )


def record(ports: Ports, config: RepositoryConfig, path: RunPath, run: RepackRun) -> Recorded:
    """Commit the terminal ``run`` to the base branch and tell its pull request; safe to repeat.

    Raises
    ------
    GitFailed
        The base branch does not take the push. The in-cluster object keeps the result until it is recorded.
    TryAgain
        The branch moved too often, or git cannot be reached.
    """
    repository, forge, base = ports.repository, ports.forge, config.spec.git.base_branch
    request = merged_request(forge, base, path.branch)
    files = result_files(path, run)
    message = _message(path, run, request, _approvers(forge, request))
    identity = Identity(config.spec.git.identity.name, config.spec.git.identity.email)
    when = parse_timestamp(run.status.completion_time) if run.status and run.status.completion_time else ports.clock.now()

    def make(parent: str) -> str:
        if Books(repository, parent).finished(path):
            return parent
        return repository.commit(parent, files, message, identity, when)

    answer = push_with_rebase(repository, make, base, sleep=ports.clock.sleep)
    match answer:
        case Pushed(commit=commit):
            tell(forge, base, path, run)
            return Recorded(commit, f"recorded in {path.file('result.yaml')}")
        case Protected(message=why) | Denied(message=why):
            raise GitFailed(
                f"the result of {path.run} could not be pushed to {base}: {why}",
                hint="The RepackRun in the cluster keeps it. Let the bot push there, then run `repack execute` again.",
            )
        case other:
            assert_never(other)


def result_files(path: RunPath, run: RepackRun) -> dict[str, bytes]:
    """Return result.yaml and result.md; what the API server added to the object is left out."""
    metadata = RunMetadata(name=run.metadata.name, labels=run.metadata.labels, annotations=run.metadata.annotations)
    result = new_run(metadata, run.spec, run.status)
    return {
        path.file("result.yaml"): (_HEADER + to_yaml(result)).encode(),
        path.file("result.md"): result_markdown(result).encode(),
    }


def _message(path: RunPath, run: RepackRun, request: PullRequest | None, approvers: Iterable[str]) -> str:
    reason = run.status.conditions[-1].reason if run.status and run.status.conditions else "Unknown"
    text = one_line(run.status.message) if run.status else ""
    trailers = [
        ("Repack-Run", path.run),
        ("Repack-Policy", path.policy),
        ("Repack-Plan-Digest", run.metadata.annotations.get(PLAN_DIGEST, "")),
        ("Repack-Reason", reason),
        ("Change-Ticket", ticket_of(run)),
        *(("Approved-By", user) for user in approvers),
        ("Pull-Request", request.url if request else ""),
    ]
    return with_trailers(f"repack: record {path.run}: {reason}\n\n{text}", trailers)


def _approvers(forge: Forge, request: PullRequest | None) -> tuple[str, ...]:
    """Return who approved the pull request by review, else who merged it: a merge is the approval."""
    if request is None:
        return ()
    return approvers(forge, request) or ((request.merged_by,) if request.merged_by else ())


def tell(forge: Forge, base: str, path: RunPath, run: RepackRun) -> None:
    """Comment once on the merged pull request and label it with the outcome."""
    request = merged_request(forge, base, path.branch)
    if request is None or run.status is None:
        return
    marker = f"<!-- repack: result of {path.run} -->\n"
    if not any(marker.strip() in c.body for c in forge.comments(request.number)):
        url = forge.file_page(base, path.file("result.md"))
        link_line = f"\n\nRecorded in {link(code(path.file('result.md')), url) if url else code(path.file('result.md'))}.\n"
        limit = forge.body_limit - len(marker) - len(link_line)
        forge.comment(request.number, marker + result_comment(run, result_url=url, limit=limit).rstrip() + link_line)
    outcome = "repack/done" if run.status.phase == "Succeeded" else "repack/failed"
    forge.set_labels(request.number, [outcome])
