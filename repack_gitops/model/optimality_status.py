"""What status.plan says of how good a plan is."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from repack_gitops.model.document import Document
from repack_gitops.model.fields import Count
from repack_gitops.model.plan import Found, Optimality


class FoundStatus(Document, frozen=True):
    """The best plan that one strategy found."""

    strategy: str
    freed: Annotated[Count, Meta(description="Nodes freed.")]
    pod_groups: Annotated[Count, Meta(description="PodGroups affected.")]
    breaches: Annotated[Count, Meta(description="PodGroups moved beyond their slack.")]
    moved_cards: Count
    moved_pods: Count


class OptimalityStatus(Document, frozen=True):
    """How good the plan is; valid for plans in which only pods of freed nodes move."""

    strategy: Annotated[str, Meta(description="Whose plan is the best one found.")]
    freed: Annotated[Count, Meta(description="Nodes that it frees, also where that gains too little to be recommended.")]
    upper_bound: Annotated[Count, Meta(description="No plan frees more nodes.")]
    gap: Annotated[Count, Meta(description="upperBound less freed.")]
    proven: Annotated[bool, Meta(description="No plan frees more, and none that frees as many disturbs less.")]
    bound_kind: Annotated[
        str, Meta(description="Model: the optimum of the model. WorkLimit: a limit on work cut the search for it.")
    ]
    reproducible: Annotated[bool, Meta(description="Whether the same input gives the same plan again.")]
    found: Annotated[list[FoundStatus], Meta(description="What each strategy that ran found.")] = field(default_factory=list)
    settled: Annotated[
        list[str],
        Meta(
            description="Levels of the objective in which no plan is better, in this order: freedNodes, podGroups, breaches, "
            "damagedCards, movedCards, movedPods; all of them where proven."
        ),
    ] = field(default_factory=list)


def optimality_status(optimality: Optimality) -> OptimalityStatus:
    """Return ``optimality`` as status.plan.optimality."""
    return OptimalityStatus(
        strategy=optimality.strategy,
        freed=optimality.freed,
        upper_bound=optimality.upper_bound,
        gap=optimality.gap,
        proven=optimality.proven,
        bound_kind=optimality.bound_kind.value,
        reproducible=optimality.reproducible,
        found=[_found(f) for f in optimality.found],
        settled=list(optimality.settled),
    )


def _found(found: Found) -> FoundStatus:
    return FoundStatus(
        strategy=found.strategy,
        freed=found.freed,
        pod_groups=found.disruption.pod_groups,
        breaches=found.disruption.breaches,
        moved_cards=found.disruption.moved_cards,
        moved_pods=found.disruption.moved_pods,
    )
