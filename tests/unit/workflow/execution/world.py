"""A cluster in memory, just alive enough to execute against: controllers, a scheduler, budgets, events.

The scheduler spreads: left alone it prefers the emptiest node, which is what undoes a repack, so that a nomination that
is missing or late shows in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from msgspec.structs import replace

from repack_gitops.kube.interface import (
    BudgetRefused,
    Evicted,
    EvictionAnswer,
    Lease,
    PermanentRefusal,
    PodEvent,
    PodGone,
    PodList,
)
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import Key, Node, Pod, PodDisruptionBudget
from repack_gitops.model.decode import decode_budget, decode_node
from repack_gitops.model.decode_pod import Shared, decode_pod
from repack_gitops.model.run import RepackRun, RunStatus
from repack_gitops.planner.feasibility.node_affinity import why_not
from repack_gitops.workflow.clock import timestamp
from tests.unit.workflow.execution.clock import VirtualClock

READY = wire.Condition(type="Ready", status="True")
GENERATED = frozenset({"ReplicaSet"})


@dataclass
class Budget:
    """A PDB: of ``expected`` pods with ``labels``, ``max_unavailable`` may be missing."""

    name: str
    labels: dict[str, str]
    expected: int
    max_unavailable: int
    namespace: str = "team"
    unhealthy: str | None = None

    def selects(self, pod: wire.Pod) -> bool:
        labels = pod.metadata.labels or {}
        return pod.metadata.namespace == self.namespace and all(labels.get(k) == v for k, v in self.labels.items())


@dataclass
class Behaviour:
    """How the cluster behaves; seconds."""

    bind_delay: float = 0.3
    ready_delay: float = 0.0
    recreate_delay: float = 0.05
    schedule_period: float = 1.0
    #: Owners (by name) that do not recreate their pods.
    dead_owners: set[str] = field(default_factory=set)
    #: Where a pod goes that is not nominated; None binds nothing.
    choose: Callable[[World, Pod, list[str]], str | None] | None = None
    honours_nominations: bool = True


class World:
    """Everything that is in the cluster, and what its controllers do about it."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock, self.behaviour = clock, Behaviour()
        self.nodes: dict[str, wire.Node] = {}
        self.pods: dict[Key, wire.Pod] = {}
        self.groups: dict[Key, wire.PodGroup] = {}
        self.jobs: dict[Key, wire.VolcanoJob] = {}
        self.budgets: list[Budget] = []
        self.runs: dict[str, RepackRun] = {}
        self.leases: dict[Key, Lease] = {}
        self.denied: set[str] = set()
        self.events: list[PodEvent] = []
        self.journal: list[RunStatus] = []
        self.calls: list[Any] = []
        #: UIDs of pods whose eviction was answered 201, once per answer.
        self.accepted: list[str] = []
        self._numbers = count(1)
        self._decoded: dict[str, tuple[wire.Pod, Pod]] = {}

    # ---- what a test puts there ----
    def add_node(self, node: wire.Node) -> None:
        self.nodes[node.metadata.name] = node

    def add_pod(self, pod: wire.Pod) -> Pod:
        """Add a pod (pending ones are scheduled) with its PodGroup and VCJob where they are missing."""
        meta = replace(pod.metadata, uid=pod.metadata.uid or f"uid-{next(self._numbers)}")
        meta = replace(meta, creation_timestamp=meta.creation_timestamp or timestamp(self.clock.now()))
        self._store("ADDED", replace(pod, metadata=meta))
        self._surroundings(pod)
        if not pod.spec.node_name:
            self.clock.at(self.behaviour.bind_delay, lambda: self._schedule((meta.namespace, meta.name), meta.uid))
        return self.decoded(self.pods[(meta.namespace, meta.name)])

    def _surroundings(self, pod: wire.Pod) -> None:
        space, owner = pod.metadata.namespace, self._owner(pod)
        group = (pod.metadata.annotations or {}).get("scheduling.k8s.io/group-name")
        if group and (space, group) not in self.groups:
            meta = wire.ObjectMeta(name=group, namespace=space, owner_references=pod.metadata.owner_references)
            self.groups[(space, group)] = wire.PodGroup(metadata=meta, spec=wire.PodGroupSpec(min_member=1))
        if owner.kind == "Job":
            meta = wire.ObjectMeta(name=owner.name, namespace=space)
            self.jobs.setdefault((space, owner.name), wire.VolcanoJob(metadata=meta))

    def kill(self, name: str, namespace: str = "team", grace: float = 0.0) -> None:
        """Delete a pod behind the executor's back; its controller answers as to an eviction."""
        self._terminate((namespace, name), grace)

    def finish(self, name: str, namespace: str = "team") -> None:
        """Let a pod succeed."""
        pod = self.pods[(namespace, name)]
        self._store("MODIFIED", replace(pod, status=replace(pod.status, phase="Succeeded", conditions=None)))

    def annotate(self, name: str, annotation: str, value: str, namespace: str = "team") -> None:
        """Let somebody annotate a pod."""
        pod = self.pods[(namespace, name)]
        meta = replace(pod.metadata, annotations={**(pod.metadata.annotations or {}), annotation: value})
        self._store("MODIFIED", replace(pod, metadata=meta))

    def annotate_node(self, name: str, annotation: str, value: str) -> None:
        """Let somebody annotate a node."""
        node = self.nodes[name]
        self.nodes[name] = replace(node, metadata=replace(node.metadata, annotations={annotation: value}))

    def decoded(self, pod: wire.Pod) -> Pod:
        """Return the pod as the port shows it; each version is decoded once."""
        known = self._decoded.get(pod.metadata.uid)
        if known is None or known[0] is not pod:
            known = self._decoded[pod.metadata.uid] = (pod, decode_pod(pod))
        return known[1]

    # ---- what the API shows ----
    def pod(self, name: str, namespace: str = "team") -> Pod | None:
        found = self.pods.get((namespace, name))
        return None if found is None else self.decoded(found)

    def on(self, node: str) -> list[str]:
        """Names of active pods on ``node``."""
        return sorted(p.name for p in map(self.decoded, self.pods.values()) if p.node == node and p.active)

    def objects(self) -> Iterator[wire.Wire]:
        yield from self.nodes.values()
        yield from self.pods.values()
        yield from self.groups.values()
        yield from map(self._budget, self.budgets)
        yield from self.jobs.values()

    def node_list(self) -> tuple[Node, ...]:
        return tuple(decode_node(self.nodes[name], Shared()) for name in sorted(self.nodes))

    def budget_list(self) -> tuple[PodDisruptionBudget, ...]:
        return tuple(decode_budget(self._budget(b)) for b in self.budgets)

    def pod_list(self) -> PodList:
        return PodList(tuple(self.decoded(self.pods[k]) for k in sorted(self.pods)), str(len(self.events)))

    # ---- evictions ----
    def evict(self, key: Key, uid: str, grace: int | None, dry_run: bool) -> EvictionAnswer:
        """Answer as pods/eviction does."""
        found = self.pods.get(key)
        if found is None:
            return PodGone(f"pods {key[1]} not found (HTTP 404)")
        refusal = self._refusal(found)
        if refusal is not None:
            return refusal
        if found.metadata.uid != uid:
            return PodGone(f"UID in precondition: {uid}, UID in object meta: {found.metadata.uid} (HTTP 409)")
        if not dry_run:
            self.accepted.append(uid)
            own = found.spec.termination_grace_period_seconds
            self._terminate(key, float(grace if grace is not None else 30 if own is None else own))
        return Evicted()

    def _refusal(self, pod: wire.Pod) -> EvictionAnswer | None:
        if pod.metadata.deletion_timestamp or pod.status.phase in ("Pending", "Succeeded", "Failed"):
            return None
        found = [b for b in self.budgets if b.selects(pod)]
        if len(found) > 1:
            return PermanentRefusal("This pod has more than one PodDisruptionBudget (HTTP 500)")
        if not found or self._healthy_enough(found[0], pod):
            return None
        return BudgetRefused(f"Cannot evict pod as it would violate the pod's disruption budget {found[0].name}.")

    def _healthy_enough(self, budget: Budget, pod: wire.Pod) -> bool:
        status = self._budget(budget).status
        if not self.decoded(pod).ready:
            enough = status.current_healthy >= status.desired_healthy > 0
            return budget.unhealthy == "AlwaysAllow" or enough
        return status.disruptions_allowed > 0

    def _budget(self, budget: Budget) -> wire.PodDisruptionBudget:
        pods = [self.decoded(p) for p in self.pods.values() if budget.selects(p)]
        healthy = sum(1 for p in pods if p.ready and not p.terminating)
        desired = budget.expected - budget.max_unavailable
        return wire.PodDisruptionBudget(
            metadata=wire.ObjectMeta(name=budget.name, namespace=budget.namespace, generation=1),
            spec=wire.PodDisruptionBudgetSpec(
                selector=wire.LabelSelector(match_labels=budget.labels), unhealthy_pod_eviction_policy=budget.unhealthy
            ),
            status=wire.PodDisruptionBudgetStatus(
                disruptions_allowed=max(healthy - desired, 0),
                current_healthy=healthy,
                desired_healthy=desired,
                expected_pods=budget.expected,
                observed_generation=1,
            ),
        )

    # ---- controllers ----
    def _terminate(self, key: Key, grace: float) -> None:
        pod = self.pods[key]
        if pod.metadata.deletion_timestamp:
            return
        gone = replace(pod.metadata, deletion_timestamp=timestamp(self.clock.now()))
        self._store("MODIFIED", replace(pod, metadata=gone))
        if self._owner(pod).kind in GENERATED:
            self.clock.at(self.behaviour.recreate_delay, lambda: self._recreate(pod))
        self.clock.at(grace, lambda: self._remove(key, pod.metadata.uid))

    def _remove(self, key: Key, uid: str) -> None:
        pod = self.pods.get(key)
        if pod is None or pod.metadata.uid != uid:
            return
        del self.pods[key]
        self._emit("DELETED", pod)
        if self._owner(pod).kind not in GENERATED:
            self.clock.at(self.behaviour.recreate_delay, lambda: self._recreate(pod))

    def _recreate(self, pod: wire.Pod) -> None:
        owner, name = self._owner(pod), pod.metadata.name
        if not pod.metadata.owner_references or owner.name in self.behaviour.dead_owners:
            return
        if owner.kind in GENERATED:
            name = f"{owner.name}-r{next(self._numbers)}"
        if (pod.metadata.namespace, name) not in self.pods:
            self.add_pod(pending(pod, name))

    @staticmethod
    def _owner(pod: wire.Pod) -> wire.OwnerReference:
        return (pod.metadata.owner_references or [wire.OwnerReference(api_version="", kind="None", name="")])[0]

    # ---- the scheduler ----
    def nominate(self, key: Key, node: str | None) -> None:
        pod = self.pods[key]
        self._store("MODIFIED", replace(pod, status=replace(pod.status, nominated_node_name=node)))

    def _schedule(self, key: Key, uid: str) -> None:
        found = self.pods.get(key)
        if found is None or found.metadata.uid != uid or found.spec.node_name or found.metadata.deletion_timestamp:
            return
        node = self._pick(self.decoded(found))
        if node is None:
            self.clock.at(self.behaviour.schedule_period, lambda: self._schedule(key, uid))
        else:
            self.bind(key, node)

    def _pick(self, pod: Pod) -> str | None:
        fitting = [name for name in sorted(self.nodes) if self.fits(pod, name)]
        if self.behaviour.honours_nominations and pod.nominated_node in fitting:
            return pod.nominated_node
        if self.behaviour.choose is not None:
            return self.behaviour.choose(self, pod, fitting)
        return min(fitting, key=lambda n: (len(self.on(n)), n)) if fitting else None

    def fits(self, pod: Pod, name: str) -> bool:
        node = decode_node(self.nodes[name], Shared())
        if node.unschedulable or not node.ready or why_not(pod.constraints, node) is not None:
            return False
        here = [p for p in map(self.decoded, self.pods.values()) if p.node == name and p.active]
        return all(
            sum(p.requests.get(r, 0) for p in here) + amount <= node.allocatable.get(r, 0) for r, amount in pod.requests.items()
        )

    def bind(self, key: Key, node: str) -> None:
        """Bind a pod; it runs and is Ready after the ready delay."""
        pod = self.pods[key]
        bound = replace(pod, spec=replace(pod.spec, node_name=node), status=replace(pod.status, nominated_node_name=None))
        self._store("MODIFIED", bound)
        if self.behaviour.ready_delay:
            self.clock.at(self.behaviour.ready_delay, lambda: self._start(key, pod.metadata.uid))
        else:
            self._start(key, pod.metadata.uid)

    def _start(self, key: Key, uid: str) -> None:
        pod = self.pods.get(key)
        if pod is not None and pod.metadata.uid == uid and pod.status.phase == "Pending":
            self._store("MODIFIED", replace(pod, status=replace(pod.status, phase="Running", conditions=[READY])))

    # ---- events ----
    def _store(self, kind: Any, pod: wire.Pod) -> None:
        self.pods[(pod.metadata.namespace, pod.metadata.name)] = pod
        self._emit(kind, pod)

    def _emit(self, kind: Any, pod: wire.Pod) -> None:
        self.events.append(PodEvent(kind, self.decoded(pod), str(len(self.events) + 1)))


def pending(pod: wire.Pod, name: str) -> wire.Pod:
    """Return ``pod`` as its controller creates it anew."""
    meta = replace(pod.metadata, name=name, uid="", creation_timestamp=None, deletion_timestamp=None)
    return replace(pod, metadata=meta, spec=replace(pod.spec, node_name=None), status=wire.PodStatus())
