"""RepackRuns in the cluster: the journal of an execution."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect

from repack_gitops.errors import InvalidInput
from repack_gitops.kube.answers import NotServed, failure
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.interface import Conflict
from repack_gitops.kube.listing import list_all
from repack_gitops.kube.objects import Object, create_object, get_object, replace_object
from repack_gitops.kube.resources import RUNS
from repack_gitops.model.run import RepackRun, RunMetadata, RunStatus

_INSTALL = "Install the CRD: kubectl apply -f schemas/repack.volcano.sh_repackruns.yaml"
_METADATA = inspect.type_info(RunMetadata)
_STATUS = inspect.type_info(RunStatus)


def get_run(api: ApiServer, name: str) -> RepackRun | None:
    """Return the run; None where there is none, also where the CRD is not installed."""
    found = get_object(api, RUNS, "", name)
    return None if found is None else _read(found)


def list_runs(api: ApiServer) -> tuple[RepackRun, ...]:
    """Return all runs, sorted by name; none where the CRD is not installed."""
    listing = list_all(api, RUNS, dict)
    return () if listing is None else tuple(sorted(map(_read_item, listing.items), key=lambda run: run.metadata.name))


def create_run(api: ApiServer, run: RepackRun) -> RepackRun | Conflict:
    """Create the run without its status, which the API server would drop.

    Raises
    ------
    ClusterUnavailable
        The CRD is not installed.
    """
    manifest: Object = msgspec.to_builtins(run)
    manifest.pop("status", None)
    for assigned in ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"):
        manifest["metadata"].pop(assigned, None)
    try:
        return _stored(create_object(api, RUNS, "", manifest))
    except NotServed as error:
        raise NotServed(error.message, hint=_INSTALL) from error


def update_run_status(api: ApiServer, run: RepackRun) -> RepackRun | Conflict:
    """Replace the status if the run is still the one that was read, at the version it was read at."""
    if not run.metadata.resource_version:
        return Conflict("the run was not read from the cluster, so it has no resourceVersion")
    return _stored(replace_object(api, RUNS, msgspec.to_builtins(run), subresource="status"))


def delete_run(api: ApiServer, name: str, uid: str) -> None:
    """Delete the run if it still has ``uid``; one that is gone, or another of that name, is left alone."""
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
    request = Request(f"delete {RUNS.name} {name}", "DELETE", RUNS.path(name=name), body=options)
    answer = api.send(request)
    if answer.code not in (200, 202, 404, 409):
        raise failure(answer, request.what)


def _stored(written: Object | Conflict) -> RepackRun | Conflict:
    return written if isinstance(written, Conflict) else _read(written)


def _read_item(item: Object) -> RepackRun:
    return _read({"apiVersion": RUNS.api_version, "kind": "RepackRun", **item})


def _read(found: Object) -> RepackRun:
    """Return the run, without what a later release or Volcano's own engine adds to metadata and status.

    An unknown field of the spec is an error: it may be a limit.
    """
    known = {**found, "metadata": _known(found.get("metadata"), _METADATA)}
    known["metadata"].pop("managedFields", None)
    if "status" in found:
        known["status"] = _known(found["status"], _STATUS)
    try:
        return msgspec.convert(known, RepackRun)
    except msgspec.ValidationError as error:
        name = known["metadata"].get("name", "")
        raise InvalidInput(
            f"RepackRun {name} in the cluster is not readable: {error}",
            hint="Another release wrote it, or its CRD is not ours; upgrade, or delete the object.",
        ) from error


def _known(value: Any, kind: inspect.Type) -> Any:
    """Return ``value`` without fields that ``kind`` does not have, at any depth."""
    match kind:
        case inspect.Metadata():
            return _known(value, kind.type)
        case inspect.StructType() if isinstance(value, dict):
            fields = {f.encode_name: f.type for f in kind.fields}
            return {name: _known(v, fields[name]) for name, v in value.items() if name in fields}
        case inspect.ListType() if isinstance(value, list):
            return [_known(v, kind.item_type) for v in value]
        case inspect.UnionType() if isinstance(value, dict):
            structs = [t for t in kind.types if isinstance(t, inspect.StructType)]
            return _known(value, structs[0]) if structs else value
        case _:
            return value
