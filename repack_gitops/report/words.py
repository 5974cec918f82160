"""What every view says alike: a workload's name, a move's effect, staying nodes by reason."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.model.cluster import Key, Owner
from repack_gitops.model.code_words import explain
from repack_gitops.model.impact import GroupImpact
from repack_gitops.model.plan import Code, Evaluation, Step
from repack_gitops.model.status import counted, example_of


@dataclass(frozen=True, slots=True)
class Staying:
    """Nodes that stay for one reason; ``example`` is the detail of node ``shown``, ``remedy`` what would change it."""

    code: Code
    nodes: tuple[str, ...]
    shown: str
    example: str
    remedy: str

    @property
    def words(self) -> str:
        """The reason as words that start a line."""
        text = explain(self.code)
        return f"{text[0].upper()}{text[1:]} ({self.code.value})"


def staying_groups(evaluation: Evaluation) -> tuple[Staying, ...]:
    """Return staying nodes by reason: largest group first, then by reason; nodes by name."""
    groups: dict[Code, list[str]] = {}
    for node in sorted(evaluation.stays):
        groups.setdefault(evaluation.stays[node].code, []).append(node)
    ordered = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0].value))
    return tuple(_staying(evaluation, code, tuple(nodes)) for code, nodes in ordered)


def _staying(evaluation: Evaluation, code: Code, nodes: tuple[str, ...]) -> Staying:
    shown = example_of(evaluation, nodes)
    stay = evaluation.stays[shown]
    return Staying(code, nodes, shown, stay.detail, stay.remedy)


def workload(owner: Owner | None, key: Key) -> str:
    """Return what people call a workload: its controller's kind and name, or its PodGroup's."""
    return f"{owner.kind} {key[0]}/{owner.name}" if owner else f"PodGroup {key[0]}/{key[1]}"


def worst_first(impacts: tuple[GroupImpact, ...]) -> tuple[GroupImpact, ...]:
    """Return impacts as a reviewer reads them: breached first, then most cards moved, then by name."""
    return tuple(sorted(impacts, key=lambda i: (not i.breached, -i.moved_cards, i.key)))


def breaches(impacts: tuple[GroupImpact, ...]) -> int:
    """Return how many PodGroups fall below minAvailable."""
    return sum(1 for impact in impacts if impact.breached)


def disruption_sentence(evaluation: Evaluation) -> str:
    """Return one sentence on whether anything falls below minAvailable."""
    total, below = len(evaluation.impacts), breaches(evaluation.impacts)
    if total == 1:
        return f"The PodGroup {'falls below' if below else 'keeps'} its minAvailable while its pods move."
    if not below:
        return "No PodGroup falls below minAvailable."
    return f"{below:,} of {counted(total, 'PodGroup')} {'falls' if below == 1 else 'fall'} below minAvailable while pods move."


def receivers(step: Step) -> tuple[str, ...]:
    """Return the nodes that take a step's pods, in order of first use."""
    return tuple(dict.fromkeys(m.to_node for m in step.moves))


def cards(step: Step) -> int:
    """Return the cards a step moves."""
    return sum(m.cards for m in step.moves)
