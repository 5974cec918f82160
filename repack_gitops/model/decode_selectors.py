"""Selectors from the wire: of labels, and of nodes."""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.errors import InvalidInput
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.labels import LabelSelector, Operator, Requirement
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm, PreferredTerm

NODE_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
OPERATORS: Mapping[str, Operator] = {"In": "In", "NotIn": "NotIn", "Exists": "Exists", "DoesNotExist": "DoesNotExist"}

IMPOSSIBLE = "An API server accepts no such object: take the snapshot again, or correct the file."


def node_terms(selector: wire.NodeSelector, where: str) -> tuple[NodeTerm, ...]:
    """Return the terms of a node selector, joined by OR."""
    return tuple(_term(t, where) for t in selector.node_selector_terms or ())


def preferred_terms(spec: wire.PodSpec, where: str) -> tuple[PreferredTerm, ...]:
    """Return the node affinity that a pod prefers and does not require."""
    affinity = spec.affinity.node_affinity if spec.affinity else None
    found = affinity.preferred_during_scheduling_ignored_during_execution if affinity else None
    return tuple(PreferredTerm(p.weight, _term(p.preference, where)) for p in found or ())


def _term(term: wire.NodeSelectorTerm, where: str) -> NodeTerm:
    return NodeTerm(
        tuple(_node_requirement(e, where) for e in term.match_expressions or ()),
        tuple(_node_requirement(e, where) for e in term.match_fields or ()),
    )


def _node_requirement(expression: wire.SelectorRequirement, where: str) -> NodeRequirement:
    if expression.operator not in NODE_OPERATORS:
        raise InvalidInput(f"{where}: node affinity has the unknown operator {expression.operator!r}", hint=IMPOSSIBLE)
    return NodeRequirement(expression.key, expression.operator, tuple(expression.values or ()))


def label_selector(selector: wire.LabelSelector | None, where: str) -> LabelSelector | None:
    """Return the selector, or None where there is none (which matches nothing)."""
    if selector is None:
        return None
    expressions = []
    for e in selector.match_expressions or ():
        if e.operator not in OPERATORS:
            raise InvalidInput(f"{where}: a label selector has the unknown operator {e.operator!r}", hint=IMPOSSIBLE)
        expressions.append(Requirement(e.key, OPERATORS[e.operator], tuple(e.values or ())))
    return LabelSelector.of(selector.match_labels or {}, tuple(expressions))
