"""What status.plan says of nodes freed against disruption."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from repack_gitops.model.document import Document
from repack_gitops.model.fields import Count
from repack_gitops.model.plan import Frontier, FrontierPoint


class FrontierPointStatus(Document, frozen=True):
    """What one limit on disruption buys."""

    limit: Annotated[Count, Meta(description="Most PodGroups, or most cards, that a plan may move.")]
    freed_nodes: Annotated[Count, Meta(description="Nodes that the best plan found within the limit frees.")]
    upper_bound: Annotated[Count, Meta(description="No plan within the limit frees more nodes.")]
    pod_groups: Annotated[Count, Meta(description="PodGroups that this plan affects.")]
    moved_cards: Count
    moved_pods: Count
    breaches: Annotated[Count, Meta(description="PodGroups that it moves beyond their slack.")]


class FrontierStatus(Document, frozen=True):
    """Nodes freed against disruption, under everything else that limits the plan."""

    pod_groups: Annotated[
        list[FrontierPointStatus],
        Meta(description="By a limit on the PodGroups moved; a higher one than the last frees no more."),
    ] = field(default_factory=list)
    cards: Annotated[
        list[FrontierPointStatus], Meta(description="By a limit on the cards moved; a higher one than the last frees no more.")
    ] = field(default_factory=list)


def frontier_status(frontier: Frontier) -> FrontierStatus:
    """Return ``frontier`` as status.plan.frontier."""
    return FrontierStatus(pod_groups=[_point(p) for p in frontier.pod_groups], cards=[_point(p) for p in frontier.cards])


def _point(point: FrontierPoint) -> FrontierPointStatus:
    return FrontierPointStatus(
        limit=point.limit,
        freed_nodes=point.freed,
        upper_bound=point.upper_bound,
        pod_groups=point.disruption.pod_groups,
        moved_cards=point.disruption.moved_cards,
        moved_pods=point.disruption.moved_pods,
        breaches=point.disruption.breaches,
    )
