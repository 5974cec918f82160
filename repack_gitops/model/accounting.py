"""What a pod is charged, the way Volcano's scheduler charges it.

request = max(containers + sidecars, each init container + the sidecars started before it), per resource; then pod-level
requests replace cpu, memory and huge pages; then the overhead; and one of ``pods``. Init containers stay charged for the
pod's whole life. Source: Volcano ``pkg/scheduler/api/pod_info.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repack_gitops.model.kubernetes import Container, ContainerStatus, Pod, PodSpec, Resources
from repack_gitops.model.quantity import MILLI, parse_quantity

Sums = dict[str, int]


def template_request(spec: PodSpec) -> Sums:
    """Return what a fresh pod of this spec asks for, in thousandths."""
    return _request(spec, {})


def charged_request(pod: Pod) -> Sums:
    """Return what ``pod`` holds now: like its template, but never less than an in-place resize still holds."""
    status = pod.status
    infeasible = any(
        c.type == "PodResizePending" and c.status == "True" and c.reason == "Infeasible" for c in status.conditions or ()
    )
    held: dict[str, tuple[Sums, bool]] = {}
    for container in [*(status.container_statuses or ()), *(status.init_container_statuses or ())]:
        amounts = _held(container)
        if amounts:
            held[container.name] = (amounts, infeasible)
    return _request(pod.spec, held)


def _held(status: ContainerStatus) -> Sums:
    actual = status.resources.requests if status.resources else None
    return _most(_parse(actual), _parse(status.allocated_resources))


def _request(spec: PodSpec, held: Mapping[str, tuple[Sums, bool]]) -> Sums:
    running: Sums = {}
    for container in spec.containers:
        _add(running, _container(container, held))
    sidecars: Sums = {}
    peak: Sums = {}
    for container in spec.init_containers or ():
        amounts = _container(container, held)
        if container.restart_policy == "Always":
            _add(sidecars, amounts)
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum(amounts, sidecars))
    total = _most(_sum(running, sidecars), peak)
    total.update(_pod_level(spec.resources))
    _add(total, _parse(spec.overhead))
    total["pods"] = MILLI
    return {name: amount for name, amount in total.items() if amount}


def _pod_level(resources: Resources | None) -> Sums:
    """Pod-level requests count for cpu, memory and huge pages only; Kubernetes allows no others there."""
    amounts = _parse(resources.requests) if resources else {}
    return {n: a for n, a in amounts.items() if n in ("cpu", "memory") or n.startswith("hugepages-")}


def _container(container: Container, held: Mapping[str, tuple[Sums, bool]]) -> Sums:
    resources = container.resources
    wanted: Sums = {}
    if resources is not None:
        # The API server fills a missing request from the limit; a hand-written List may not have passed through it.
        wanted = {**_parse(resources.limits), **_parse(resources.requests)}
    if container.name not in held:
        return wanted
    amounts, infeasible = held[container.name]
    return dict(amounts) if infeasible else _most(wanted, amounts)


def _parse(amounts: Mapping[str, str | int | float] | None) -> Sums:
    return {name: parse_quantity(value) for name, value in (amounts or {}).items()}


def _add(total: Sums, amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _sum(*parts: Mapping[str, int]) -> Sums:
    total: Sums = {}
    for part in parts:
        _add(total, part)
    return total


def _most(*parts: Mapping[str, int]) -> Sums:
    names: Iterable[str] = dict.fromkeys(name for part in parts for name in part)
    return {name: max(part.get(name, 0) for part in parts) for name in names}
