"""From a Pod on the wire to what it demands of other pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from repack_gitops.model import kubernetes as wire
from repack_gitops.model.affinity import AffinityTerm, SpreadConstraint
from repack_gitops.model.cluster import Relations
from repack_gitops.model.decode_selectors import label_selector
from repack_gitops.model.labels import LabelSelector, Requirement

NONE = Relations()


def relations(item: wire.Pod, where: str) -> Relations:
    """Return the required terms and hard spread constraints of a pod; most have none."""
    affinity, spread = item.spec.affinity, item.spec.topology_spread_constraints
    if affinity is None and not spread:
        return NONE
    return Relations(
        affinity=_terms(affinity.pod_affinity if affinity else None, item, where),
        anti_affinity=_terms(affinity.pod_anti_affinity if affinity else None, item, where),
        spread=tuple(_spread(c, item, where) for c in spread or () if c.when_unsatisfiable == "DoNotSchedule"),
    )


def _terms(affinity: wire.PodAffinity | None, item: wire.Pod, where: str) -> tuple[AffinityTerm, ...]:
    found = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return tuple(_term(t, item, where) for t in found or ())


def _term(term: wire.PodAffinityTerm, item: wire.Pod, where: str) -> AffinityTerm:
    labels = item.metadata.labels or {}
    selector = label_selector(term.label_selector, where)
    if selector is not None:
        keys, others = term.match_label_keys or (), term.mismatch_label_keys or ()
        selector = _narrowed(selector, (*_of_keys(labels, keys, negated=False), *_of_keys(labels, others, negated=True)))
    alone = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        topology_key=term.topology_key,
        selector=selector,
        namespaces=frozenset({item.metadata.namespace} if alone else term.namespaces or ()),
        namespace_selector=label_selector(term.namespace_selector, where),
    )


def _spread(constraint: wire.TopologySpreadConstraint, item: wire.Pod, where: str) -> SpreadConstraint:
    selector = label_selector(constraint.label_selector, where)
    if selector is not None:
        wanted = _of_keys(item.metadata.labels or {}, constraint.match_label_keys or (), negated=False)
        selector = _narrowed(selector, tuple(wanted))
    return SpreadConstraint(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains or 1,
        selector=selector,
        honor_node_affinity=(constraint.node_affinity_policy or "Honor") == "Honor",
        honor_node_taints=(constraint.node_taints_policy or "Ignore") == "Honor",
    )


def _of_keys(labels: Mapping[str, str], keys: Sequence[str], *, negated: bool) -> Iterable[Requirement]:
    """Yield what matchLabelKeys (or mismatchLabelKeys) add: a key that the pod lacks adds nothing."""
    return (Requirement(key, "NotIn" if negated else "In", (labels[key],)) for key in keys if key in labels)


def _narrowed(selector: LabelSelector, added: tuple[Requirement, ...]) -> LabelSelector:
    """API servers merge these keys themselves by now, so what is there already is not added again."""
    fresh = tuple(r for r in added if r not in selector.requirements)
    return LabelSelector.of({}, (*selector.requirements, *fresh)) if fresh else selector
