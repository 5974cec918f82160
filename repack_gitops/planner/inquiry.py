"""Answers to "why?" about a node, a PodGroup or a pod, from the very study that made the plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Literal

from repack_gitops.errors import InvalidInput
from repack_gitops.model.cluster import ClusterSnapshot, Key, Owner, Pod
from repack_gitops.model.explanation import Closed, GroupAnswer, NodeAnswer, PodAnswer, Receivers, StayGroup
from repack_gitops.model.plan import Code, Evaluation, PodMove
from repack_gitops.model.quantity import whole
from repack_gitops.model.status import example_of
from repack_gitops.planner.disruption import group_facts
from repack_gitops.planner.end_state import Cause, EndState
from repack_gitops.planner.evaluate import Study

_SIMILAR = 3


class Inquiry:
    """Asks about one study.

    Every method raises InvalidInput, with names that are nearly the same, for a name that is not in the snapshot.
    """

    def __init__(self, study: Study) -> None:
        self._problem = study.problem
        self._snapshot: ClusterSnapshot = study.problem.snapshot
        self._resource = study.problem.resource
        self.evaluation: Evaluation = study.evaluation
        steps = enumerate(self.evaluation.steps, start=1)
        self._moves: dict[Key, tuple[int, PodMove]] = {(m.namespace, m.pod): (i, m) for i, s in steps for m in s.moves}
        # What keeps a node is judged after the moves that the search found, even where they gain too little to be shown.
        found = study.result.steps if study.result else ()
        self._found_moves = {(m.namespace, m.pod) for s in found for m in s.moves}
        self._before, self._after = (EndState(self._snapshot, self._resource, taken) for taken in ((), found))

    # ---- all staying nodes ----
    def overview(self) -> tuple[StayGroup, ...]:
        """Return the staying nodes by reason: the largest group first, then by reason."""
        groups: dict[Code, list[str]] = {}
        for node, stay in self.evaluation.stays.items():
            groups.setdefault(stay.code, []).append(node)
        ordered = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0].value))
        return tuple(self._group_of_stays(code, nodes) for code, nodes in ordered)

    def _group_of_stays(self, code: Code, nodes: Sequence[str]) -> StayGroup:
        example = example_of(self.evaluation, nodes)
        return StayGroup(code, tuple(nodes), example, self.evaluation.stays[example])

    # ---- one node ----
    def node(self, name: str) -> NodeAnswer:
        """Answer for a node that provides the resource."""
        node = self._snapshot.node_by_name.get(name)
        if node is None:
            raise _unknown("node", name, self._snapshot.node_by_name)
        if not node.allocatable.get(self._resource, 0):
            hint = "Only nodes with the resource in status.allocatable count; --resource names another."
            raise InvalidInput(f"node {name} provides no {self._resource}", hint=hint)
        freed = self.evaluation.freed_nodes
        return NodeAnswer(
            node=name,
            capacity=whole(node.allocatable[self._resource]),
            used=whole(self._snapshot.used(name, self._resource)),
            in_scope=self._problem.scope.node(node),
            step=freed.index(name) + 1 if name in freed else None,
            stay=self.evaluation.stays.get(name),
            arriving=tuple(m for m in self.evaluation.moves if m.to_node == name),
            pods=tuple(self._pod(p) for p in self._snapshot.pods_by_node[name] if self._counts(p)),
        )

    # ---- one PodGroup ----
    def pod_group(self, namespace: str, name: str) -> GroupAnswer:
        """Answer for a PodGroup."""
        key = self._group_key(namespace, name)
        group = self._snapshot.pod_groups[key]
        facts = group_facts(self._snapshot, key, self._resource)
        impact = next((i for i in self.evaluation.impacts if i.key == key), None)
        members = self._snapshot.pods_by_group.get(key, ())
        return GroupAnswer(
            key=key,
            owner=facts.owner,
            in_scope=self._problem.scope.pod_group(group),
            running=facts.running,
            min_available=facts.min_available,
            slack=facts.slack,
            footprint=facts.footprint,
            moved_pods=impact.moved_pods if impact else 0,
            moved_cards=impact.moved_cards if impact else 0,
            breached=impact is not None and impact.breached,
            members=tuple(self._pod(p) for p in members if self._counts(p)),
        )

    def _group_key(self, namespace: str, name: str) -> Key:
        """Return the PodGroup of that name, or the only one of the workload of that name, as reports call it."""
        groups = self._snapshot.pod_groups
        if (namespace, name) in groups:
            return (namespace, name)
        owners = {key: self._owner_of(key) for key in groups if key[0] == namespace}
        found = [key for key, owner in owners.items() if owner is not None and owner.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            names = " or ".join("/".join(key) for key in sorted(found)[:_SIMILAR])
            raise InvalidInput(f"{namespace}/{name} has {len(found)} PodGroups", hint=f"Name one of them: {names}.")
        raise _unknown("PodGroup", f"{namespace}/{name}", ("/".join(k) for k in groups))

    def _owner_of(self, key: Key) -> Owner | None:
        return group_facts(self._snapshot, key, self._resource).owner

    # ---- one pod ----
    def pod(self, namespace: str, name: str) -> PodAnswer:
        """Answer for a pod that holds the resource on a node."""
        found = next((p for p in self._snapshot.pods if p.key == (namespace, name)), None)
        if found is None:
            raise _unknown("pod", f"{namespace}/{name}", (f"{p.namespace}/{p.name}" for p in self._snapshot.pods))
        if not self._counts(found):
            raise InvalidInput(f"pod {namespace}/{name} {self._irrelevant(found)}", hint="It neither moves nor keeps a node.")
        return self._pod(found)

    def _counts(self, pod: Pod) -> bool:
        return pod.active and pod.node in self._problem.index and pod.requests.get(self._resource, 0) > 0

    def _irrelevant(self, pod: Pod) -> str:
        if not pod.requests.get(self._resource, 0):
            return f"requests no {self._resource}"
        if not pod.active:
            return f"has ended ({pod.phase})"
        return f"is on node {pod.node}, which provides no {self._resource}" if pod.node else "is not bound to a node yet"

    def _pod(self, pod: Pod) -> PodAnswer:
        why_not = self._problem.movability.why_not(pod)
        step, move = self._moves.get(pod.key, (None, None))
        return PodAnswer(
            namespace=pod.namespace,
            pod=pod.name,
            node=pod.node or "",
            pod_group=pod.pod_group or "",
            cards=whole(pod.requests.get(self._resource, 0)),
            why_not=why_not,
            move=move,
            step=step,
            receivers=self._receivers(pod, "before" if pod.key in self._found_moves else "after") if why_not is None else None,
        )

    def _receivers(self, pod: Pod, moment: Literal["before", "after"]) -> Receivers:
        state = self._before if moment == "before" else self._after
        others = [n for i, n in enumerate(self._problem.nodes) if self._problem.occupied[i] and n.name != pod.node]
        kept = [n for n in others if n.name not in state.freed]
        causes: dict[Cause | None, list[str]] = {}
        for node in kept:
            causes.setdefault(state.why_not(pod, node), []).append(node.name)
        opened = tuple(causes.pop(None, ()))
        closed = [Closed(*cause, tuple(nodes)) for cause, nodes in causes.items() if cause]
        before = len(opened) if moment == "before" else sum(self._before.why_not(pod, n) is None for n in others)
        return Receivers(
            moment=moment,
            open=opened,
            open_before=before,
            freed=tuple(n.name for n in others if n.name in state.freed),
            closed=tuple(sorted(closed, key=lambda c: (-len(c.nodes), c.code.value, c.what))),
        )


_NAMED = {"pod": "Pods are named NS/NAME.", "PodGroup": "PodGroups are named NS/NAME; the name of their workload will do."}


def _unknown(kind: str, name: str, known: Iterable[str]) -> InvalidInput:
    names = sorted(known)
    similar = [n for n in names if n.startswith(name)][:_SIMILAR] or get_close_matches(name, names, n=_SIMILAR)
    hint = f"Did you mean {' or '.join(similar)}?" if similar else _NAMED.get(kind, "")
    return InvalidInput(f"the snapshot holds no {kind} {name}", hint=hint)
