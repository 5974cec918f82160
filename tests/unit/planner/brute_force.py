"""The most nodes that any plan could free, by trying everything; for clusters of a handful of nodes and pods."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from repack_gitops.model.cluster import ClusterSnapshot, HostPort, Key, Node, Pod, Relations
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner import PlannerOptions
from repack_gitops.planner.candidacy import Candidacy, budget_of, idle_amounts, receives_at_all, room_holders
from repack_gitops.planner.disruption import impacts, total
from repack_gitops.planner.feasibility import node_ports, node_resources_fit
from repack_gitops.planner.feasibility.static import static_reason
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.quota_rules import quota_rules
from repack_gitops.planner.scope import ScopeFilter
from tests.unit.planner.naive_relations import admits


def most_freed(snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions | None = None) -> int:
    """Return the size of the largest set of candidates that can be emptied together within the budget."""
    search = _Search(snapshot, spec, options or PlannerOptions())
    for size in range(len(search.candidates), 0, -1):
        if any(search.possible(frozenset(chosen)) for chosen in combinations(search.candidates, size)):
            return size
    return 0


def best_score(
    snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions | None = None
) -> tuple[int, int, int, int, int, int]:
    """Return the best (-nodes, PodGroups, breaches, damaged cards, moved cards, moved pods) of any set of candidates.

    As with ``most_freed``, what pods that move say about each other is left out: the real optimum may be worse.
    """
    search = _Search(snapshot, spec, options or PlannerOptions())
    sets = [frozenset(c) for size in range(len(search.candidates) + 1) for c in combinations(search.candidates, size)]
    return next(score for score, _, chosen in sorted(map(search.scored, sets)) if search.possible(frozenset(chosen)))


class _Search:
    def __init__(self, snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions) -> None:
        self._snapshot, self._budget = snapshot, budget_of(spec, options)
        resource = spec.goals[0].resource
        scope = ScopeFilter(spec.scope)
        self._movability = Movability(snapshot, scope, options)
        self._quota_rules = quota_rules(snapshot, self._movability, options)
        candidacy = Candidacy(resource, scope, self._movability, options)
        providing = [n for n in snapshot.nodes if n.allocatable.get(resource)]
        self._victims = {n.name: [p for p in snapshot.pods_by_node[n.name] if p.requests.get(resource)] for n in providing}
        self.candidates = [
            n.name for n in providing if self._victims[n.name] and candidacy.why_not(n, snapshot.pods_by_node[n.name]) is None
        ]
        self._receivers = [n for n in providing if receives_at_all(n, snapshot.pods_by_node[n.name], resource)]
        self._resource = resource
        movable = {p.key for name in self.candidates for p in self._victims[name]}
        self._fixed = [
            (p, snapshot.node_by_name[at], p.node is not None)
            for p in snapshot.pods
            if p.active and p.key not in movable and (at := p.node or p.nominated_node) in snapshot.node_by_name
        ]

    def scored(self, chosen: frozenset[str]) -> tuple[tuple[int, int, int, int, int, int], int, tuple[str, ...]]:
        """Return what emptying ``chosen`` is worth; then its size and itself, so that scored sets can be sorted."""
        moved: dict[Key, tuple[int, int]] = {}
        for pod in (p for name in chosen for p in self._victims[name]):
            key = (pod.namespace, pod.pod_group or "")
            pods, cards = moved.get(key, (0, 0))
            moved[key] = (pods + 1, cards + pod.requests[self._resource] // 1000)
        d = total(impacts(self._snapshot, self._resource, moved))
        score = (-len(chosen), d.pod_groups, d.breaches, d.damaged_cards, d.moved_cards, d.moved_pods)
        return score, len(chosen), tuple(sorted(chosen))

    def possible(self, chosen: frozenset[str]) -> bool:
        victims = [p for name in sorted(chosen) for p in self._victims[name]]
        groups = {(p.namespace, p.pod_group) for p in victims}
        cards = sum(p.requests[self._resource] // 1000 for p in victims)
        if self._budget.pod_groups is not None and len(groups) > self._budget.pod_groups:
            return False
        if self._budget.cards is not None and cards > self._budget.cards:
            return False
        drawn = [quota for p in victims for rule in self._quota_rules for quota in rule(p)]
        if any(drawn.count(quota) > quota.limit for quota in drawn):
            return False
        idle = idle_amounts(self._snapshot)
        ports = {n: [x for p in pods for x in p.constraints.host_ports] for n, pods in room_holders(self._snapshot).items()}
        return self._placed(victims, chosen, idle, ports)

    def _placed(
        self, victims: list[Pod], chosen: frozenset[str], idle: dict[str, dict[str, int]], ports: dict[str, list[HostPort]]
    ) -> bool:
        if not victims:
            return True
        pod, *rest = victims
        for node in self._receivers:
            room, held = idle[node.name], ports[node.name]
            fits = (
                node.name not in chosen
                and static_reason(self._movability.demands(pod), node) is None
                and self._tolerated(pod, node)
                and node_resources_fit.why_not(pod.template, room) is None
                and node_ports.why_not(pod.constraints, held) is None
            )
            if not fits:
                continue
            taken = {name: room.get(name, 0) - amount for name, amount in pod.template.items()}
            more = {**ports, node.name: [*held, *pod.constraints.host_ports]}
            if self._placed(rest, chosen, {**idle, node.name: {**room, **taken}}, more):
                return True
        return False

    def _tolerated(self, pod: Pod, node: Node) -> bool:
        """Only what pods that cannot move have against it: what others say depends on the order of moves."""
        loner = replace(pod, relations=Relations())
        return admits(loner, node, self._fixed, self._snapshot.nodes, self._snapshot.namespaces)
