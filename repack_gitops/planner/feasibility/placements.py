"""Where pods are, and how many of them by topology domain: counted once per question, kept up to date as pods move.

Only pods bound to a node count, terminating ones included, as the schedulers count them; topology spread leaves those
out. Anti-affinity of pods that are only nominated to a node counts too: they may be bound any moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repack_gitops.model.affinity import AffinityTerm, Namespaces, SpreadConstraint
from repack_gitops.model.cluster import Constraints, Key, Node, Pod, Relations
from repack_gitops.planner.feasibility.inter_pod_affinity import Domain, Guards, Terms, matches_all
from repack_gitops.planner.feasibility.pod_index import PodIndex
from repack_gitops.planner.feasibility.pod_topology_spread import SpreadCounts, admitted, has_keys


@dataclass(eq=False, slots=True)
class _Tally:
    """Pods of one kind, by domain; domains without any are left out."""

    keys: tuple[str, ...]
    counts: dict[Domain, int] = field(default_factory=dict)

    def update(self, node: Node, change: int) -> None:
        for key in self.keys:
            if key in node.labels:
                _add(self.counts, (key, node.labels[key]), change)


@dataclass(eq=False, slots=True)
class _SpreadTally:
    """Pods that one constraint counts, by eligible domain."""

    key: str
    eligible: frozenset[str]
    counts: SpreadCounts

    def update(self, node: Node, change: int) -> None:
        if node.name in self.eligible:
            self.counts.add(node.labels[self.key], change)


class Placements:
    """Pods on nodes; satisfies ``inter_pod_affinity.Neighbours`` and ``pod_topology_spread.Spreading``.

    A question is about all pods on nodes: take the pod itself off first (``remove``).
    """

    def __init__(self, nodes: Sequence[Node], pods: Iterable[Pod], namespaces: Namespaces) -> None:
        self._nodes = {n.name: n for n in nodes}
        self._namespaces = namespaces
        self._on: dict[Key, str] = {}
        self._guards = Guards()
        self._holders: dict[AffinityTerm, dict[Domain, int]] = {}
        self._tallies: dict[Terms, _Tally] = {}
        self._spreads: dict[object, tuple[_SpreadTally, ...]] = {}
        self._spread_tallies: dict[object, _SpreadTally] = {}
        self._node_sets: dict[frozenset[str], frozenset[str]] = {}
        self._eligible: dict[object, tuple[frozenset[str], frozenset[str]]] = {}
        #: The same by identity: terms are deep, and equal ones are mostly one object (model.decode_pod).
        self._held_by: dict[int, list[tuple[str, dict[Domain, int]]]] = {}
        self._known: dict[int, _Tally] = {}
        self._against: dict[int, tuple[AffinityTerm, ...]] = {}
        #: Everything known by its identity, so that no other object ever gets the same.
        self._kept: list[object] = []
        #: The tallies that a pod counts in, wherever it is.
        self._feeds: dict[Key, list[_Tally | _SpreadTally]] = {}
        active = [p for p in pods if p.active and (p.node or p.nominated_node) in self._nodes]
        self._index = PodIndex(active)
        for pod in active:
            self._hold(pod, self._nodes[pod.node or pod.nominated_node or ""], 1)
            if pod.node:
                self._on[pod.key] = pod.node

    def remove(self, pod: Pod) -> None:
        """Take ``pod`` off its node; nothing if it is on none."""
        node = self._on.pop(pod.key, None)
        if node is not None:
            self._change(pod, self._nodes[node], -1)

    def place(self, pod: Pod, node: str) -> None:
        """Put ``pod``, one of those given at first, on ``node``; it must be on none."""
        self._on[pod.key] = node
        self._change(pod, self._nodes[node], 1)

    def matching_all(self, terms: Terms) -> Mapping[Domain, int]:
        """Return how many pods that match every one of ``terms`` are in each domain of the terms' topology keys."""
        return self._tally(terms, terms).counts

    def matching(self, term: AffinityTerm) -> Mapping[Domain, int]:
        """Return how many pods that match ``term`` are in each domain of its topology key."""
        return self._tally(term, (term,)).counts

    def _tally(self, asked: object, terms: Terms) -> _Tally:
        known = self._known.get(id(asked))
        if known is None:
            self._kept.append(asked)
            if terms not in self._tallies:
                tally = _Tally(tuple(dict.fromkeys(t.topology_key for t in terms)))
                self._tallies[terms] = tally
                could = self._index.selected(terms[0].selector)
                self._count(tally, (p for p in could if matches_all(terms, p, self._namespaces)))
            known = self._known[id(asked)] = self._tallies[terms]
        return known

    def repelling(self, pod: Pod) -> Iterator[tuple[AffinityTerm, Mapping[Domain, int]]]:
        """Yield the anti-affinity terms of other pods that match ``pod``, with how many hold them in each domain."""
        return ((term, self._holders[term]) for term in self.guards_against(pod))

    def guards_against(self, pod: Pod) -> tuple[AffinityTerm, ...]:
        """Return the anti-affinity terms of pods that match ``pod``, whether or not anybody holds them now."""
        found = self._against.get(id(pod))
        if found is None:
            self._kept.append(pod)
            found = self._against[id(pod)] = tuple(self._guards.against(pod, self._namespaces))
        return found

    def asked_by(self, pod: Pod) -> Iterator[object]:
        """Yield tokens for everything that the pod's relations and the guards against it depend on."""
        relations = pod.relations
        if relations.affinity:
            yield self._tally(relations.affinity, relations.affinity)
        for term in relations.anti_affinity:
            yield self._tally(term, (term,))
        if relations.spread:
            yield from self._spreading(pod)
        yield from self.guards_against(pod)

    def touched_by(self, pod: Pod) -> Iterator[object]:
        """Yield the tokens of ``asked_by`` that change when ``pod`` moves."""
        yield from self._feeds.get(pod.key, ())
        yield from pod.relations.anti_affinity

    def spread_counts(self, pod: Pod) -> Sequence[SpreadCounts]:
        """Return, for each of the pod's spread constraints, the pods it counts by eligible domain."""
        return [tally.counts for tally in self._spreading(pod)]

    def _spreading(self, pod: Pod) -> tuple[_SpreadTally, ...]:
        # Equal constraints of pods that may use other nodes, or live in other namespaces, count otherwise.
        question = (pod.namespace, id(pod.relations), id(pod.constraints))
        if question not in self._spreads:
            self._kept += (pod.relations, pod.constraints)
            self._spreads[question] = tuple(self._spread(pod.namespace, pod.relations, pod.constraints))
        return self._spreads[question]

    def _spread(self, namespace: str, relations: Relations, demands: Constraints) -> Iterator[_SpreadTally]:
        for constraint in relations.spread:
            nodes, domains = self._counting(constraint, relations.spread, demands)
            question = (namespace, constraint, id(nodes))
            if question not in self._spread_tallies:
                tally = _SpreadTally(constraint.topology_key, nodes, SpreadCounts(domains))
                could = (p for p in self._index.selected(constraint.selector) if p.namespace == namespace and not p.terminating)
                self._count(tally, (p for p in could if constraint.counts(p.labels)))
                self._spread_tallies[question] = tally
            yield self._spread_tallies[question]

    def _counting(
        self, constraint: SpreadConstraint, together: tuple[SpreadConstraint, ...], demands: Constraints
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the eligible nodes and their domains."""
        keys = tuple(c.topology_key for c in together)
        asked = (keys, constraint.topology_key, constraint.honor_node_affinity, constraint.honor_node_taints, id(demands))
        if asked not in self._eligible:
            self._kept.append(demands)
            nodes = [n for n in self._nodes.values() if has_keys(together, n) and admitted(constraint, demands, n)]
            domains = frozenset(n.labels[constraint.topology_key] for n in nodes)
            # Templates that differ in what does not matter here leave the same nodes, and share what is counted.
            names = frozenset(n.name for n in nodes)
            self._eligible[asked] = (self._node_sets.setdefault(names, names), domains)
        return self._eligible[asked]

    def _count(self, tally: _Tally | _SpreadTally, pods: Iterable[Pod]) -> None:
        for pod in pods:
            self._feeds.setdefault(pod.key, []).append(tally)
            node = self._on.get(pod.key)
            if node is not None:
                tally.update(self._nodes[node], 1)

    def _change(self, pod: Pod, node: Node, change: int) -> None:
        self._hold(pod, node, change)
        for tally in self._feeds.get(pod.key, ()):
            tally.update(node, change)

    def _hold(self, pod: Pod, node: Node, change: int) -> None:
        if pod.relations.anti_affinity:
            for key, holders in self._holding(pod.relations):
                if key in node.labels:
                    _add(holders, (key, node.labels[key]), change)

    def _holding(self, relations: Relations) -> list[tuple[str, dict[Domain, int]]]:
        """Return the topology key and the holders of every anti-affinity term."""
        found = self._held_by.get(id(relations))
        if found is None:
            self._kept.append(relations)
            found = self._held_by[id(relations)] = []
            for term in relations.anti_affinity:
                if term not in self._holders:
                    self._holders[term] = {}
                    self._guards.add(term)
                    self._against.clear()
                found.append((term.topology_key, self._holders[term]))
        return found


def _add(counts: dict[Domain, int], domain: Domain, change: int) -> None:
    value = counts.get(domain, 0) + change
    if value:
        counts[domain] = value
    else:
        counts.pop(domain, None)
