"""NodeAffinity: the nodeSelector, and required node affinity (terms by OR, expressions by AND)."""

from __future__ import annotations

from repack_gitops.model.cluster import Constraints, Node, NodeRequirement, NodeTerm
from repack_gitops.model.plan import Code, Reason


def why_not(constraints: Constraints, node: Node) -> Reason | None:
    """Return why ``node`` does not match the pod's selector or affinity, or None."""
    for key, value in constraints.node_selector:
        if node.labels.get(key) != value:
            return Reason(Code.NODE_AFFINITY, f"nodeSelector {key}={value} does not match")
    if constraints.node_terms is None or any(_term_matches(t, node) for t in constraints.node_terms):
        return None
    return Reason(Code.NODE_AFFINITY, "no term of the required node affinity matches")


def _term_matches(term: NodeTerm, node: Node) -> bool:
    """A term without any requirement matches nothing, as in Kubernetes."""
    if not term.expressions and not term.fields:
        return False
    fields = {"metadata.name": node.name}
    return all(_matches(e, node.labels.get(e.key)) for e in term.expressions) and all(
        _matches(e, fields.get(e.key)) for e in term.fields
    )


def _matches(requirement: NodeRequirement, value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value in requirement.values and value is not None
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return _compares(requirement, value)


def _compares(requirement: NodeRequirement, value: str | None) -> bool:
    """Gt and Lt compare integers; anything that is not one does not match."""
    try:
        actual, bound = int(value or ""), int(requirement.values[0])
    except (ValueError, IndexError):
        return False
    return actual > bound if requirement.operator == "Gt" else actual < bound
