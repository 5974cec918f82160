"""Clusters to execute against, and an executor with everything it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import Pod
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.policy import (
    Approval,
    Execution,
    Guardrails,
    PolicyMetadata,
    PolicySpec,
    RepackPolicy,
    RunTemplate,
    Trigger,
    Windows,
)
from repack_gitops.model.run import (
    Eviction,
    Goal,
    Relocation,
    RepackRun,
    RunMetadata,
    RunStatus,
    RunTemplateSpec,
    new_run,
    run_spec,
)
from repack_gitops.model.safety import Safety
from repack_gitops.model.status import dry_run_status
from repack_gitops.planner import evaluate
from repack_gitops.policy.history import PastMove
from repack_gitops.policy.names import PLANNED_AT, RunPath
from repack_gitops.workflow.books import ApprovedRun
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.execution.executor import Assignment, Executor
from repack_gitops.workflow.execution.lock import ExecutorLock
from repack_gitops.workflow.execution.settings import settings_of
from tests.unit.workflow.execution.clock import VirtualClock
from tests.unit.workflow.execution.fakes import FakeCluster, FakeFeed
from tests.unit.workflow.execution.invariants import check
from tests.unit.workflow.execution.world import READY, World

GPU = "nvidia.com/gpu"
SYSTEM = "repack-system"
LEASE = (SYSTEM, "repack-executor")
RUN = "nightly-1"
API_VERSIONS = {"Job": "batch.volcano.sh/v1alpha1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1"}


def node(name: str, cards: int = 8, **changes: Any) -> wire.Node:
    """Return a Ready node with ``cards`` devices."""
    allocatable: dict[str, wire.Quantity] = {GPU: str(cards), "cpu": "64", "memory": "512Gi", "pods": "110"}
    return wire.Node(
        metadata=wire.ObjectMeta(name=name, labels={"kubernetes.io/hostname": name}),
        spec=wire.NodeSpec(**changes),
        status=wire.NodeStatus(allocatable=allocatable, conditions=[READY]),
    )


def pod(
    name: str,
    on: str | None,
    cards: int,
    owner: str | None = "Job",
    of: str = "",
    *,
    group: str = "",
    grace: int = 5,
    labels: dict[str, str] | None = None,
    selector: dict[str, str] | None = None,
    created: str = "2026-11-01T00:00:00Z",
) -> wire.Pod:
    """Return a running pod of an ``owner`` of that kind, or a pending one where ``on`` is None; without owner, immovable."""
    of = of or name
    references = None if owner is None else [_reference(owner, of)]
    requests: dict[str, wire.Quantity] = {"cpu": "1", **({GPU: str(cards)} if cards else {})}
    return wire.Pod(
        metadata=wire.ObjectMeta(
            name=name,
            namespace="team",
            uid=f"uid-{name}",
            labels=labels or {"app": of},
            annotations={"scheduling.k8s.io/group-name": group or f"pg-{of}"},
            owner_references=references,
            creation_timestamp=created if on else None,
        ),
        spec=wire.PodSpec(
            containers=[wire.Container(name="main", resources=wire.Resources(requests=requests))],
            node_name=on,
            scheduler_name="volcano",
            node_selector=selector,
            termination_grace_period_seconds=grace,
        ),
        status=wire.PodStatus(phase="Running" if on else "Pending", conditions=[READY] if on else None),
    )


def _reference(kind: str, name: str) -> wire.OwnerReference:
    version, uid = API_VERSIONS[kind], f"uid-{kind}-{name}"
    return wire.OwnerReference(api_version=version, kind=kind, name=name, uid=uid, controller=True)


def policy(
    spec: RunTemplateSpec,
    *,
    envelope: Any = "Subset",
    max_plan_age: str = "24h",
    windows: Windows | None = None,
    safety: Safety | None = None,
    **execution: Any,
) -> RepackPolicy:
    """Return a policy with short timeouts."""
    settings = {"eviction_timeout": "60s", "placement_timeout": "120s", "cooldown": "10m", **execution}
    return RepackPolicy(
        api_version="gitops.repack.volcano.sh/v1alpha1",
        kind="RepackPolicy",
        metadata=PolicyMetadata(name="nightly"),
        spec=PolicySpec(
            trigger=Trigger(cron_schedule="0 2 * * *"),
            run_template=RunTemplate(spec=spec),
            approval=Approval(envelope=envelope, max_plan_age=max_plan_age),
            execution=Execution(**settings),
            windows=windows or Windows(),
            safety=safety or Safety(),
        ),
    )


@dataclass
class Bed:
    """A world with an approved run; every ``executor`` is another process on it."""

    world: World
    spec: RunTemplateSpec = field(default_factory=lambda: RunTemplateSpec(goals=[Goal(resource=GPU)]))
    options: dict[str, Any] = field(default_factory=dict)
    guardrails: Guardrails | None = None
    wait_seconds: float = 300.0
    past: Callable[[datetime], frozenset[PastMove]] = lambda _: frozenset()
    approved: ApprovedRun | None = None
    said: list[str] = field(default_factory=list)
    stopping: bool = False
    started: int = 0
    feed: FakeFeed | None = None

    @property
    def clock(self) -> VirtualClock:
        return self.world.clock

    def approve(self, planned_at: datetime | None = None, stamp: str = "") -> ApprovedRun:
        """Plan on the world as it is now and approve that; ``stamp`` is what the plan says of its time."""
        evaluation = evaluate(build_snapshot(self.world.objects()), self.spec)
        now = timestamp(planned_at or self.clock.now() - timedelta(hours=1))
        status = dry_run_status(evaluation, now)
        meta = RunMetadata(name=RUN, annotations={PLANNED_AT: stamp or now})
        run, plan = new_run(meta, run_spec(self.spec, "Execute")), new_run(meta, run_spec(self.spec, "DryRun"), status)
        assert status.plan is not None
        self.approved = ApprovedRun(RunPath("nightly", RUN), run, plan, status.plan)
        return self.approved

    def assignment(self) -> Assignment:
        approved = self.approved or self.approve()
        rules = policy(self.spec, **self.options)
        eviction = self.spec.eviction
        grace = eviction.grace_period_seconds if eviction else None
        return Assignment(approved, rules, self.guardrails, settings_of(rules, grace), self.wait_seconds, self.past)

    def process(self) -> FakeCluster:
        """Return another process's cluster port."""
        self.started += 1
        return FakeCluster(self.world, f"pod-{self.started}")

    def execute(self, cluster: FakeCluster | None = None) -> RepackRun:
        """Run one executor process to its end; whatever the end, the invariants hold."""
        try:
            return self._execute(cluster or self.process())
        finally:
            check(self.world, self.assignment().approved.plan, envelope=self.options.get("envelope", "Subset"))

    def _execute(self, port: FakeCluster) -> RepackRun:
        lock = ExecutorLock(port, self.clock, SYSTEM, port.process)
        executor = Executor(
            port,
            self.clock,
            lock,
            lambda: self._feed(port),
            namespace=SYSTEM,
            progress=self.said.append,
            stopping=lambda: self.stopping,
        )
        return executor.execute(self.assignment())

    def _feed(self, port: FakeCluster) -> FakeFeed:
        self.feed = FakeFeed(port)
        return self.feed


