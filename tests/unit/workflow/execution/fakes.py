"""The cluster port and the feed over a World: every call recorded, any answer scripted, death at any call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from repack_gitops.kube.interface import (
    Access,
    Conflict,
    EvictionAnswer,
    JobState,
    Lease,
    Nominated,
    NotNominated,
    PodEvent,
    PodList,
)
from repack_gitops.model.cluster import Node, Pod, PodDisruptionBudget
from repack_gitops.model.kubernetes import Wire
from repack_gitops.model.run import RepackRun
from repack_gitops.workflow.clock import timestamp
from repack_gitops.workflow.execution.feed import Change
from tests.unit.workflow.execution.world import World

Real = Callable[[], Any]
Action = Callable[[Real], Any]


class Killed(BaseException):
    """SIGKILL: nothing of the process runs any more."""


def answer(value: Any) -> Action:
    """The server answers ``value`` and does nothing."""
    return lambda _: value


def fail(error: BaseException) -> Action:
    """The call raises and nothing is done."""

    def act(_: Real) -> Any:
        raise error

    return act


def lost(outcome: Any) -> Action:
    """The server does it, but its answer is lost: the caller gets (or is raised) ``outcome`` instead."""

    def act(real: Real) -> Any:
        real()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return act


def meanwhile(happening: Callable[[], object]) -> Action:
    """Something happens right before the server acts."""

    def act(real: Real) -> Any:
        happening()
        return real()

    return act


def then(happening: Callable[[], object]) -> Action:
    """The server acts, and something happens before the caller hears of it."""

    def act(real: Real) -> Any:
        found = real()
        happening()
        return found

    return act


@dataclass(frozen=True)
class Call:
    """One call as the server saw it."""

    process: str
    name: str
    args: tuple[Any, ...]
    answer: Any
    at: float
    #: How many journal entries were durable when the call came, and who held the Lease.
    durable: int
    holder: str


class FakeCluster:
    """One process's view of the World; another process has its own."""

    LATENCY = 0.004

    def __init__(self, world: World, process: str = "pod-1") -> None:
        self.world, self.process, self.calls, self.dead = world, process, list[Call](), False
        self._scripts: dict[str, dict[int, Action]] = {}
        self._counts: dict[str, int] = {}
        self._kill: tuple[int, bool] | None = None
        self._sleep: tuple[int, Callable[[], object]] | None = None

    # ---- what a test arranges ----
    def script(self, name: str, *actions: Action | None, start: int = 1) -> None:
        """Let the calls of ``name`` from the ``start``-th on do ``actions``; None is a normal one. Dry runs: dry_run."""
        found = {start + i: a for i, a in enumerate(actions) if a is not None}
        self._scripts.setdefault(name, {}).update(found)

    def always(self, name: str, action: Action) -> None:
        """Let every call of ``name`` do ``action``."""
        self._scripts.setdefault(name, {})[0] = action

    def kill_at(self, call: int, *, after: bool) -> None:
        """Die at the ``call``-th call, before the server got it or after it acted."""
        self._kill = (call, after)

    def sleep_at(self, call: int, meantime: Callable[[], object]) -> None:
        """Be suspended before the ``call``-th call, and go on once ``meantime`` has happened."""
        self._sleep = (call, meantime)

    def named(self, *names: str) -> list[Call]:
        """Return the calls of these names, in order."""
        return [c for c in self.calls if c.name in names]

    def _call(self, name: str, args: tuple[Any, ...], real: Real) -> Any:
        if self.dead:
            raise Killed
        if self._sleep is not None and self._sleep[0] == len(self.calls) + 1:
            (_, meantime), self._sleep = self._sleep, None
            meantime()
        number = self._counts[name] = self._counts.get(name, 0) + 1
        due = self._kill is not None and self._kill[0] == len(self.calls) + 1
        if due and not self._after():
            self.dead = True
            raise Killed
        self.world.clock.advance(self.LATENCY)
        script = self._scripts.get(name, {})
        action = script.get(number, script.get(0))
        seen = self._seen()
        outcome: Any = None
        try:
            outcome = real() if action is None else action(real)
        except Killed:
            self.dead = True
            raise
        finally:
            call = Call(self.process, name, args, outcome, self.world.clock.monotonic(), *seen)
            self.calls.append(call)
            self.world.calls.append(call)
        if due:
            self.dead = True
            raise Killed
        return outcome

    def _seen(self) -> tuple[int, str]:
        return len(self.world.journal), next((lease.holder for lease in self.world.leases.values()), "")

    def _after(self) -> bool:
        return self._kill is not None and self._kill[1]

    # ---- reads ----
    def list_objects(self) -> Iterable[Wire]:
        found: list[Wire] = self._call("list_objects", (), lambda: list(self.world.objects()))
        return found

    def list_nodes(self) -> tuple[Node, ...]:
        found: tuple[Node, ...] = self._call("list_nodes", (), self.world.node_list)
        return found

    def list_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        found: tuple[PodDisruptionBudget, ...] = self._call("list_budgets", (), self.world.budget_list)
        return found

    def list_pods(self) -> PodList:
        found: PodList = self._call("list_pods", (), self.world.pod_list)
        return found

    def watch_pods(self, resource_version: str, seconds: int) -> Iterator[PodEvent]:
        raise AssertionError("the FakeFeed does not watch")

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        found: Pod | None = self._call("get_pod", (namespace, name), lambda: self.world.pod(name, namespace))
        return found

    def get_config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        return None

    def allowed(self, access: Access) -> bool:
        found: bool = self._call("allowed", (access,), lambda: str(access) not in self.world.denied)
        return found

    # ---- pods ----
    def evict(self, namespace: str, name: str, uid: str, *, grace_period_seconds: int | None, dry_run: bool) -> EvictionAnswer:
        found: EvictionAnswer = self._call(
            "dry_run" if dry_run else "evict",
            (namespace, name, uid, grace_period_seconds),
            lambda: self.world.evict((namespace, name), uid, grace_period_seconds, dry_run),
        )
        return found

    def nominate(self, namespace: str, name: str, uid: str, node: str | None) -> Nominated | NotNominated:
        found: Nominated | NotNominated = self._call(
            "nominate", (namespace, name, uid, node), lambda: self._nominate(namespace, name, uid, node)
        )
        return found

    def _nominate(self, namespace: str, name: str, uid: str, node: str | None) -> Nominated | NotNominated:
        pod = self.world.pods.get((namespace, name))
        if pod is None or pod.metadata.uid != uid:
            return NotNominated("the pod is gone")
        if pod.spec.node_name:
            return NotNominated(f"the pod is bound to {pod.spec.node_name} already")
        self.world.nominate((namespace, name), node)
        return Nominated()

    # ---- runs ----
    def get_run(self, name: str) -> RepackRun | None:
        found: RepackRun | None = self._call("get_run", (name,), lambda: self.world.runs.get(name))
        return found

    def list_runs(self) -> tuple[RepackRun, ...]:
        found: tuple[RepackRun, ...] = self._call("list_runs", (), lambda: tuple(self.world.runs.values()))
        return found

    def create_run(self, run: RepackRun) -> RepackRun | Conflict:
        found: RepackRun | Conflict = self._call("create_run", (run,), lambda: self._create_run(run))
        return found

    def _create_run(self, run: RepackRun) -> RepackRun | Conflict:
        if run.metadata.name in self.world.runs:
            return Conflict("it exists")
        now = timestamp(self.world.clock.now())
        meta = msgspec.structs.replace(run.metadata, uid="uid-run", resource_version="1", generation=1, creation_timestamp=now)
        return self._put_run(msgspec.structs.replace(run, metadata=meta, status=None))

    def update_run_status(self, run: RepackRun) -> RepackRun | Conflict:
        found: RepackRun | Conflict = self._call("update_run_status", (run,), lambda: self._update(run))
        return found

    def _update(self, run: RepackRun) -> RepackRun | Conflict:
        stored = self.world.runs.get(run.metadata.name)
        if stored is None or stored.metadata.resource_version != run.metadata.resource_version:
            return Conflict("the object has been modified")
        if run.status is not None:
            self.world.journal.append(run.status)
        return self._put_run(msgspec.structs.replace(stored, status=run.status))

    def _put_run(self, run: RepackRun) -> RepackRun:
        version = str(int(run.metadata.resource_version) + 1)
        bumped = msgspec.structs.replace(run, metadata=msgspec.structs.replace(run.metadata, resource_version=version))
        stored = msgspec.json.decode(msgspec.json.encode(bumped), type=RepackRun)
        self.world.runs[run.metadata.name] = stored
        return stored

    def delete_run(self, name: str, uid: str) -> None:
        raise AssertionError("an executor deletes nothing")

    # ---- leases ----
    def get_lease(self, namespace: str, name: str) -> Lease | None:
        found: Lease | None = self._call("get_lease", (), lambda: self.world.leases.get((namespace, name)))
        return found

    def put_lease(self, lease: Lease) -> Lease | Conflict:
        found: Lease | Conflict = self._call("put_lease", (lease,), lambda: put_lease(self.world, lease))
        return found

    # ---- jobs ----
    def create_job(self, namespace: str, manifest: Mapping[str, Any]) -> JobState | Conflict:
        raise AssertionError("an executor creates no Jobs")

    def get_job(self, namespace: str, name: str) -> JobState | None:
        raise AssertionError("an executor reads no Jobs")


