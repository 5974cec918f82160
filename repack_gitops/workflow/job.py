"""The executor's Job: the administrator's template, filled in for one run."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from repack_gitops.errors import InvalidInput
from repack_gitops.kube.interface import Cluster
from repack_gitops.model.policy import JobConfig
from repack_gitops.policy.names import PLAN_DIGEST, POLICY, PREFIX, RUN_PATH, label_value
from repack_gitops.workflow.books import ApprovedRun

TEMPLATE_KEY = "job.yaml"
RUN_LABEL = PREFIX + "run"


def job_manifest(template: Mapping[str, Any], name: str, namespace: str, approved: ApprovedRun) -> dict[str, Any]:
    """Return the executor's Job: ``template`` with a name, labels and the run's path as argument.

    Labels hold at most 63 characters, so those of longer names are shortened; the annotations have all of them.
    """
    manifest = copy.deepcopy(dict(template))
    labels = {RUN_LABEL: label_value(approved.path.run), POLICY: label_value(approved.path.policy)}
    notes = {RUN_PATH: approved.path.directory, PLAN_DIGEST: approved.run.metadata.annotations.get(PLAN_DIGEST, "")}
    for owner in (manifest, manifest["spec"]["template"]):
        metadata = owner.get("metadata") or {}
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **notes}
        owner["metadata"] = metadata
    manifest["metadata"] |= {"name": name, "namespace": namespace}
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    container["args"] = [*(container.get("args") or []), "--run", approved.path.directory]
    return manifest


def job_template(cluster: Cluster, job: JobConfig) -> dict[str, Any]:
    """Return the template that the ConfigMap holds.

    Raises
    ------
    InvalidInput
        There is none, or it is not a Job that could be filled in; the message names the ConfigMap.
    """
    where = f"ConfigMap {job.namespace}/{job.template}"
    data = cluster.get_config_map(job.namespace, job.template)
    if data is None or TEMPLATE_KEY not in data:
        raise InvalidInput(f"{where} with {TEMPLATE_KEY} is not in the cluster", hint="Apply cronjob/ first.")
    try:
        manifest = yaml.safe_load(data[TEMPLATE_KEY])
        problem = next(_problems(manifest), "")
    except (yaml.YAMLError, KeyError, IndexError, TypeError, AttributeError) as error:
        problem = f"it is not a Job with a container ({type(error).__name__}: {error})"
    if problem:
        message = f"{where}: {TEMPLATE_KEY}: {' '.join(problem.split())}"
        raise InvalidInput(message, hint="Take cronjob/executor-job.yaml as the start of your own.")
    return dict(manifest)


def _problems(manifest: Any) -> Iterator[str]:
    """Yield what is wrong with a template; whatever is not even looked at here is the API server's to judge."""
    if (manifest["apiVersion"], manifest["kind"]) != ("batch/v1", "Job"):
        yield f"it is a {manifest['kind']} of {manifest['apiVersion']}, not a Job of batch/v1"
    for owner in (manifest, manifest["spec"]["template"]):
        metadata = owner.get("metadata") or {}
        for part in ("labels", "annotations"):
            if not isinstance(metadata.get(part) or {}, dict):
                yield f"metadata.{part} is not a mapping"
    containers = manifest["spec"]["template"]["spec"]["containers"]
    if not isinstance(containers, list):
        yield "spec.template.spec.containers is not a list"
    arguments = containers[0].get("args") or []
    if not isinstance(arguments, list) or not all(isinstance(a, str) for a in arguments):
        yield "the args of the first container are not a list of words"
    if "execute" not in [*arguments, *(containers[0].get("command") or [])]:
        yield "the first container does not call `repack execute`: give it args: [execute]"
