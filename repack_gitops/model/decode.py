"""From wire structs to a ClusterSnapshot: every object checked, every inconsistency refused.

Equal templates share one Constraints and one amounts object, which keeps 50,000 pods small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.accounting import charged_request, template_request
from repack_gitops.model.cluster import (
    Amounts,
    AntiAffinity,
    ClusterSnapshot,
    Constraints,
    HostPort,
    JobPolicy,
    Key,
    Node,
    NodeRequirement,
    NodeTerm,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    Taint,
    Toleration,
    VolcanoJob,
)
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.model.quantity import MILLI, QuantityError, is_device, parse_quantity
from repack_gitops.model.unsupported import unsupported_fields

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")

T = TypeVar("T")


def build_snapshot(objects: Iterable[wire.Wire]) -> ClusterSnapshot:
    """Return the snapshot of ``objects``; O(n log n) in their number.

    Raises
    ------
    InvalidInput
        When an object is malformed, occurs twice, holds negative or fractional devices, or a pod that still runs
        names a node that is not there.
    """
    decoder = _Decoder()
    for item in objects:
        decoder.add(item)
    return decoder.snapshot()


class _Decoder:
    """Collects decoded objects and the shared parts of their templates."""

    def __init__(self) -> None:
        self._shared: dict[Any, Any] = {}
        self._nodes: dict[str, Node] = {}
        self._pods: dict[Key, Pod] = {}
        self._groups: dict[Key, PodGroup] = {}
        self._budgets: dict[Key, PodDisruptionBudget] = {}
        self._jobs: dict[Key, VolcanoJob] = {}

    def add(self, item: wire.Wire) -> None:
        match item:
            case wire.Node():
                self._put(self._nodes, _named(item, "Node"), self._node(item), "Node")
            case wire.Pod():
                self._put(self._pods, _key(item, "Pod"), self._pod(item), "Pod")
            case wire.PodGroup():
                self._put(self._groups, _key(item, "PodGroup"), _pod_group(item), "PodGroup")
            case wire.PodDisruptionBudget():
                self._put(self._budgets, _key(item, "PodDisruptionBudget"), _budget(item), "PodDisruptionBudget")
            case wire.VolcanoJob():
                self._put(self._jobs, _key(item, "Job"), _volcano_job(item), "Job.batch.volcano.sh")
            case _:
                raise TypeError(f"{type(item).__name__} is no part of a snapshot")

    def snapshot(self) -> ClusterSnapshot:
        self._check_nodes_of_pods()
        return ClusterSnapshot(
            nodes=tuple(self._nodes[n] for n in sorted(self._nodes)),
            pods=tuple(self._pods[k] for k in sorted(self._pods)),
            pod_groups={k: self._groups[k] for k in sorted(self._groups)},
            budgets=tuple(self._budgets[k] for k in sorted(self._budgets)),
            volcano_jobs={k: self._jobs[k] for k in sorted(self._jobs)},
        )

    def _check_nodes_of_pods(self) -> None:
        for key in sorted(self._pods):
            pod = self._pods[key]
            if pod.node and pod.active and not pod.terminating and pod.node not in self._nodes:
                raise InvalidInput(
                    f"Pod {pod.namespace}/{pod.name} runs on node {pod.node}, which is not in the snapshot",
                    hint="Take the snapshot again, with nodes and pods in one List.",
                )

    @staticmethod
    def _put(found: dict[Any, T], key: Any, value: T, kind: str) -> None:
        if key in found:
            name = key if isinstance(key, str) else "/".join(key)
            raise InvalidInput(f"{kind} {name} occurs twice in the snapshot", hint="Take the snapshot again.")
        found[key] = value

    def _share(self, value: T) -> T:
        """Return the first object equal to ``value``."""
        return self._shared.setdefault((type(value), value), value)  # type: ignore[no-any-return]

    def _amounts(self, amounts: Mapping[str, int]) -> Amounts:
        return self._shared.setdefault(  # type: ignore[no-any-return]
            ("amounts", tuple(sorted(amounts.items()))), dict(sorted(amounts.items()))
        )

    def _node(self, item: wire.Node) -> Node:
        where = f"Node {item.metadata.name}"
        allocatable = {n: _quantity(v, f"{where}: allocatable {n}") for n, v in (item.status.allocatable or {}).items()}
        _check_amounts(allocatable, f"{where}: allocatable")
        return Node(
            name=item.metadata.name,
            labels=dict(sorted((item.metadata.labels or {}).items())),
            taints=tuple(self._share(Taint(t.key, t.value or "", t.effect)) for t in item.spec.taints or ()),
            allocatable=self._amounts({n: a for n, a in allocatable.items() if a}),
            unschedulable=item.spec.unschedulable,
            ready=all(c.status == "True" for c in item.status.conditions or () if c.type == "Ready"),
        )

    def _pod(self, item: wire.Pod) -> Pod:
        meta, spec, status = item.metadata, item.spec, item.status
        where = f"Pod {meta.namespace}/{meta.name}"
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
            owner=_owner(meta),
            requests=self._requests(lambda: charged_request(item), where),
            template=self._requests(lambda: template_request(spec), where),
            constraints=self._share(_constraints(spec, where)),
            unsupported=self._share(unsupported_fields(item)),
            anti_affinity=self._share(_anti_affinity(item, where)),
            nominated_node=status.nominated_node_name or None,
            terminating=meta.deletion_timestamp is not None,
            mirror=MIRROR_ANNOTATION in annotations,
            ready=any(c.type == "Ready" and c.status == "True" for c in status.conditions or ()),
            priority=spec.priority or 0,
            grace_seconds=spec.termination_grace_period_seconds,
        )

    def _requests(self, compute: Any, where: str) -> Amounts:
        try:
            amounts: dict[str, int] = compute()
        except QuantityError as error:
            raise InvalidInput(f"{where}: {error}") from error
        _check_amounts(amounts, f"{where}: request")
        return self._amounts(amounts)


def _named(item: wire.Node, kind: str) -> str:
    if not item.metadata.name:
        raise InvalidInput(f"a {kind} without metadata.name is in the snapshot")
    return item.metadata.name


def _key(item: Any, kind: str) -> Key:
    meta: wire.ObjectMeta = item.metadata
    if not meta.name or not meta.namespace:
        raise InvalidInput(f"a {kind} without metadata.name or metadata.namespace is in the snapshot")
    return (meta.namespace, meta.name)


def _quantity(value: str | int | float, where: str) -> int:
    try:
        return parse_quantity(value)
    except QuantityError as error:
        raise InvalidInput(f"{where}: {error}") from error


def _check_amounts(amounts: Mapping[str, int], where: str) -> None:
    for name, amount in amounts.items():
        if amount < 0:
            raise InvalidInput(f"{where} of {name} is negative")
        if amount % MILLI and is_device(name):
            raise InvalidInput(f"{where} of {name} is not a whole number of devices")


def _owner(meta: wire.ObjectMeta) -> Owner | None:
    for reference in meta.owner_references or ():
        if reference.controller:
            return Owner(reference.api_version, reference.kind, reference.name, reference.uid)
    return None


def _constraints(spec: wire.PodSpec, where: str) -> Constraints:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = None if required is None else tuple(_term(t, where) for t in required.node_selector_terms or ())
    return Constraints(
        node_selector=tuple(sorted((spec.node_selector or {}).items())),
        node_terms=terms,
        tolerations=tuple(Toleration(t.key, t.operator, t.value, t.effect) for t in spec.tolerations or ()),
        host_ports=_host_ports(spec),
    )


def _term(term: wire.NodeSelectorTerm, where: str) -> NodeTerm:
    return NodeTerm(
        tuple(_node_requirement(e, where) for e in term.match_expressions or ()),
        tuple(_node_requirement(e, where) for e in term.match_fields or ()),
    )


def _node_requirement(expression: wire.SelectorRequirement, where: str) -> NodeRequirement:
    if expression.operator not in (*OPERATORS, "Gt", "Lt"):
        raise InvalidInput(f"{where}: node affinity has the unknown operator {expression.operator!r}")
    return NodeRequirement(expression.key, expression.operator, tuple(expression.values or ()))


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


def _anti_affinity(item: wire.Pod, where: str) -> tuple[AntiAffinity, ...]:
    affinity = item.spec.affinity.pod_anti_affinity if item.spec.affinity else None
    terms = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return tuple(_anti_affinity_term(t, item.metadata.namespace, where) for t in terms or ())


def _anti_affinity_term(term: wire.PodAffinityTerm, namespace: str, where: str) -> AntiAffinity:
    """Return the term, widened where its exact reach depends on what a snapshot does not hold: never too narrow."""
    namespaces = None if term.namespace_selector is not None else frozenset(term.namespaces or (namespace,))
    selector = label_selector(term.label_selector, where)
    return AntiAffinity(term.topology_key, selector, namespaces)


def label_selector(selector: wire.LabelSelector | None, where: str) -> LabelSelector | None:
    """Return the selector, or None where there is none (which matches nothing)."""
    if selector is None:
        return None
    expressions = []
    for e in selector.match_expressions or ():
        if e.operator not in OPERATORS:
            raise InvalidInput(f"{where}: a label selector has the unknown operator {e.operator!r}")
        expressions.append(Requirement(e.key, e.operator, tuple(e.values or ())))  # type: ignore[arg-type]
    return LabelSelector.of(selector.match_labels or {}, tuple(expressions))


def _pod_group(item: wire.PodGroup) -> PodGroup:
    meta = item.metadata
    labels = dict(sorted((meta.labels or {}).items()))
    return PodGroup(meta.namespace, meta.name, meta.uid, labels, max(item.spec.min_member, 0), _owner(meta))


def _budget(item: wire.PodDisruptionBudget) -> PodDisruptionBudget:
    meta, status = item.metadata, item.status
    return PodDisruptionBudget(
        namespace=meta.namespace,
        name=meta.name,
        selector=label_selector(item.spec.selector, f"PodDisruptionBudget {meta.namespace}/{meta.name}"),
        disruptions_allowed=status.disruptions_allowed,
        current_healthy=status.current_healthy,
        desired_healthy=status.desired_healthy,
        unhealthy_policy=item.spec.unhealthy_pod_eviction_policy or "IfHealthyBudget",
        observed=status.observed_generation >= meta.generation,
    )


def _volcano_job(item: wire.VolcanoJob) -> VolcanoJob:
    spec = item.spec
    return VolcanoJob(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        policies=_policies(spec.policies),
        task_policies={t.name: _policies(t.policies) for t in spec.tasks or () if t.policies},
        max_retry=spec.max_retry,
        retry_count=item.status.retry_count,
    )


def _policies(policies: list[wire.LifecyclePolicy] | None) -> tuple[JobPolicy, ...]:
    found = []
    for policy in policies or ():
        events = frozenset([*(policy.events or ()), *([policy.event] if policy.event else [])])
        found.append(JobPolicy(events, policy.action or ""))
    return tuple(found)
