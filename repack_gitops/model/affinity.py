"""What pods demand of each other: required inter-pod terms, and hard topology spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from repack_gitops.model.labels import LabelSelector

#: Namespace -> its labels. A namespace that is missing has unknown labels.
Namespaces = Mapping[str, Mapping[str, str]]


class Labelled(Protocol):
    """A pod, as selectors see it."""

    @property
    def namespace(self) -> str:
        """Its namespace."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A required term of podAffinity or podAntiAffinity, with (mis)matchLabelKeys already merged into the selector.

    ``selector`` is None where there is none: it matches nothing. ``namespace_selector`` is None where there is none; the
    namespaces it selects are added to ``namespaces``.
    """

    topology_key: str
    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None = None

    def matches(self, pod: Labelled, namespaces: Namespaces) -> bool:
        """Tell whether ``pod`` is one of those the term speaks of.

        The labels of a namespace that the snapshot does not hold are unknown; a selector is then taken to match, so that
        anti-affinity is never overlooked. (Affinity that depends on such a namespace is not decided at all.)
        """
        return self._reaches(pod.namespace, namespaces) and self.selector is not None and self.selector.matches(pod.labels)

    def _reaches(self, namespace: str, namespaces: Namespaces) -> bool:
        if namespace in self.namespaces:
            return True
        if self.namespace_selector is None:
            return False
        labels = namespaces.get(namespace)
        return labels is None or self.namespace_selector.matches(labels)


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A DoNotSchedule topology spread constraint, with matchLabelKeys already merged into the selector."""

    topology_key: str
    max_skew: int
    min_domains: int
    selector: LabelSelector | None
    honor_node_affinity: bool = True
    honor_node_taints: bool = False

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Tell whether a pod with ``labels`` counts among those to spread; an empty selector counts none, as in Kubernetes."""
        return self.selector is not None and bool(self.selector.requirements) and self.selector.matches(labels)
