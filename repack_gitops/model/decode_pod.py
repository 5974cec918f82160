"""From a Pod on the wire to a Pod as the planner sees it.

Pods of one controller differ in little but their names, so whatever depends on the template alone is worked out once and
shared: that makes 50,000 pods small, quick to decode, and lets the planner compare templates by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.accounting import charged_request, replacement_request, template_request
from repack_gitops.model.cluster import (
    Amounts,
    Constraints,
    HostPort,
    Owner,
    Pod,
    Toleration,
)
from repack_gitops.model.decode_relations import relations
from repack_gitops.model.decode_selectors import IMPOSSIBLE, node_terms, preferred_terms
from repack_gitops.model.local_storage import local_volumes
from repack_gitops.model.protection import pod_protection
from repack_gitops.model.quantity import QuantityError
from repack_gitops.model.storage import ClaimUse
from repack_gitops.model.unsupported import unsupported_fields

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
T = TypeVar("T")
#: What the template alone decides.
Template = tuple[Amounts, Constraints]


class Shared:
    """One object for all equal values."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self._amounts: dict[Any, Amounts] = {}

    def value(self, value: T) -> T:
        """Return the first object equal to ``value``."""
        return self._values.setdefault((type(value), value), value)  # type: ignore[no-any-return]

    def amounts(self, amounts: Mapping[str, int], *, zeros: bool = False) -> Amounts:
        """Return the first mapping equal to ``amounts``, without its zeros unless ``zeros``."""
        items = tuple(sorted((name, amount) for name, amount in amounts.items() if amount or zeros))
        return self._amounts.setdefault(items, dict(items))


class PodDecoder:
    """Decodes pods, one after another."""

    def __init__(self, shared: Shared | None = None) -> None:
        self._shared = shared or Shared()
        self._templates: dict[bytes, Template] = {}
        self._charged: dict[bytes, Amounts] = {}

    def pod(self, item: wire.Pod) -> Pod:
        """Return the pod.

        Raises
        ------
        InvalidInput
            When an amount is no quantity, is negative or is a fraction of a device, or an operator is unknown.
        """
        meta, spec, status = item.metadata, item.spec, item.status
        where = f"Pod {meta.namespace}/{meta.name}"
        key = _template_key(spec)
        template, constraints = self._template(key, spec, where)
        requests = self._requests(key, item, where)
        annotations = meta.annotations or {}
        return Pod(
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            labels=dict(sorted((meta.labels or {}).items())),
            node=spec.node_name or None,
            phase=status.phase,
            scheduler_name=spec.scheduler_name,
            pod_group=annotations.get(GROUP_ANNOTATION) or None,
            owner=owner(meta),
            requests=requests,
            template=template
            if requests is template
            else self._shared.amounts(replacement_request(template, requests), zeros=True),
            constraints=constraints,
            unsupported=self._shared.value(unsupported_fields(item)),
            relations=self._shared.value(relations(item, where)),
            claims=self._shared.value(claim_uses(item)),
            preferred=self._shared.value(preferred_terms(spec, where)),
            nominated_node=status.nominated_node_name or None,
            terminating=meta.deletion_timestamp is not None,
            gated=bool(spec.scheduling_gates),
            mirror=MIRROR_ANNOTATION in annotations,
            ready=any(c.type == "Ready" and c.status == "True" for c in status.conditions or ()),
            priority=spec.priority or 0,
            grace_seconds=spec.termination_grace_period_seconds,
            created=meta.creation_timestamp or "",
            do_not_disrupt=pod_protection(annotations),
            local_volumes=self._shared.value(local_volumes(spec)),
        )

    def _template(self, key: bytes, spec: wire.PodSpec, where: str) -> Template:
        known = self._templates.get(key)
        if known is None:
            amounts = _checked(lambda: template_request(spec), where)
            known = (self._shared.amounts(amounts, zeros=True), self._shared.value(_constraints(spec, where)))
            self._templates[key] = known
        return known

    def _replacement(self, template: Amounts, requests: Amounts) -> Amounts:
        if requests is template:
            return template
        return self._shared.amounts(replacement_request(template, requests), zeros=True)

    def _requests(self, key: bytes, item: wire.Pod, where: str) -> Amounts:
        key += _status_key(item.status)
        known = self._charged.get(key)
        if known is None:
            known = self._shared.amounts(_checked(lambda: charged_request(item), where))
            self._charged[key] = known
        return known


def decode_pod(item: wire.Pod) -> Pod:
    """Return one pod by itself; for many, use one ``PodDecoder``."""
    return PodDecoder().pod(item)


def _template_key(spec: wire.PodSpec) -> bytes:
    """Everything of a spec that requests and constraints depend on; encoding is quicker than working them out."""
    containers = (spec.containers, spec.init_containers, spec.overhead, spec.resources, spec.host_network)
    return msgspec.json.encode((containers, spec.node_selector, spec.affinity, spec.tolerations))


def _status_key(status: wire.PodStatus) -> bytes:
    resizes = [c for c in status.conditions or () if c.type == "PodResizePending"]
    containers = (status.container_statuses, status.init_container_statuses)
    return msgspec.json.encode((containers, resizes, status.resources, status.allocated_resources))


def _checked(compute: Callable[[], T], where: str) -> T:
    try:
        return compute()
    except QuantityError as error:
        raise InvalidInput(f"{where}: request of {error}", hint=IMPOSSIBLE) from error


def owner(meta: wire.ObjectMeta) -> Owner | None:
    """Return the controlling owner, if there is one."""
    for reference in meta.owner_references or ():
        if reference.controller:
            return Owner(reference.api_version, reference.kind, reference.name, reference.uid)
    return None


def _constraints(spec: wire.PodSpec, where: str) -> Constraints:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = None if required is None else node_terms(required, where)
    return Constraints(
        node_selector=tuple(sorted((spec.node_selector or {}).items())),
        node_terms=terms,
        tolerations=tuple(Toleration(t.key, t.operator, t.value, t.effect) for t in spec.tolerations or ()),
        host_ports=_host_ports(spec),
    )


def _host_ports(spec: wire.PodSpec) -> tuple[HostPort, ...]:
    """Host ports of containers and sidecars; with hostNetwork every container port is one."""
    sidecars = [c for c in spec.init_containers or () if c.restart_policy == "Always"]
    ports = set()
    for container in [*spec.containers, *sidecars]:
        for port in container.ports or ():
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                ports.add(HostPort(number, port.protocol or "TCP", port.host_ip or "0.0.0.0"))  # noqa: S104
    return tuple(sorted(ports))


def claim_uses(item: wire.Pod) -> tuple[ClaimUse, ...]:
    """Return the pod's volumes that stand for claims, in its own order."""
    found = []
    for volume in item.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            found.append(ClaimUse(volume.name, volume.persistent_volume_claim.claim_name))
        elif volume.ephemeral is not None:
            wanted = volume.ephemeral.volume_claim_template.spec.storage_class_name
            found.append(ClaimUse(volume.name, f"{item.metadata.name}-{volume.name}", ephemeral=True, storage_class=wanted))
    return tuple(found)
