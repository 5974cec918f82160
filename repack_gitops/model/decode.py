"""From wire structs to a ClusterSnapshot: every object checked, every inconsistency refused."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.accounting import parse_amounts
from repack_gitops.model.cluster import (
    ClusterSnapshot,
    JobPolicy,
    Key,
    Node,
    NodeGroupAffinity,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    Queue,
    Taint,
    VolcanoJob,
)
from repack_gitops.model.decode_owners import OwnersDecoder
from repack_gitops.model.decode_pod import PodDecoder, Shared, decode_pod, owner
from repack_gitops.model.decode_selectors import IMPOSSIBLE, label_selector
from repack_gitops.model.decode_storage import STORAGE_KINDS, StorageDecoder
from repack_gitops.model.protection import group_protection, node_protection
from repack_gitops.model.quantity import QuantityError
from repack_gitops.model.unsupported import unsupported_of_group

__all__ = ["build_snapshot", "decode_budget", "decode_node", "decode_pod", "label_selector"]

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
    with _collector_paused():
        for item in objects:
            decoder.add(item)
        return decoder.snapshot()


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A million new objects and no garbage among them: the collector's passes would double the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Decoder:
    """Collects decoded objects and the shared parts of their templates."""

    def __init__(self) -> None:
        self._shared = Shared()
        self._pod_decoder = PodDecoder(self._shared)
        self._nodes: dict[str, Node] = {}
        self._pods: dict[Key, Pod] = {}
        self._groups: dict[Key, PodGroup] = {}
        self._budgets: dict[Key, PodDisruptionBudget] = {}
        self._jobs: dict[Key, VolcanoJob] = {}
        self._namespaces: dict[str, dict[str, str]] = {}
        self._queues: dict[str, Queue] = {}
        self._storage = StorageDecoder()
        self._owners = OwnersDecoder()

    def add(self, item: wire.Wire) -> None:
        match item:
            case wire.Node():
                self._put(self._nodes, _named(item, "Node"), decode_node(item, self._shared), "Node")
            case wire.Pod():
                self._put(self._pods, _key(item, "Pod"), self._pod_decoder.pod(item), "Pod")
            case wire.PodGroup():
                self._put(self._groups, _key(item, "PodGroup"), _pod_group(item), "PodGroup")
            case wire.PodDisruptionBudget():
                self._put(self._budgets, _key(item, "PodDisruptionBudget"), decode_budget(item), "PodDisruptionBudget")
            case wire.VolcanoJob():
                self._put(self._jobs, _key(item, "Job"), _volcano_job(item), "Job.batch.volcano.sh")
            case wire.Namespace():
                labels = dict(sorted((item.metadata.labels or {}).items()))
                self._put(self._namespaces, _named(item, "Namespace"), labels, "Namespace")
            case wire.Queue():
                self._put(self._queues, _named(item, "Queue"), _queue(item), "Queue")
            case _ if isinstance(item, STORAGE_KINDS):
                self._storage.add(item)
            case _ if self._owners.add(item):
                pass
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
            namespaces={k: self._namespaces[k] for k in sorted(self._namespaces)},
            queues={k: self._queues[k] for k in sorted(self._queues)},
            storage=self._storage.storage(),
            owners=self._owners.owners(),
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


def decode_node(item: wire.Node, shared: Shared) -> Node:
    """Return the node; equal amounts and taints come from ``shared``.

    Raises
    ------
    InvalidInput
        An amount is no quantity, is negative, or is a fraction of a device.
    """
    try:
        allocatable = parse_amounts(item.status.allocatable)
    except QuantityError as error:
        raise InvalidInput(f"Node {item.metadata.name}: allocatable {error}", hint=IMPOSSIBLE) from error
    return Node(
        name=item.metadata.name,
        labels=dict(sorted((item.metadata.labels or {}).items())),
        taints=tuple(shared.value(Taint(t.key, t.value or "", t.effect)) for t in item.spec.taints or ()),
        allocatable=shared.amounts(allocatable),
        unschedulable=item.spec.unschedulable,
        ready=item.metadata.deletion_timestamp is None
        and all(c.status == "True" for c in item.status.conditions or () if c.type == "Ready"),
        do_not_disrupt=node_protection(item.metadata.annotations),
    )


def _named(item: wire.Node | wire.Namespace | wire.Queue, kind: str) -> str:
    if not item.metadata.name:
        raise InvalidInput(f"a {kind} without metadata.name is in the snapshot", hint=IMPOSSIBLE)
    return item.metadata.name


def _key(item: Any, kind: str) -> Key:
    meta: wire.ObjectMeta = item.metadata
    if not meta.name or not meta.namespace:
        raise InvalidInput(f"a {kind} without metadata.name or metadata.namespace is in the snapshot", hint=IMPOSSIBLE)
    return (meta.namespace, meta.name)


def _pod_group(item: wire.PodGroup) -> PodGroup:
    meta = item.metadata
    labels = dict(sorted((meta.labels or {}).items()))
    return PodGroup(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        labels=labels,
        min_member=max(item.spec.min_member, 0),
        owner=owner(meta),
        deleting=meta.deletion_timestamp is not None,
        unsupported=unsupported_of_group(item),
        queue=item.spec.queue or "",
        do_not_disrupt=group_protection(meta.annotations),
    )


def _queue(item: wire.Queue) -> Queue:
    try:
        capability = parse_amounts(item.spec.capability)
    except QuantityError as error:
        raise InvalidInput(f"Queue {item.metadata.name}: capability {error}", hint=IMPOSSIBLE) from error
    affinity = item.spec.affinity or wire.QueueAffinity()
    wanted = affinity.node_group_affinity or wire.NodeGroupTerms()
    unwanted = affinity.node_group_anti_affinity or wire.NodeGroupTerms()
    return Queue(
        name=item.metadata.name,
        parent=item.spec.parent,
        state=item.status.state,
        capability=capability,
        node_groups=NodeGroupAffinity(
            required=frozenset(wanted.required_during_scheduling_ignored_during_execution or ()),
            preferred=frozenset(wanted.preferred_during_scheduling_ignored_during_execution or ()),
            anti_required=frozenset(unwanted.required_during_scheduling_ignored_during_execution or ()),
            anti_preferred=frozenset(unwanted.preferred_during_scheduling_ignored_during_execution or ()),
        ),
    )


def decode_budget(item: wire.PodDisruptionBudget) -> PodDisruptionBudget:
    """Return the budget with the status its controller last wrote."""
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
        min_available=item.spec.min_available,
        max_unavailable=item.spec.max_unavailable,
        expected_pods=status.expected_pods,
        sync_failure=next((c.message or c.reason for c in status.conditions or () if c.reason == "SyncFailed"), ""),
    )


def _volcano_job(item: wire.VolcanoJob) -> VolcanoJob:
    spec = item.spec
    return VolcanoJob(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        policies=_policies(spec.policies),
        task_policies=_task_policies(spec.tasks or ()),
        max_retry=spec.max_retry,
        retry_count=item.status.retry_count,
        deleting=item.metadata.deletion_timestamp is not None,
        phase=item.status.state.phase,
    )


def _task_policies(tasks: Iterable[wire.TaskSpec]) -> dict[str, tuple[JobPolicy, ...]]:
    found: dict[str, tuple[JobPolicy, ...]] = {}
    for task in tasks:
        if task.policies:
            found[task.name] = (*found.get(task.name, ()), *_policies(task.policies))
    return found


def _policies(policies: list[wire.LifecyclePolicy] | None) -> tuple[JobPolicy, ...]:
    found = []
    for policy in policies or ():
        events = frozenset([*(policy.events or ()), *([policy.event] if policy.event else [])])
        found.append(JobPolicy(events, policy.action or ""))
    return tuple(found)
