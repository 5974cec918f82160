"""Pods by label, so that a selector meets the few that could match and not all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from repack_gitops.model.cluster import Pod
from repack_gitops.model.labels import LabelSelector

#: A label that a selector asks for, or None for a selector that asks for none in particular.
Label = tuple[str, str] | None


class PodIndex:
    """Pods by the labels that selectors ask for; an index per label key is built when it is first needed."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._pods = pods
        self._by_key: dict[str, Mapping[str, list[Pod]]] = {}

    def selected(self, selector: LabelSelector | None) -> Iterable[Pod]:
        """Yield the pods whose labels match ``selector``, in their own order."""
        if selector is None:
            return ()
        return (pod for pod in self._could_match(selector) if selector.matches(pod.labels))

    def _could_match(self, selector: LabelSelector) -> Iterable[Pod]:
        asked = asked_labels(selector)
        if None in asked:
            return self._pods
        return (pod for label in asked if label is not None for pod in self._with(label[0]).get(label[1], ()))

    def _with(self, key: str) -> Mapping[str, list[Pod]]:
        if key not in self._by_key:
            found: dict[str, list[Pod]] = {}
            for pod in self._pods:
                value = pod.labels.get(key)
                if value is not None:
                    found.setdefault(value, []).append(pod)
            self._by_key[key] = found
        return self._by_key[key]


def asked_labels(selector: LabelSelector) -> tuple[Label, ...]:
    """Return labels of which every matching pod has at least one; ``(None,)`` if the selector asks for none."""
    asked = next((r for r in selector.requirements if r.operator == "In"), None)
    return (None,) if asked is None else tuple((asked.key, value) for value in dict.fromkeys(asked.values))
