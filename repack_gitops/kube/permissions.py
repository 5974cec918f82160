"""May this account do that? Asked before anything is touched."""

from __future__ import annotations

from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.interface import Access
from repack_gitops.kube.objects import decode_object
from repack_gitops.kube.resources import ACCESS_REVIEWS


def allowed(api: ApiServer, access: Access) -> bool:
    """Ask the API server whether this account has the permission."""
    attributes = {
        "verb": access.verb,
        "group": access.group,
        "resource": access.resource,
        "subresource": access.subresource,
        "namespace": access.namespace,
        "name": access.name,
    }
    body = {
        "apiVersion": ACCESS_REVIEWS.api_version,
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    # A POST that changes nothing, so it may be tried again like a read.
    request = Request(f"ask whether it is allowed to {access}", "POST", ACCESS_REVIEWS.path(), body=body)
    answer = api.read(request, 201)
    status = decode_object(answer, request.what).get("status") or {}
    return status.get("allowed") is True
