"""Which PodDisruptionBudgets select a pod, without asking each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from repack_gitops.model.cluster import Pod, PodDisruptionBudget
from repack_gitops.model.labels import LabelSelector, Requirement

Budgets = tuple[PodDisruptionBudget, ...]
#: (namespace, key, value) of a label.
_Label = tuple[str, str, str]
#: A selector, and all budgets of one namespace that have it.
_Entry = tuple[LabelSelector, Budgets]


class BudgetIndex:
    """Finds the budgets of a pod through its labels.

    A selector is filed under the rarest label that it demands, equal selectors of a namespace together; one that demands no
    value of any label (``{}``, Exists, NotIn) is tried on every pod of its namespace.
    """

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._by_label: dict[_Label, list[_Entry]] = {}
        self._others: dict[str, list[_Entry]] = {}
        entries = _entries(budgets)
        frequency = Counter(label for namespace, (selector, _) in entries for label in _demanded(namespace, selector))
        for namespace, entry in entries:
            self._file(namespace, entry, frequency)
        self._namespaces = {namespace for namespace, _ in entries}

    def of(self, pod: Pod) -> Budgets:
        """Return the budgets that select ``pod``, sorted by name."""
        if pod.namespace not in self._namespaces:
            return ()
        filed = (self._by_label.get((pod.namespace, key, value), ()) for key, value in pod.labels.items())
        entries = chain(self._others.get(pod.namespace, ()), *filed)
        found = [b for selector, budgets in entries if selector.matches(pod.labels) for b in budgets]
        return tuple(sorted(found, key=lambda budget: budget.name)) if len(found) > 1 else tuple(found)

    def _file(self, namespace: str, entry: _Entry, frequency: Counter[_Label]) -> None:
        choices = [_labels(namespace, requirement) for requirement in entry[0].requirements if requirement.operator == "In"]
        if not choices:
            self._others.setdefault(namespace, []).append(entry)
            return
        for label in min(choices, key=lambda labels: sum(frequency[label] for label in labels)):
            self._by_label.setdefault(label, []).append(entry)


def _entries(budgets: Iterable[PodDisruptionBudget]) -> list[tuple[str, _Entry]]:
    """A budget without any selector (null) selects nothing, and is left out."""
    found: dict[tuple[str, LabelSelector], list[PodDisruptionBudget]] = {}
    for budget in budgets:
        if budget.selector is not None:
            found.setdefault((budget.namespace, budget.selector), []).append(budget)
    return [(namespace, (selector, tuple(same))) for (namespace, selector), same in found.items()]


def _demanded(namespace: str, selector: LabelSelector) -> Iterator[_Label]:
    for requirement in selector.requirements:
        if requirement.operator == "In":
            yield from _labels(namespace, requirement)


def _labels(namespace: str, requirement: Requirement) -> list[_Label]:
    return [(namespace, requirement.key, value) for value in dict.fromkeys(requirement.values)]
