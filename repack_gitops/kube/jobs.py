"""batch/v1 Jobs that a dispatcher creates, and the ConfigMaps it reads their template from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repack_gitops.kube.api_server import ApiServer
from repack_gitops.kube.interface import Conflict, JobState
from repack_gitops.kube.objects import Object, create_object, get_object
from repack_gitops.kube.resources import CONFIG_MAPS, JOBS


def create_job(api: ApiServer, namespace: str, manifest: Mapping[str, Any]) -> JobState | Conflict:
    """Create the Job; Conflict if its name is taken, which makes a second dispatch harmless."""
    created = create_object(api, JOBS, namespace, manifest)
    return created if isinstance(created, Conflict) else _state(created)


def get_job(api: ApiServer, namespace: str, name: str) -> JobState | None:
    """Return the Job's state, or None."""
    found = get_object(api, JOBS, namespace, name)
    return None if found is None else _state(found)


def get_config_map(api: ApiServer, namespace: str, name: str) -> Mapping[str, str] | None:
    """Return the ConfigMap's data, or None."""
    found = get_object(api, CONFIG_MAPS, namespace, name)
    return None if found is None else found.get("data") or {}


def _state(job: Object) -> JobState:
    """A Job is active until a condition says how it ended; between two tries it has no pod and is active still."""
    conditions = job.get("status", {}).get("conditions") or ()
    true = {c.get("type") for c in conditions if c.get("status") == "True"}
    succeeded, failed = "Complete" in true, "Failed" in true
    meta = job["metadata"]
    return JobState(meta["namespace"], meta["name"], not (succeeded or failed), succeeded, failed)
