"""InterPodAffinity, the half that binds pods without affinity: required anti-affinity of pods already running.

A pod with affinity or anti-affinity of its own is never moved yet (``model.unsupported``). But a running pod's
anti-affinity also repels newcomers from its whole topology domain; where the snapshot cannot tell how far a term
reaches (namespaceSelector), it is taken to reach everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repack_gitops.model.cluster import AntiAffinity, ClusterSnapshot, Node, Pod
from repack_gitops.model.plan import Code, Reason

#: (topology key, topology value)
Domain = tuple[str, str]
#: A label that a term asks for, or None for a term that asks for none in particular.
_Label = tuple[str, str] | None


def repelling(snapshot: ClusterSnapshot) -> tuple[tuple[AntiAffinity, Domain], ...]:
    """Return every required anti-affinity term of a pod that runs, or is nominated, with the domain it guards, once."""
    found: dict[tuple[AntiAffinity, Domain], None] = {}
    for pod in snapshot.pods:
        node = snapshot.node_by_name.get(pod.node or pod.nominated_node or "")
        if not pod.anti_affinity or not pod.active or node is None:
            continue
        labels = node.labels
        for term in pod.anti_affinity:
            if term.topology_key in labels:
                found[(term, (term.topology_key, labels[term.topology_key]))] = None
    return tuple(found)


class Guards:
    """The same terms, indexed by a label they ask for: a pod meets only the few that could mean it."""

    def __init__(self, terms: Iterable[tuple[AntiAffinity, Domain]]) -> None:
        domains: dict[AntiAffinity, set[Domain]] = {}
        for term, domain in terms:
            domains.setdefault(term, set()).add(domain)
        self._terms: dict[_Label, list[tuple[AntiAffinity, frozenset[Domain]]]] = {}
        for term, found in domains.items():
            for label in _asked(term):
                self._terms.setdefault(label, []).append((term, frozenset(found)))

    def closed_to(self, pod: Pod) -> frozenset[Domain]:
        """Return the topology domains closed to ``pod``; the same as ``closed_domains``."""
        closed: frozenset[Domain] = frozenset()
        if self._terms:
            for label in (None, *pod.labels.items()):
                for term, found in self._terms.get(label, ()):
                    if _repels(term, pod):
                        closed |= found
        return closed


def _asked(term: AntiAffinity) -> Iterator[_Label]:
    """Yield labels of which a repelled pod has at least one."""
    requirements = term.selector.requirements if term.selector else ()
    asked = next((r for r in requirements if r.operator == "In"), None)
    if asked is None:
        yield None
    else:
        yield from ((asked.key, value) for value in dict.fromkeys(asked.values))


def closed_domains(pod: Pod, terms: Iterable[tuple[AntiAffinity, Domain]]) -> frozenset[Domain]:
    """Return the topology domains closed to ``pod``."""
    return frozenset(domain for term, domain in terms if _repels(term, pod))


def why_not(closed: frozenset[Domain], node: Node) -> Reason | None:
    """Return why ``node`` lies in a closed domain, or None."""
    for key, value in sorted(closed):
        if node.labels.get(key) == value:
            return Reason(Code.INTER_POD_AFFINITY, f"a pod in {key}={value} has anti-affinity against it")
    return None


def _repels(term: AntiAffinity, pod: Pod) -> bool:
    if term.selector is None:
        return False
    if term.namespaces is not None and pod.namespace not in term.namespaces:
        return False
    return term.selector.matches(pod.labels)
