"""Leases: one executor at a time, by compare-and-swap."""

from __future__ import annotations

from typing import Any

import msgspec

from repack_gitops.errors import ClusterUnavailable
from repack_gitops.kube.api_server import ApiServer
from repack_gitops.kube.interface import Conflict, Lease
from repack_gitops.kube.objects import Object, create_object, get_object, replace_object
from repack_gitops.kube.resources import LEASES


class _Meta(msgspec.Struct, rename="camel"):
    namespace: str
    name: str
    resource_version: str
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)


def get_lease(api: ApiServer, namespace: str, name: str) -> Lease | None:
    """Return the Lease, or None."""
    found = get_object(api, LEASES, namespace, name)
    return None if found is None else _read(found)


def put_lease(api: ApiServer, lease: Lease) -> Lease | Conflict:
    """Create the Lease (empty ``resource_version``), or replace the one that was read at that version.

    Labels, owners and fields that a Lease of ours does not know stay as they are: an administrator may have made it.
    """
    if not lease.resource_version:
        return _stored(create_object(api, LEASES, lease.namespace, _manifest(lease, {"apiVersion": LEASES.api_version})))
    stored = get_object(api, LEASES, lease.namespace, lease.name)
    if stored is None:
        return Conflict(f"Lease {lease.namespace}/{lease.name} is gone")
    if stored["metadata"].get("resourceVersion") != lease.resource_version:
        return Conflict(f"Lease {lease.namespace}/{lease.name} changed since it was read")
    return _stored(replace_object(api, LEASES, _manifest(lease, stored)))


def _manifest(lease: Lease, stored: Object) -> Object:
    meta = {**stored.get("metadata", {}), "namespace": lease.namespace, "name": lease.name}
    spec: dict[str, Any] = {
        "holderIdentity": lease.holder or None,
        "leaseDurationSeconds": lease.duration_seconds,
        "acquireTime": lease.acquire_time or None,
        "renewTime": lease.renew_time or None,
        "leaseTransitions": lease.transitions,
    }
    return {
        **stored,
        "kind": "Lease",
        "metadata": {**meta, "annotations": dict(lease.annotations)},
        "spec": {**stored.get("spec", {}), **spec},
    }


def _stored(written: Object | Conflict) -> Lease | Conflict:
    return written if isinstance(written, Conflict) else _read(written)


def _read(found: Object) -> Lease:
    try:
        lease = msgspec.convert(found, _Lease)
    except msgspec.ValidationError as error:
        raise ClusterUnavailable(f"a Lease is unreadable: {error}", hint="Look at it with kubectl.") from error
    meta, spec = lease.metadata, lease.spec
    return Lease(
        namespace=meta.namespace,
        name=meta.name,
        holder=spec.holder_identity or "",
        duration_seconds=spec.lease_duration_seconds or 0,
        acquire_time=spec.acquire_time or "",
        renew_time=spec.renew_time or "",
        transitions=spec.lease_transitions or 0,
        annotations=meta.annotations or {},
        resource_version=meta.resource_version,
    )
