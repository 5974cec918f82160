"""Reads and writes of single objects, with the refusals that every kind shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from repack_gitops.kube.answers import Answer, decode, failure, read_status
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.interface import Conflict
from repack_gitops.kube.resources import Resource

Object = dict[str, Any]

FIELD_MANAGER = {"fieldManager": "repack-gitops"}
_object = msgspec.json.Decoder(Object)


def get_object(api: ApiServer, resource: Resource, namespace: str, name: str) -> Object | None:
    """Return the object, or None where there is none or the API server does not know the resource."""
    request = Request(f"get {resource.name} {_named(namespace, name)}", "GET", resource.path(namespace, name))
    answer = api.read(request, 404)
    return None if answer.code == 404 else decode_object(answer, request.what)


def create_object(api: ApiServer, resource: Resource, namespace: str, manifest: Mapping[str, Any]) -> Object | Conflict:
    """Create the object; Conflict if its name is taken."""
    name = manifest["metadata"]["name"]
    what = f"create {resource.name} {_named(namespace, name)}"
    return _write(api, Request(what, "POST", resource.path(namespace), FIELD_MANAGER, manifest), gone=False)


def replace_object(
    api: ApiServer, resource: Resource, manifest: Mapping[str, Any], *, subresource: str = ""
) -> Object | Conflict:
    """Replace the object (or a subresource) as it was read; Conflict if it changed or is gone since."""
    namespace, name = manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]
    target = f"{resource.name}/{subresource}" if subresource else resource.name
    what = f"update {target} {_named(namespace, name)}"
    path = resource.path(namespace, name, subresource)
    return _write(api, Request(what, "PUT", path, FIELD_MANAGER, manifest), gone=True)


def decode_object(answer: Answer, what: str) -> Object:
    """Return the object in a successful answer."""
    return decode(answer, _object, what)


def _write(api: ApiServer, request: Request, *, gone: bool) -> Object | Conflict:
    answer = api.send(request)
    if answer.code in (200, 201):
        return decode_object(answer, request.what)
    if answer.code == 409 or (answer.code == 404 and gone):
        return Conflict(read_status(answer).text)
    raise failure(answer, request.what)


def _named(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
