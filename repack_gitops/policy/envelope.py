"""What a merge approved, as limits of the live re-plan (spec 4.1)."""

from __future__ import annotations

from typing import Literal

from repack_gitops.model.options import Envelope
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import PlanStatus


def envelope_of(kind: Literal["Subset", "Budget", "Exact"], approved: PlanStatus) -> Envelope:
    """Return the limits that ``approved`` sets under ``kind``.

    Subset and Exact let only the approved PodGroups move, only the approved nodes be emptied, and no more cards than
    planned; Budget leaves the run's own scope and budget as they are.
    """
    if kind == "Budget":
        return Envelope()
    return Envelope(
        pod_groups=frozenset((m.namespace, m.pod_group_name) for m in approved.moves),
        nodes=frozenset(approved.freed_nodes),
        cards=approved.summary.moved_card_count,
    )


def drift(approved: PlanStatus, live: Evaluation) -> tuple[str, ...]:
    """Return how the live plan differs from the approved one, move by move; empty when it is exactly the same."""
    planned = {(m.namespace, m.pod_group_name, p.name, p.from_node, p.to_node) for m in approved.moves for p in m.pods}
    found = {(m.namespace, m.pod_group, m.pod, m.from_node, m.to_node) for m in live.moves}
    missing = [f"no longer planned: {_move(m)}" for m in sorted(planned - found)]
    added = [f"not approved: {_move(m)}" for m in sorted(found - planned)]
    return (*missing, *added)


def _move(move: tuple[str, str, str, str, str]) -> str:
    namespace, _, pod, source, target = move
    return f"{namespace}/{pod} {source} -> {target}"
