"""Drain once more, slowly and straight from spec 2.4: no arrays, no caches, no witnesses, every round from scratch.

It shares the filters and the rules of movability with the planner (they have tests of their own), but nothing of the
search. What the spec leaves open it decides as ``planner.placement`` documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from repack_gitops.model.cluster import ClusterSnapshot, HostPort, Key, Node, Pod
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner import PlannerOptions
from repack_gitops.planner.candidacy import Candidacy, receives_at_all
from repack_gitops.planner.feasibility import node_ports, node_resources_fit
from repack_gitops.planner.feasibility.static import static_reason
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.quota_rules import quota_rules
from repack_gitops.planner.scope import ScopeFilter
from tests.unit.planner.naive_relations import admits

#: (pod, from, to) in the order of the plan.
Moves = list[tuple[str, str, str]]
WEIGHTS = (Fraction("1.0"), Fraction("0.8"), Fraction("0.6"), Fraction("0.3"), Fraction("0.1"))


@dataclass
class Reference:
    """A plan in the making."""

    snapshot: ClusterSnapshot
    spec: RunTemplateSpec
    options: PlannerOptions = PlannerOptions()  # noqa: RUF009
    emptied: list[str] = field(default_factory=list)
    moves: Moves = field(default_factory=list)
    #: Candidates of some round whose victims fit, though not the way greedy preference places them.
    rescued: set[str] = field(default_factory=set)
    #: Of these, the ones whose turn came.
    rescued_commits: int = 0
    options: PlannerOptions = field(default_factory=PlannerOptions)

    def __post_init__(self) -> None:
        self.resource = self.spec.goals[0].resource
        self.nodes = {n.name: n for n in sorted(self.snapshot.nodes, key=lambda n: n.name) if n.allocatable.get(self.resource)}
        self.users = {
            name: [p for p in self.snapshot.pods if p.node == name and p.active and p.requests.get(self.resource)]
            for name in self.nodes
        }
        scope, options = ScopeFilter(self.spec.scope), self.options
        self.movability = Movability(self.snapshot, scope, options)
        self.quota_rules = quota_rules(self.snapshot, self.movability, options)
        candidacy = Candidacy(self.resource, scope, self.movability, options)
        self.candidates = [
            name
            for name, node in self.nodes.items()
            if self.users[name] and candidacy.why_not(node, self.snapshot.pods_by_node[name]) is None
        ]
        self.given_up: set[str] = set()
        self.targets: dict[Key, str] = {}

    # ---- the state after the moves planned so far ----
    def located(self, pod: Pod) -> str | None:
        return self.targets.get(pod.key, pod.node or pod.nominated_node)

    def idle(self, name: str) -> dict[str, int]:
        left = dict(self.nodes[name].allocatable)
        for pod in self.snapshot.pods:
            if pod.active and self.located(pod) == name:
                amounts = pod.template if pod.key in self.targets else pod.requests
                for resource, amount in amounts.items():
                    left[resource] = left.get(resource, 0) - amount
        return left

    def ports(self, name: str) -> set[HostPort]:
        return {port for p in self.snapshot.pods if p.active and self.located(p) == name for port in p.constraints.host_ports}

    def receives(self, name: str) -> bool:
        keeps = receives_at_all(self.nodes[name], self.snapshot.pods_by_node[name], self.resource)
        return name not in self.emptied and keeps

    def receivers(self) -> set[str]:
        return set(self.targets.values())

    # ---- may this pod go there ----
    def fits(self, pod: Pod, name: str, source: str) -> bool:
        if name == source or not self.receives(name):
            return False
        node = self.nodes[name]
        return (
            static_reason(self.movability.demands(pod), node) is None
            and admits(pod, node, self.others(pod, source), self.snapshot.nodes, self.snapshot.namespaces)
            and node_ports.why_not(pod.constraints, self.ports(name)) is None
            and node_resources_fit.why_not(pod.template, self.idle(name)) is None
        )

    def others(self, pod: Pod, source: str) -> list[tuple[Pod, Node, bool]]:
        """Every other pod where it is now; those of ``source`` have left, or are where they were tried."""
        found = []
        for other in self.snapshot.pods:
            at = self.located(other)
            gone = other in self.users[source] and other.key not in self.targets
            if other.active and other.key != pod.key and at in self.snapshot.node_by_name and not gone:
                bound = other.node is not None or other.key in self.targets
                found.append((other, self.snapshot.node_by_name[at], bound))
        return found

    def victims(self, name: str) -> list[Pod]:
        """Largest request first; ties by cpu, memory, then name; those that want to join others at the end."""

        def size(pod: Pod) -> tuple[bool, int, int, int, Key]:
            large, cpu, memory = (-pod.template.get(k, 0) for k in (self.resource, "cpu", "memory"))
            return (bool(pod.relations.affinity), large, cpu, memory, pod.key)

        return sorted(self.users[name], key=size)

    # ---- disruption of the whole plan with one more node emptied ----
    def moved(self, extra: str | None = None) -> dict[Key, list[Pod]]:
        found: dict[Key, list[Pod]] = {}
        for name in [*self.emptied, *([extra] if extra else [])]:
            for pod in self.users[name]:
                found.setdefault((pod.namespace, pod.pod_group or ""), []).append(pod)
        return found

    def cost(self, extra: str | None = None) -> tuple[int, int, int, int, int]:
        moved = self.moved(extra)
        breached = [key for key, pods in moved.items() if len(pods) > self.slack(key)]
        damaged = sum(self.footprint(key) if key in breached else self.cards(pods) for key, pods in moved.items())
        every = [p for pods in moved.values() for p in pods]
        return (len(moved), len(breached), damaged, self.cards(every), len(every))

    def cards(self, pods: list[Pod]) -> int:
        return sum(p.requests.get(self.resource, 0) // 1000 for p in pods)

    def members(self, key: Key) -> list[Pod]:
        return [p for p in self.snapshot.pods if (p.namespace, p.pod_group) == key]

    def slack(self, key: Key) -> int:
        ready = [p for p in self.members(key) if p.phase == "Succeeded" or (p.phase == "Running" and not p.terminating)]
        return max(len(ready) - self.snapshot.pod_groups[key].min_member, 0)

    def footprint(self, key: Key) -> int:
        return self.cards([p for p in self.members(key) if p.active and p.node])

    def over_quota(self, name: str) -> bool:
        pods = [p for n in (*self.emptied, name) for p in self.users[n]]
        drawn = [quota for p in pods for rule in self.quota_rules for quota in rule(p)]
        return any(drawn.count(quota) > quota.limit for quota in drawn)

    def over_budget(self, name: str) -> bool:
        limits = self.spec.max_per_run
        if limits is None:
            return False
        groups, _, _, cards, _ = self.cost(name)
        most_cards = limits.resources.get(self.resource)
        return (limits.pod_groups is not None and groups > limits.pod_groups) or (most_cards is not None and cards > most_cards)

    # ---- receiver preference ----
    def certain(self, name: str) -> bool:
        return name not in self.candidates or name in self.given_up or name in self.receivers()

    def preference(self, pod: Pod, name: str) -> tuple[object, ...]:
        """Certain first; then costlier to empty; then least left; then the name."""
        left = self.idle(name).get(self.resource, 0)
        if self.certain(name):
            return (0, (), left, name)
        base, mine = self.cost(), self.cost(name)
        groups, breaches, damaged, cards, pods = (b - a for a, b in zip(base, mine, strict=True))
        return (1, tuple(-v for v in (breaches, groups, damaged, cards, pods)), left, name)

    def first_placement(self, source: str) -> list[str] | None:
        """Return the first complete placement of the victims of ``source`` in the order of preference, or None."""
        return self._place(source, self.victims(source), [])

    def _place(self, source: str, victims: list[Pod], chosen: list[str]) -> list[str] | None:
        if not victims:
            return chosen
        pod, *rest = victims
        for name in sorted((n for n in self.nodes if self.fits(pod, n, source)), key=lambda n: self.preference(pod, n)):
            self.targets[pod.key] = name
            found = self._place(source, rest, [*chosen, name])
            del self.targets[pod.key]
            if found is not None:
                return found
        return None

    def greedy(self, source: str) -> list[str] | None:
        """Return the placement that never turns back, or None where that fails."""
        chosen: list[str] = []
        victims = self.victims(source)
        for pod in victims:
            open_nodes = [n for n in self.nodes if self.fits(pod, n, source)]
            if not open_nodes:
                break
            chosen.append(min(open_nodes, key=lambda n: self.preference(pod, n)))
            self.targets[pod.key] = chosen[-1]
        for pod in victims[: len(chosen)]:
            del self.targets[pod.key]
        return chosen if len(chosen) == len(victims) else None

    # ---- the rounds ----
    def run(self) -> Moves:
        while (name := self._round()) is not None:
            self.rescued_commits += self.greedy(name) is None
            for pod, target in zip(self.victims(name), self.first_placement(name) or (), strict=True):
                self.targets[pod.key] = target
                self.moves.append((pod.name, name, target))
            self.emptied.append(name)
        return self.moves

    def _round(self) -> str | None:
        left = [n for n in self.candidates if n not in self.emptied and n not in self.given_up and n not in self.receivers()]
        feasible = []
        for name in left:
            if self.over_budget(name) or self.over_quota(name) or self.first_placement(name) is None:
                self.given_up.add(name)
            else:
                feasible.append(name)
        self.rescued |= {n for n in feasible if self.greedy(n) is None}
        return min(feasible, key=lambda n: (self._score(n, feasible), n), default=None)

    def _score(self, name: str, feasible: list[str]) -> Fraction:
        score = Fraction(0)
        for dimension, weight in enumerate(WEIGHTS):
            values = [self.cost(n)[dimension] for n in feasible]
            low, high = min(values), max(values)
            if high > low:
                score += weight * Fraction(self.cost(name)[dimension] - low, high - low)
        return score


def reference_moves(snapshot: ClusterSnapshot, spec: RunTemplateSpec) -> Moves:
    """Return the plan of the reference, threshold aside."""
    return Reference(snapshot, spec).run()
