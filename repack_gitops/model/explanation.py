"""Answers to "why?" about one node, PodGroup or pod; ``planner.inquiry`` gives them, ``report.explanation`` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repack_gitops.model.cluster import Key, Owner
from repack_gitops.model.plan import Code, PodMove, Reason, Stay


@dataclass(frozen=True, slots=True)
class Closed:
    """Nodes that one filter closes to a pod; ``what`` is the resource that falls short, or the taint."""

    code: Code
    what: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Receivers:
    """Every other occupied node, by what it is to one pod; names are sorted.

    Attributes
    ----------
    moment
        Which state was asked: before the plan's first move, or after its last.
    open
        Nodes that could take the pod.
    open_before
        How many could before the plan's first move.
    freed
        Nodes that the plan empties, which therefore receive nothing.
    closed
        The others, by the first filter that refuses; most nodes first.
    """

    moment: Literal["before", "after"]
    open: tuple[str, ...]
    open_before: int
    freed: tuple[str, ...]
    closed: tuple[Closed, ...]


@dataclass(frozen=True, slots=True)
class PodAnswer:
    """One pod with the target resource.

    Attributes
    ----------
    cards
        Whole devices it holds.
    why_not
        Why it may not move at all; None where it may.
    move
        Where the plan moves it, in step number ``step`` (from 1); None where it stays.
    receivers
        Where it could go; None for a pod that may not move.
    """

    namespace: str
    pod: str
    node: str
    pod_group: str
    cards: int
    why_not: Reason | None
    move: PodMove | None
    step: int | None
    receivers: Receivers | None


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """One node that provides the resource; ``capacity`` and ``used`` in whole cards.

    Attributes
    ----------
    step
        The step, from 1, in which it is freed; None where it is not.
    stay
        Why it stays; None where it is freed, is not occupied, or nothing was to be gained at all.
    arriving
        The moves of the plan that end here.
    """

    node: str
    capacity: int
    used: int
    in_scope: bool
    step: int | None
    stay: Stay | None
    arriving: tuple[PodMove, ...]
    pods: tuple[PodAnswer, ...]


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """One PodGroup; ``members`` are its pods with the resource, ``footprint`` what they hold in whole cards."""

    key: Key
    owner: Owner | None
    in_scope: bool
    running: int
    min_available: int
    slack: int
    footprint: int
    moved_pods: int
    moved_cards: int
    breached: bool
    members: tuple[PodAnswer, ...]


@dataclass(frozen=True, slots=True)
class StayGroup:
    """Nodes that stay for one reason; ``stay`` is that of ``example``."""

    code: Code
    nodes: tuple[str, ...]
    example: str
    stay: Stay


Answer = NodeAnswer | GroupAnswer | PodAnswer | tuple[StayGroup, ...]
