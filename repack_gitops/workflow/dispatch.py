"""From approved runs to Jobs (spec 3.4): exactly one per run and plan, however often this is called."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from repack_gitops.errors import InvalidInput, Refused, RepackError
from repack_gitops.forge.interface import Forge
from repack_gitops.kube.interface import Cluster, Conflict
from repack_gitops.model.policy import RepackPolicy, RepositoryConfig
from repack_gitops.policy.names import PLAN_DIGEST, POLICY, RUN_PATH, RunPath, job_name
from repack_gitops.policy.ticket import why_not_ticket
from repack_gitops.workflow.books import ApprovedRun, Books, base_books
from repack_gitops.workflow.ports import Ports

TEMPLATE_KEY = "job.yaml"
RUN_LABEL = "gitops.repack.volcano.sh/run"


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What became of one approved run: ``created``, ``exists`` or ``refused``."""

    run: str
    job: str
    action: str
    message: str = ""


def dispatch(ports: Ports, branch: str) -> tuple[Dispatched, ...]:
    """Create the missing Jobs of approved runs on ``branch``; one run's trouble does not stop the others."""
    books = base_books(ports.repository, branch)
    config = books.config()
    found = []
    for path in books.approved():
        try:
            found.append(_dispatch(ports, books, config, path))
        except (Refused, InvalidInput) as error:
            found.append(Dispatched(path.run, "", "refused", error.message))
    return tuple(found)


def _dispatch(ports: Ports, books: Books, config: RepositoryConfig, path: RunPath) -> Dispatched:
    approved = books.approved_run(path)
    policy = books.policy(path.policy)
    check_approval(ports.forge, policy, approved)
    cluster = ports.cluster
    digest = approved.run.metadata.annotations.get(PLAN_DIGEST, "")
    name, namespace = job_name(path.run, digest), config.spec.job.namespace
    existing = cluster.get_job(namespace, name)
    if existing is not None:
        state = "running" if existing.active else "failed" if existing.failed else "finished"
        return Dispatched(path.run, name, "exists", f"its Job is {state}")
    manifest = job_manifest(_template(cluster, config), name, namespace, approved)
    answer = cluster.create_job(namespace, manifest)
    return Dispatched(path.run, name, "exists" if isinstance(answer, Conflict) else "created")


def check_approval(forge: Forge, policy: RepackPolicy, approved: ApprovedRun) -> None:
    """Raise Refused unless ticket and approvals are what the policy asks for; the forge is asked, not the files."""
    why = why_not_ticket(policy.spec.change_ticket, approved.run)
    if why is not None:
        raise Refused(f"run {approved.path.run}: {why}", hint=f"Set it in {approved.path.file('run.yaml')}.")
    wanted = policy.spec.approval.min_approvals
    if not wanted:
        return
    request = forge.find_merged(approved.path.branch)
    if request is None:
        raise Refused(f"run {approved.path.run}: no merged pull request is known", hint="minApprovals needs one.")
    reviews = forge.reviews(request.number)
    approvers = {r.user for r in reviews if r.state == "approved" and r.counts and r.user != request.author}
    if len(approvers) < wanted:
        raise Refused(
            f"run {approved.path.run}: {len(approvers)} of {wanted} approvals by others than the author",
            hint=f"Approve {request.url}, then dispatch again.",
        )


def job_manifest(template: Mapping[str, Any], name: str, namespace: str, approved: ApprovedRun) -> dict[str, Any]:
    """Return the executor's Job: the administrator's template, with a name, labels and the run's path as argument."""
    manifest = copy.deepcopy(dict(template))
    digest = approved.run.metadata.annotations.get(PLAN_DIGEST, "")
    labels = {RUN_LABEL: approved.path.run, POLICY: approved.path.policy}
    notes = {RUN_PATH: approved.path.directory, PLAN_DIGEST: digest}
    for metadata in (manifest.setdefault("metadata", {}), manifest["spec"]["template"].setdefault("metadata", {})):
        metadata["labels"] = {**metadata.get("labels", {}), **labels}
        metadata["annotations"] = {**metadata.get("annotations", {}), **notes}
    manifest["metadata"]["name"] = name
    manifest["metadata"]["namespace"] = namespace
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    container["args"] = [*container.get("args", []), "--run", approved.path.directory]
    return manifest


def _template(cluster: Cluster, config: RepositoryConfig) -> dict[str, Any]:
    job = config.spec.job
    where = f"ConfigMap {job.namespace}/{job.template}"
    data = cluster.get_config_map(job.namespace, job.template)
    if data is None or TEMPLATE_KEY not in data:
        raise RepackError(f"{where} with {TEMPLATE_KEY} is not in the cluster", hint="Apply cronjob/ first.")
    try:
        manifest = yaml.safe_load(data[TEMPLATE_KEY])
        manifest["spec"]["template"]["spec"]["containers"][0]["name"]
    except (yaml.YAMLError, KeyError, IndexError, TypeError) as error:
        raise InvalidInput(f"{where}: {TEMPLATE_KEY} is not a Job with a container: {error}") from error
    return dict(manifest)
