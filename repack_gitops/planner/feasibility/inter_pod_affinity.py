"""InterPodAffinity: required affinity and anti-affinity of the pod, and required anti-affinity of the pods already there.

Terms speak of topology domains: all nodes that share the value of a label. Counts by domain decide, and they change with
every move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from repack_gitops.model.affinity import AffinityTerm, Namespaces
from repack_gitops.model.cluster import Node, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.feasibility.pod_index import Label, asked_labels

#: (topology key, value): a topology domain.
Domain = tuple[str, str]
Terms = tuple[AffinityTerm, ...]


class Neighbours(Protocol):
    """Where other pods are, by topology domain; entries are positive."""

    def matching_all(self, terms: Terms) -> Mapping[Domain, int]:
        """Return how many pods that match every one of ``terms`` are in each domain of the terms' topology keys."""

    def matching(self, term: AffinityTerm) -> Mapping[Domain, int]:
        """Return how many pods that match ``term`` are in each domain of its topology key."""

    def repelling(self, pod: Pod) -> Iterator[tuple[AffinityTerm, Mapping[Domain, int]]]:
        """Yield the anti-affinity terms of other pods that match ``pod``, with how many hold them in each domain."""


def why_not(pod: Pod, node: Node, others: Neighbours, namespaces: Namespaces) -> Reason | None:
    """Return why ``pod`` may not join ``node``, or None; ``others`` are all pods but ``pod`` itself."""
    return _affinity(pod, node, others, namespaces) or _anti_affinity(pod, node, others) or _guarded(pod, node, others)


def undecided(pod: Pod, namespaces: Namespaces) -> Reason | None:
    """Return why the pod's affinity cannot be decided: it selects namespaces whose labels the snapshot does not hold."""
    if any(t.namespace_selector is not None for t in pod.relations.affinity) and pod.namespace not in namespaces:
        return Reason(Code.INTER_POD_AFFINITY, "podAffinity has a namespaceSelector, and the snapshot holds no namespaces")
    return None


def matches_all(terms: Terms, pod: Pod, namespaces: Namespaces) -> bool:
    """Tell whether ``pod`` matches every one of ``terms``."""
    return all(term.matches(pod, namespaces) for term in terms)


def _affinity(pod: Pod, node: Node, others: Neighbours, namespaces: Namespaces) -> Reason | None:
    terms = pod.relations.affinity
    if not terms:
        return None
    for term in terms:
        if term.topology_key not in node.labels:
            return Reason(Code.INTER_POD_AFFINITY, f"podAffinity needs nodes with the label {term.topology_key}")
    found = others.matching_all(terms)
    missing = next((t for t in terms if not found.get((t.topology_key, node.labels[t.topology_key]))), None)
    # The first pod of a group that wants to be together may go anywhere: nobody is there to join yet.
    if missing is None or (not found and matches_all(terms, pod, namespaces)):
        return None
    where = f"{missing.topology_key}={node.labels[missing.topology_key]}"
    return Reason(Code.INTER_POD_AFFINITY, f"podAffinity finds no pod in {where} that it wants")


def _anti_affinity(pod: Pod, node: Node, others: Neighbours) -> Reason | None:
    for term in pod.relations.anti_affinity:
        value = node.labels.get(term.topology_key)
        if value is not None and others.matching(term).get((term.topology_key, value)):
            return Reason(Code.INTER_POD_AFFINITY, f"podAntiAffinity: {term.topology_key}={value} holds a pod it avoids")
    return None


def _guarded(pod: Pod, node: Node, others: Neighbours) -> Reason | None:
    for term, holders in others.repelling(pod):
        value = node.labels.get(term.topology_key)
        if value is not None and holders.get((term.topology_key, value)):
            return Reason(Code.INTER_POD_AFFINITY, f"a pod in {term.topology_key}={value} has anti-affinity against it")
    return None


class Guards:
    """Anti-affinity terms of pods, indexed by a label they ask for: a pod meets only the few that could mean it."""

    def __init__(self) -> None:
        self._terms: dict[Label, dict[AffinityTerm, None]] = {}

    def add(self, term: AffinityTerm) -> None:
        """Know of ``term`` from now on."""
        for label in asked_labels(term.selector) if term.selector is not None else ():
            self._terms.setdefault(label, {})[term] = None

    def against(self, pod: Pod, namespaces: Namespaces) -> Iterator[AffinityTerm]:
        """Yield the terms that match ``pod``."""
        if self._terms:
            for label in (None, *pod.labels.items()):
                for term in self._terms.get(label, ()):
                    if term.matches(pod, namespaces):
                        yield term
