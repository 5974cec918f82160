"""Kubernetes LabelSelectors: what they match, and what makes them invalid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One entry of ``matchExpressions``."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether ``labels`` satisfy this requirement; an absent key satisfies NotIn, as in Kubernetes."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values and self.key in labels
            case "NotIn":
                return self.key not in labels or labels[self.key] not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """``matchLabels`` and ``matchExpressions``, joined by AND; an empty selector matches everything."""

    requirements: tuple[Requirement, ...] = ()

    @staticmethod
    def of(match_labels: Mapping[str, str], expressions: tuple[Requirement, ...] = ()) -> LabelSelector:
        """Return the selector of both halves, in a canonical order, so that equal selectors are equal objects."""
        labels = tuple(Requirement(k, "In", (v,)) for k, v in match_labels.items())
        return LabelSelector(tuple(sorted(labels + expressions, key=lambda r: (r.key, r.operator, r.values))))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether ``labels`` satisfy every requirement."""
        return all(r.matches(labels) for r in self.requirements)