def put_lease(world: World, lease: Lease) -> Lease | Conflict:
    """Store a Lease by compare-and-swap."""
    key = (lease.namespace, lease.name)
    stored = world.leases.get(key)
    if (stored.resource_version if stored else "") != lease.resource_version:
        return Conflict("the Lease changed since it was read")
    world.leases[key] = replace(lease, resource_version=str(int(lease.resource_version or "0") + 1))
    return world.leases[key]


class FakeFeed:
    """A Feed that advances the virtual clock to the next happening when there is none to report."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster, self._world, self._seen = cluster, cluster.world, 0
        self._listed = self.stopped = False

    def gap(self) -> None:
        """Lose all events until now; the next poll lists anew."""
        self._listed = False

    def poll(self, seconds: float) -> list[Change]:
        if self._cluster.dead:
            raise Killed
        if not self._listed:
            self._listed, self._seen = True, len(self._world.events)
            return [self._world.pod_list()]
        self._wait(seconds)
        found: list[Change] = list(self._world.events[self._seen :])
        self._seen = len(self._world.events)
        return found

    def _wait(self, seconds: float) -> None:
        clock, end = self._world.clock, self._world.clock.monotonic() + seconds
        while len(self._world.events) == self._seen and clock.monotonic() < end:
            left, soon = end - clock.monotonic(), clock.until_next()
            clock.advance(left if soon is None else min(left, soon))

    def stop(self) -> None:
        self.stopped = True