def bed(nodes: Sequence[wire.Node], pods: Sequence[wire.Pod], spec: RunTemplateSpec | None = None, **options: Any) -> Bed:
    """Return a world of ``nodes`` and ``pods``; ``options`` as of `policy`."""
    world = World(VirtualClock())
    for found in nodes:
        world.add_node(found)
    for found_pod in pods:
        world.add_pod(found_pod)
    made = Bed(world, options=options)
    if spec is not None:
        made.spec = spec
    return made


def one_node(owner: str = "Job", **options: Any) -> Bed:
    """A pod of 2 cards on n0 that fits beside the 4 of n1; n8 and n9 are empty."""
    return bed(
        [node(n) for n in ("n0", "n1", "n8", "n9")],
        [pod("a-0", "n0", 2, owner, "a"), pod("stay", "n1", 4, None)],
        **options,
    )


def several(**options: Any) -> Bed:
    """Three nodes to free: two victims on n0, one on n1 and n2; n5, n6, n7 have room; n8 and n9 are empty."""
    return bed(
        [node(f"n{i}") for i in range(10) if i not in (3, 4)],
        [
            pod("job-0", "n0", 2, "Job", "job"),
            pod("web-x1", "n0", 1, "ReplicaSet", "web"),
            pod("db-0", "n1", 2, "StatefulSet", "db"),
            pod("solo", "n2", 2),
            pod("big5", "n5", 5, None),
            pod("big6", "n6", 6, None),
            pod("big7", "n7", 6, None),
        ],
        **options,
    )


def prefer(*names: str) -> Callable[[World, Pod, list[str]], str | None]:
    """Return a scheduler that takes the first of these nodes that fits, and binds nothing where none does."""

    def choose(_: World, __: Pod, fitting: list[str]) -> str | None:
        return next((n for n in names if n in fitting), None)

    return choose


def with_grace(seconds: int) -> RunTemplateSpec:
    """Return a spec that evicts with a grace period of its own."""
    return RunTemplateSpec(goals=[Goal(resource=GPU)], eviction=Eviction(grace_period_seconds=seconds))


def reason(run: RepackRun) -> str:
    """Return the reason of the condition that is True, or of the last one."""
    assert run.status is not None
    return next((c for c in run.status.conditions if c.status == "True"), run.status.conditions[-1]).reason


def status_of(world: World) -> RunStatus:
    """Return what the cluster says of the run now."""
    found = world.runs[RUN].status
    assert found is not None
    return found


def relocation(world: World, victim: str) -> Relocation:
    """Return the journal's entry of ``victim``."""
    return next(r for r in status_of(world).relocations if r.victim_pod_name == victim)
