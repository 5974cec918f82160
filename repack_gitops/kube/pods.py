"""One pod, as it is now."""

from __future__ import annotations

import msgspec

from repack_gitops.kube.answers import decode
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.resources import PODS
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import Pod
from repack_gitops.model.decode_pod import decode_pod
from repack_gitops.model.kept_annotations import keep_annotations

_pod = msgspec.json.Decoder(wire.Pod)


def get_pod(api: ApiServer, namespace: str, name: str) -> Pod | None:
    """Return the pod, or None where there is none; an answer that is no "not found" raises."""
    request = Request(f"get pods {namespace}/{name}", "GET", PODS.path(namespace, name))
    answer = api.read(request, 404)
    if answer.code == 404:
        return None
    item: wire.Pod = decode(answer, _pod, request.what)
    keep_annotations(item.metadata)
    return decode_pod(item)
