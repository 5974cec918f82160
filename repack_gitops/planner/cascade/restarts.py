"""What a plan makes restart, workload by workload: the facts that a reviewer sees, and the limits a judge checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod
from repack_gitops.model.impact import WorkloadRestart
from repack_gitops.model.plan import PodMove
from repack_gitops.planner.cascade.cascades import Cascades
from repack_gitops.planner.cascade.forecast import Retries, Unit


@dataclass
class _Workload:
    owner: Owner
    unit: Unit = Unit.POD
    moved: set[Key] = field(default_factory=set)
    restarts: set[Key] = field(default_factory=set)
    retries: Retries | None = None
    spent: int = 0


def restarts(cascades: Cascades, victims: Iterable[Pod]) -> tuple[WorkloadRestart, ...]:
    """Return every workload of which more than its own moves restart, or that counts its evictions; sorted.

    Pods without a controller are left out: no plan moves them.
    """
    pods = [pod for pod in victims if pod.owner is not None]
    found, everything = _collect(cascades, pods), {pod.key for pod in pods}
    lines = (_line(namespace, w, everything) for (namespace, *_), w in sorted(found.items()))
    return tuple(line for line in lines if line.outside_moves or line.retries_left is not None)


def victims_of(snapshot: ClusterSnapshot, moves: Iterable[PodMove]) -> list[Pod]:
    """Return the pods that ``moves`` name and the snapshot holds."""
    moved = {(m.namespace, m.pod) for m in moves}
    return [pod for pod in snapshot.pods if pod.key in moved]


def overspent(cascades: Cascades, victims: Iterable[Pod]) -> Iterator[str]:
    """Yield the workloads that would not survive evicting ``victims`` together."""
    for line in restarts(cascades, victims):
        if line.retries_left is not None and line.retries_left < 0:
            yield f"{line.owner.kind} {line.namespace}/{line.owner.name} would not survive the plan: it counts its retries"


def _collect(cascades: Cascades, victims: Iterable[Pod]) -> dict[tuple[str, str, str, str], _Workload]:
    found: dict[tuple[str, str, str, str], _Workload] = {}
    for pod in victims:
        forecast = cascades.forecast(pod)
        owner = forecast.owner
        workload = found.setdefault((pod.namespace, owner.group, owner.kind, owner.name), _Workload(owner))
        workload.unit = max(workload.unit, forecast.unit, key=list(Unit).index)
        workload.moved.add(pod.key)
        workload.restarts |= forecast.restarts
        if forecast.retries is not None:
            workload.retries = forecast.retries
            workload.spent += forecast.retries.cost
    return found


def _line(namespace: str, workload: _Workload, moved: set[Key]) -> WorkloadRestart:
    retries = workload.retries
    return WorkloadRestart(
        namespace=namespace,
        owner=workload.owner,
        unit=workload.unit.value,
        moved_pods=len(workload.moved),
        restarting_pods=len(workload.restarts),
        outside_moves=len(workload.restarts - moved),
        retries_left=None if retries is None else retries.left - workload.spent,
    )
