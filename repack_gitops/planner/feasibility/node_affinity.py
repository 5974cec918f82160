"""NodeAffinity: the nodeSelector, and required node affinity (terms by OR, expressions by AND)."""

from __future__ import annotations

import re

from repack_gitops.model.cluster import Constraints, Node
from repack_gitops.model.node_terms import NodeRequirement, NodeTerm
from repack_gitops.model.plan import Code, Reason

#: A label's value has at most 63 characters; a longer bound matches nothing and is not worth the arithmetic.
_INTEGER = re.compile(r"[+-]?[0-9]{1,63}")


def why_not(constraints: Constraints, node: Node) -> Reason | None:
    """Return why ``node`` does not match the pod's selector or affinity, or None."""
    for key, value in constraints.node_selector:
        if node.labels.get(key) != value:
            return Reason(Code.NODE_AFFINITY, f"nodeSelector {key}={value} does not match")
    if constraints.node_terms is None or any(term_matches(t, node) for t in constraints.node_terms):
        return None
    return Reason(Code.NODE_AFFINITY, "no term of the required node affinity matches")


def term_matches(term: NodeTerm, node: Node) -> bool:
    """Tell whether ``term`` matches; one without any requirement matches nothing, as in Kubernetes."""
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
    """Gt and Lt compare one integer with another; anything that is not one does not match."""
    actual = _integer(value or "")
    bound = _integer(requirement.values[0]) if len(requirement.values) == 1 else None
    if actual is None or bound is None:
        return False
    return actual > bound if requirement.operator == "Gt" else actual < bound


def _integer(text: str) -> int | None:
    """Return the 64-bit integer that Go reads from ``text``; Python's own ``int`` would also read ``1_0`` as 10."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None
