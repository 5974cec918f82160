"""What a pod is charged, the way the scheduler charges it.

request = max(containers + sidecars, each init container + the sidecars started before it), per resource; then pod-level
requests replace cpu, memory and huge pages; then the overhead; and one of ``pods``. Init containers stay charged for the
pod's whole life. Sources: Volcano ``pkg/scheduler/api/pod_info.go`` and, for what its releases do not count yet
(pod-level resources), Kubernetes ``k8s.io/component-helpers/resource``, by which kubelets admit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repack_gitops.model.kubernetes import Container, ContainerStatus, Pod, PodSpec, PodStatus, Resources
from repack_gitops.model.quantity import MILLI, QuantityError, is_device, parse_quantity

Sums = dict[str, int]

#: What a count in a RepackRun may hold; far more than any node or pod has.
MOST_DEVICES = 2**31 - 1
#: Container name -> what it still holds by its status; None where its status says nothing.
Held = Mapping[str, Sums]

#: One of these stands for every pod: nodes limit their number.
PODS = "pods"


def template_request(spec: PodSpec) -> Sums:
    """Return what a fresh pod of this spec asks for, in thousandths; what containers ask none of by name is there as zero.

    Volcano compares that, too: a node that is charged more of it than it has does not take the pod.

    Raises
    ------
    QuantityError
        When an amount is no quantity, is negative, or is a fraction of a device.
    """
    asked = _request(spec, {}, None, infeasible=False)
    for container in (*spec.containers, *(spec.init_containers or ())):
        if container.resources is not None:
            for name in (*(container.resources.requests or ()), *(container.resources.limits or ())):
                asked.setdefault(name, 0)
    return asked


def charged_request(pod: Pod) -> Sums:
    """Return what ``pod`` holds now: like its template, but never less than an in-place resize still holds.

    Raises
    ------
    QuantityError
        As for ``template_request``.
    """
    held = {status.name: _held(status) for status in _statuses(pod.status) if status.resources is not None}
    pod_level = _held(pod.status) if pod.status.resources is not None else None
    return _request(pod.spec, held, pod_level, infeasible=_resize_infeasible(pod.status))


def replacement_request(template: Mapping[str, int], charged: Mapping[str, int]) -> Sums:
    """Return what a pod asks for that comes in the place of one with this ``template`` that holds ``charged``.

    Its controller creates it from a template of its own, which a snapshot does not hold and no in-place resize changes:
    the larger of both amounts is the safe guess while a pod shrinks.
    """
    return _most(template, charged)


def parse_amounts(amounts: Mapping[str, str | int | float] | None) -> Sums:
    """Return ``amounts`` in thousandths.

    Raises
    ------
    QuantityError
        When an amount is no quantity, is negative, or is a fraction of a device.
    """
    return {name: _parse(name, value) for name, value in amounts.items()} if amounts else {}


def _parse(name: str, value: str | int | float) -> int:
    try:
        amount = parse_quantity(value)
    except QuantityError as error:
        raise QuantityError(f"{name}: {error}") from None
    if amount < 0:
        raise QuantityError(f"{name}: {value!r} is negative")
    if amount % MILLI and is_device(name):
        raise QuantityError(f"{name}: {value!r} is not a whole number of devices")
    if amount > MOST_DEVICES * MILLI and is_device(name):
        raise QuantityError(f"{name}: {amount // MILLI} devices are more than anything has")
    return amount


def _statuses(status: PodStatus) -> list[ContainerStatus]:
    return [*(status.container_statuses or ()), *(status.init_container_statuses or ())]


def _held(status: ContainerStatus | PodStatus) -> Sums:
    actual = status.resources.requests if status.resources else None
    return _most(parse_amounts(actual), parse_amounts(status.allocated_resources))


def _resize_infeasible(status: PodStatus) -> bool:
    """An infeasible resize will never happen, so what the spec asks for does not count."""
    pending = [c for c in status.conditions or () if c.type == "PodResizePending"]
    return bool(pending) and pending[0].reason == "Infeasible"


def _request(spec: PodSpec, held: Held, pod_level: Sums | None, *, infeasible: bool) -> Sums:
    total = _containers(spec, held, infeasible=infeasible)
    total.update(_pod_level(spec.resources, total, pod_level, infeasible=infeasible))
    _add(total, parse_amounts(spec.overhead))
    total[PODS] = MILLI
    return {name: amount for name, amount in total.items() if amount}


def _containers(spec: PodSpec, held: Held, *, infeasible: bool) -> Sums:
    running: Sums = {}
    for container in spec.containers:
        _add(running, _container(container, held.get(container.name), infeasible))
    sidecars: Sums = {}
    peak: Sums = {}
    for container in spec.init_containers or ():
        if container.restart_policy == "Always":
            _add(sidecars, _container(container, held.get(container.name), infeasible))
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum(_container(container, None, infeasible), sidecars))
    return _most(_sum(running, sidecars), peak) if peak else running


def _container(container: Container, held: Sums | None, infeasible: bool) -> Sums:
    resources = container.resources
    # The API server fills a missing request from the limit; a hand-written List may not have passed through it.
    wanted = {**parse_amounts(resources.limits), **parse_amounts(resources.requests)} if resources else {}
    return _effective(wanted, held, infeasible)


def _effective(wanted: Sums, held: Sums | None, infeasible: bool) -> Sums:
    """Return what counts while a resize from ``held`` to ``wanted`` is under way, if one is."""
    if held is None:
        return wanted
    # What a status leaves out was not resized: a device does not become free by an odd status.
    return {**wanted, **held} if infeasible else _most(wanted, held)


def _pod_level(resources: Resources | None, containers: Sums, held: Sums | None, *, infeasible: bool) -> Sums:
    """Return the requests of the pod as a whole: cpu, memory and huge pages only; Kubernetes allows no others there.

    A limit without a request stands for one where no container asks, and always for huge pages, as the API server has it.
    """
    if resources is None:
        return {}
    limits = {n: a for n, a in parse_amounts(resources.limits).items() if n not in containers or _huge(n)}
    wanted = {n: a for n, a in {**limits, **parse_amounts(resources.requests)}.items() if n in ("cpu", "memory") or _huge(n)}
    return _effective(wanted, None if held is None else {n: a for n, a in held.items() if n in wanted}, infeasible)


def _huge(name: str) -> bool:
    return name.startswith("hugepages-")


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
