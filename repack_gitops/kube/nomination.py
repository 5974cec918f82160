"""status.nominatedNodeName: where the scheduler should try a pod first. A hint, never a binding."""

from __future__ import annotations

from typing import Any

import msgspec

from repack_gitops.kube.answers import Answer, NoAnswer, failure, read_status
from repack_gitops.kube.api_server import MERGE_PATCH, ApiServer, Request
from repack_gitops.kube.interface import Nominated, NotNominated
from repack_gitops.kube.resources import PODS
from repack_gitops.model.kubernetes import UNREADABLE


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""


class _Bound(msgspec.Struct, frozen=True):
    spec: _Spec


_bound = msgspec.json.Decoder(_Bound)


def nominate(api: ApiServer, namespace: str, name: str, uid: str, node: str | None) -> Nominated | NotNominated:
    """Write or clear the nomination of the pod with ``uid``: one request, since milliseconds count.

    A UID in a patch's metadata is a precondition to the API server; from Kubernetes 1.35 it also refuses to nominate a
    pod that is bound.

    Raises
    ------
    Forbidden
        The credentials themselves are refused (401).
    """
    body: dict[str, Any] = {"metadata": {"uid": uid}, "status": {"nominatedNodeName": node}}
    path = PODS.path(namespace, name, "status")
    query = {"fieldManager": "repack-gitops"}
    request = Request(f"patch pods/status {namespace}/{name}", "PATCH", path, query, body, content_type=MERGE_PATCH)
    try:
        answer = api.send(request)
    except NoAnswer as error:
        return NotNominated(error.message, transient=True)
    if answer.code == 401:
        raise failure(answer, request.what)
    return _accepted(answer, node) if answer.code == 200 else _refused(answer)


def _accepted(answer: Answer, node: str | None) -> Nominated | NotNominated:
    """Before Kubernetes 1.35 a bound pod takes a nomination, which then means nothing."""
    try:
        bound_to = _bound.decode(answer.body).spec.node_name
    except UNREADABLE:
        return NotNominated("the answer is unreadable", transient=True)
    if node is not None and bound_to:
        return NotNominated(f"the pod is bound to {bound_to} already")
    return Nominated()


def _refused(answer: Answer) -> NotNominated:
    status = read_status(answer)
    other_uid = answer.code == 409 and "UID in " in status.message
    transient = answer.code >= 500 or answer.code in (408, 429) or (answer.code == 409 and not other_uid)
    return NotNominated(f"{status.text} (HTTP {answer.code})", transient=transient)
