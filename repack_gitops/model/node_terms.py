"""Node selector terms, as node affinity of pods and of volumes holds them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeRequirement:
    """One expression of a node selector term: the label operators and the numeric Gt and Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One node selector term: expressions over labels and over fields, joined by AND."""

    expressions: tuple[NodeRequirement, ...] = ()
    fields: tuple[NodeRequirement, ...] = ()


@dataclass(frozen=True, slots=True)
class PreferredTerm:
    """A term that a pod's node would better match; ``weight`` adds to the node's score where it does."""

    weight: int
    term: NodeTerm
