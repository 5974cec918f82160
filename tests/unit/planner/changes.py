"""Changes of an explanation, carried out: the snapshot and the spec as they would be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from msgspec import structs

from repack_gitops.model.change import Action, Change
from repack_gitops.model.cluster import ClusterSnapshot, Node, Owner, Pod, PodGroup
from repack_gitops.model.plan import Step
from repack_gitops.model.run import MaxPerRun, NodeScope, NodeSet, PodGroupScope, RunTemplateSpec, Scope
from repack_gitops.planner.lifting import ready, text_of, tolerating, uncordoned
from tests.unit.planner.build import only_nodes
from tests.unit.planner.build import spec as run_spec


def after(snapshot: ClusterSnapshot, steps: Iterable[Step]) -> ClusterSnapshot:
    """Return the cluster once every replacement runs where ``steps`` put it."""
    targets = {(m.namespace, m.pod): m.to_node for s in steps for m in s.moves}
    pods = tuple(replace(p, node=targets[p.key], requests=p.template) if p.key in targets else p for p in snapshot.pods)
    return replace(snapshot, pods=pods)


def with_change(snapshot: ClusterSnapshot, change: Change, source: str) -> ClusterSnapshot:
    """Return the cluster after ``change``, which lets ``source`` be emptied; run and budgets are not its business."""
    return _CARRIED_OUT[change.action](snapshot, change, source)


def with_wider_scope(spec: RunTemplateSpec, change: Change) -> RunTemplateSpec:
    """Return the spec with a scope that includes the subject of ``change``."""
    scope, name = spec.scope or Scope(), change.subject.rpartition(" ")[2]
    if change.what == "scope.nodes":
        nodes = scope.nodes or NodeScope()
        include, exclude = nodes.include or NodeSet(), nodes.exclude or NodeSet()
        wider = NodeScope(
            include=structs.replace(include, names=[*include.names, name]),
            exclude=structs.replace(exclude, names=[n for n in exclude.names if n != name]),
        )
        return structs.replace(spec, scope=structs.replace(scope, nodes=wider))
    assert scope.pod_groups is not None
    assert scope.pod_groups.exclude is not None
    kept = [n for n in scope.pod_groups.exclude.names if n != name]
    groups = PodGroupScope(exclude=structs.replace(scope.pod_groups.exclude, names=kept))
    return structs.replace(spec, scope=structs.replace(scope, pod_groups=groups))


def with_larger_budget(spec: RunTemplateSpec, changes: Iterable[Change]) -> RunTemplateSpec:
    """Return the spec with the caps that ``changes`` ask for."""
    limits = spec.max_per_run or MaxPerRun()
    for change in changes:
        if change.what == "maxPerRun.podGroups":
            limits = structs.replace(limits, pod_groups=change.needed)
        else:
            limits = structs.replace(limits, resources={change.what.rpartition(" ")[2]: change.needed or 0})
    return structs.replace(spec, max_per_run=limits)


def only(node: str) -> RunTemplateSpec:
    """Return the spec of a run that may empty ``node`` and nothing else."""
    return run_spec(scope=only_nodes(node))


def _nodes(snapshot: ClusterSnapshot, name: str, change: Callable[[Node], Node]) -> ClusterSnapshot:
    return replace(snapshot, nodes=tuple(change(n) if n.name == name else n for n in snapshot.nodes))


def _enlarged(node: Node, resource: str, more: int) -> Node:
    return replace(node, allocatable={**node.allocatable, resource: node.allocatable.get(resource, 0) + more})


def _pods(snapshot: ClusterSnapshot, node: str, change: Callable[[Pod], Pod]) -> ClusterSnapshot:
    return replace(snapshot, pods=tuple(change(p) if node in (p.node, p.nominated_node) else p for p in snapshot.pods))


def _named(pod: Pod, change: Change) -> bool:
    return change.subject == f"pod {pod.namespace}/{pod.name}"


def _subject(snapshot: ClusterSnapshot, change: Change, edit: Callable[[Pod], Pod]) -> ClusterSnapshot:
    return replace(snapshot, pods=tuple(edit(p) if _named(p, change) else p for p in snapshot.pods))


def _tolerated(snapshot: ClusterSnapshot, change: Change, source: str) -> ClusterSnapshot:
    taint = next(t for t in snapshot.node_by_name[change.subject].taints if text_of(t) == change.what)
    return _pods(snapshot, source, lambda p: replace(p, constraints=tolerating(p.constraints, taint)))


def _group_found(snapshot: ClusterSnapshot, change: Change, source: str) -> ClusterSnapshot:
    del source
    namespace, name = change.subject.removeprefix("PodGroup ").split("/")
    group = PodGroup(namespace, name, f"uid-{name}", {}, 1)
    return replace(snapshot, pod_groups={**snapshot.pod_groups, group.key: group})


def _anywhere(pod: Pod) -> Pod:
    return replace(pod, constraints=replace(pod.constraints, node_selector=(), node_terms=None))


def _without_ports(pod: Pod) -> Pod:
    return replace(pod, constraints=replace(pod.constraints, host_ports=()))


_CARRIED_OUT: dict[Action, Callable[[ClusterSnapshot, Change, str], ClusterSnapshot]] = {
    Action.FREE_RESOURCE: lambda s, c, _: _nodes(s, c.subject, lambda n: _enlarged(n, c.what, (c.needed or 0) - (c.now or 0))),
    Action.UNCORDON: lambda s, c, _: _nodes(s, c.subject, uncordoned),
    Action.MAKE_READY: lambda s, c, _: _nodes(s, c.subject, ready),
    Action.TOLERATE_TAINT: _tolerated,
    Action.MATCH_NODE: lambda s, _, source: _pods(s, source, _anywhere),
    Action.FREE_PORT: lambda s, c, _: _pods(s, c.subject, _without_ports),
    Action.WAIT: lambda s, c, _: replace(s, pods=tuple(p for p in s.pods if not _named(p, c))),
    Action.USE_SCHEDULER: lambda s, c, _: _subject(s, c, lambda p: replace(p, scheduler_name=c.what)),
    Action.USE_CONTROLLER: lambda s, c, _: _subject(s, c, lambda p: replace(p, owner=Owner("apps/v1", "ReplicaSet", "web"))),
    Action.DROP_CONSTRAINT: lambda s, c, _: _subject(s, c, lambda p: replace(p, unsupported=())),
    Action.SNAPSHOT_AGAIN: _group_found,
}
