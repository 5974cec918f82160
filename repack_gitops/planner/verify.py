"""The independent judge of every plan: replays it step by step with exact numbers, and never imports the search.

It shares only the rules (filters, movability, scope, the state of a cluster), not the way plans are found: no arrays, no
scaling. In every step the node's pods leave first, then their replacements come one after another, in the plan's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from repack_gitops.model.cluster import ClusterSnapshot, Key, Node, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation, PodMove, Reason, Step, Verdict
from repack_gitops.model.quantity import whole
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.candidacy import Budget, Candidacy, budget_of, receives_at_all
from repack_gitops.planner.cascade.restarts import overspent, restarts, victims_of
from repack_gitops.planner.disruption import impacts, total
from repack_gitops.planner.disruption_budgets.forecast import forecast
from repack_gitops.planner.feasibility.state import ClusterState
from repack_gitops.planner.fragmentation import fragmentation
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.quota_rules import quota_rules
from repack_gitops.planner.quotas import Quota
from repack_gitops.planner.safety_caps import over_caps
from repack_gitops.planner.scope import ScopeFilter


def verify(
    snapshot: ClusterSnapshot, spec: RunTemplateSpec, evaluation: Evaluation, options: PlannerOptions | None = None
) -> tuple[str, ...]:
    """Return everything that is wrong with ``evaluation``; empty for a valid one. O(moves + pods)."""
    replay = _Replay(snapshot, spec, evaluation, options or PlannerOptions())
    return tuple(replay.problems())


class _Replay:
    def __init__(
        self, snapshot: ClusterSnapshot, spec: RunTemplateSpec, evaluation: Evaluation, options: PlannerOptions
    ) -> None:
        self._snapshot, self._spec, self._evaluation, self._options = snapshot, spec, evaluation, options
        self._resource = spec.goals[0].resource
        self._scope = ScopeFilter(spec.scope)
        self._movability = Movability(snapshot, self._scope, options)
        self._candidacy = Candidacy(self._resource, self._scope, self._movability, options)
        self._pods = {p.key: p for p in snapshot.pods}
        self._state = ClusterState(snapshot)
        self._moved: dict[Key, tuple[int, int]] = {}

    def problems(self) -> Iterator[str]:
        yield from self._header()
        yield from self._verdict()
        freed: set[str] = set()
        for step in self._evaluation.steps:
            if step.node in freed:
                yield f"node {step.node} is freed twice"
            freed.add(step.node)
        for step in self._evaluation.steps:
            yield from self._step(step, freed)
        yield from self._totals()
        yield from over_caps(self._evaluation.moves, self._pods, self._options.safeguards)
        yield from self._quotas()
        yield from self._stays(freed)

    def _header(self) -> Iterator[str]:
        evaluation, before = self._evaluation, fragmentation(self._snapshot, self._resource)
        if evaluation.resource != self._resource:
            yield f"the plan is for {evaluation.resource}, the run for {self._resource}"
        if evaluation.before != before:
            yield f"fragmentation before is {before}, not {evaluation.before}"
        if evaluation.after != replace(before, occupied=before.occupied - len(evaluation.steps)):
            yield "fragmentation after does not follow from the nodes freed"
        scope = (self._groups_in_scope(), sum(1 for n in self._providing() if self._scope.node(n)))
        if scope != (evaluation.scope_pod_groups, evaluation.scope_nodes):
            yield f"the scope covers {scope[0]} PodGroups and {scope[1]} nodes, which is not what the plan says"

    def _verdict(self) -> Iterator[str]:
        evaluation, wanted = self._evaluation, self._spec.goals[0].min_frag_improvement_percent
        verdict, before = evaluation.verdict, evaluation.before
        if (verdict is Verdict.RECOMMENDED) != bool(evaluation.steps):
            yield f"verdict {verdict.value} does not agree with {len(evaluation.steps)} steps"
        if (verdict is Verdict.NO_FRAGMENTATION) != (before.occupied == before.optimal):
            yield f"verdict {verdict.value} does not agree with {before.occupied} nodes where {before.optimal} would do"
        gain = (before.rate - evaluation.after.rate) * 100
        if verdict is Verdict.INSUFFICIENT:
            if evaluation.improvement and evaluation.improvement >= wanted:
                yield "the best plan found reaches minFragImprovementPercent, yet it is not shown"
        elif evaluation.improvement != gain:
            yield f"the gain is {gain} points, not {evaluation.improvement}"
        if evaluation.steps and gain < wanted:
            yield "the gain is below minFragImprovementPercent"

    def _step(self, step: Step, freed: set[str]) -> Iterator[str]:
        node = self._snapshot.node_by_name.get(step.node)
        if node is None:
            yield f"node {step.node} does not exist"
            return
        pods = [p for p in self._snapshot.pods_by_node[node.name] if p.requests.get(self._resource, 0) > 0]
        if not pods or not node.allocatable.get(self._resource, 0):
            yield f"node {node.name} is not occupied"
        residents = self._snapshot.pods_by_node[node.name]
        reason = self._candidacy.why_not(node, residents)
        if reason is not None:
            yield f"node {node.name} may not be emptied: {reason}"
        if sorted(p.key for p in pods) != sorted((m.namespace, m.pod) for m in step.moves):
            yield f"the moves of node {node.name} are not exactly its pods with {self._resource}"
        for pod in pods:
            self._state.remove(pod)
        for move in step.moves:
            yield from self._move(move, node, freed)

    def _move(self, move: PodMove, source: Node, freed: set[str]) -> Iterator[str]:
        name = f"pod {move.namespace}/{move.pod}"
        pod, target = self._pods.get((move.namespace, move.pod)), self._snapshot.node_by_name.get(move.to_node)
        if pod is None or target is None:
            yield f"{name} or node {move.to_node} does not exist"
            return
        facts = (pod.uid, pod.node, pod.pod_group, whole(pod.requests.get(self._resource, 0)))
        if facts != (move.uid, source.name, move.pod_group, move.cards) or move.from_node != source.name:
            yield f"{name} is not what the plan says"
        if target.name in freed:
            yield f"{name} goes to {target.name}, which is freed"
        reason = self._why_not(pod, target)
        if reason is not None:
            yield f"{name} cannot go to {target.name}: {reason}"
        self._state.place(pod, target.name)
        group = (pod.namespace, pod.pod_group or "")
        if group in self._snapshot.pod_groups:  # where it is not, the pod was already found immovable
            pods, cards = self._moved.get(group, (0, 0))
            self._moved[group] = (pods + 1, cards + move.cards)

    def _why_not(self, pod: Pod, target: Node) -> Reason | str | None:
        residents = self._snapshot.pods_by_node[target.name]
        if not receives_at_all(target, residents, self._resource):
            return "it is not an occupied node that stays"
        return self._state.why_not(pod, target)

    def _totals(self) -> Iterator[str]:
        found = impacts(self._snapshot, self._resource, self._moved)
        if found != self._evaluation.impacts:
            yield "the impacts by PodGroup do not follow from the moves"
        if total(found) != self._evaluation.disruption:
            yield f"the disruption is {total(found)}, not {self._evaluation.disruption}"
        victims, cascades = victims_of(self._snapshot, self._evaluation.moves), self._movability.cascades
        if restarts(cascades, victims) != self._evaluation.restarts:
            yield "what restarts does not follow from the moves"
        yield from overspent(cascades, victims)
        owners = {i.key: i.owner for i in found}
        for move in self._evaluation.moves:
            if move.owner != owners.get(move.group_key):
                yield f"the owner of pod {move.namespace}/{move.pod} is not that of its PodGroup"
        budget: Budget = budget_of(self._spec, self._options)
        if budget.pod_groups is not None and len(found) > budget.pod_groups:
            yield f"{len(found)} PodGroups move, {budget.pod_groups} may"
        cards = sum(i.moved_cards for i in found)
        if budget.cards is not None and cards > budget.cards:
            yield f"{cards} cards move, {budget.cards} may"

    def _quotas(self) -> Iterator[str]:
        budgets = self._movability.budgets
        if forecast(self._snapshot, budgets, self._evaluation.steps).budgets != self._evaluation.disruption_budgets:
            yield "what the plan says of PodDisruptionBudgets does not follow from the moves"
        drawn: dict[Quota, int] = {}
        for rule in quota_rules(self._snapshot, self._movability, self._options):
            for move in self._evaluation.moves:
                pod = self._pods.get((move.namespace, move.pod))
                for quota in rule(pod) if pod is not None else ():
                    drawn[quota] = drawn.get(quota, 0) + 1
        for quota, amount in drawn.items():
            if amount > quota.limit:
                yield f"{quota.name}: the plan needs {amount}, {quota.limit} left"

    def _stays(self, freed: set[str]) -> Iterator[str]:
        """A compact layout needs no reasons; otherwise every occupied node that is not freed has one."""
        occupied = {n.name for n in self._providing() if self._snapshot.used(n.name, self._resource) > 0}
        expected = set() if self._evaluation.verdict is Verdict.NO_FRAGMENTATION else occupied - freed
        for name in sorted(expected ^ set(self._evaluation.stays)):
            yield f"node {name} " + ("stays, and nothing says why" if name in expected else "does not stay, as the plan says")

    def _providing(self) -> list[Node]:
        return [n for n in self._snapshot.nodes if n.allocatable.get(self._resource, 0) > 0]

    def _groups_in_scope(self) -> int:
        """Count PodGroups in scope with a pod that holds the resource on a node that provides it."""
        providing, groups = {n.name for n in self._providing()}, self._snapshot.pod_groups
        using = [p for p in self._snapshot.pods if p.active and p.node in providing and p.requests.get(self._resource, 0) > 0]
        found = {(p.namespace, p.pod_group or "") for p in using}
        return sum(1 for key in found if key in groups and self._scope.pod_group(groups[key]))
