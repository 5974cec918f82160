"""Who belongs together: pods of one controller, or with the same values of some labels."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Key, Pod

Keys = frozenset[Key]
_NONE: Keys = frozenset()


class Members:
    """Answers for one snapshot; each index is built once, at its first use. Pods already terminating are no members."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._pods = snapshot.pods
        self._owned: dict[tuple[str, ...], Keys] | None = None
        self._leaving: dict[tuple[str, ...], int] = {}
        self._labelled: dict[tuple[str, ...], dict[tuple[str, ...], Keys]] = {}

    def owned_with(self, pod: Pod) -> Keys:
        """Return the pods of the controller of ``pod``, finished ones too: a restart of the whole runs them again."""
        return self._by_owner().get(_controller(pod), _NONE)

    def leaving_with(self, pod: Pod) -> int:
        """Return how many pods of the controller of ``pod`` are terminating: it may not have counted them yet."""
        self._by_owner()
        return self._leaving.get(_controller(pod), 0)

    def labelled_as(self, pod: Pod, *names: str) -> Keys | None:
        """Return the pods of the namespace with the same values of labels ``names``; None if ``pod`` lacks one."""
        values = _values(pod, names)
        if values is None:
            return None
        if names not in self._labelled:
            self._labelled[names] = self._by_labels(names)
        return self._labelled[names].get(values, _NONE)

    def _by_owner(self) -> dict[tuple[str, ...], Keys]:
        if self._owned is None:
            found: dict[tuple[str, ...], list[Key]] = {}
            for pod in self._pods:
                key = _controller(pod)
                if key and pod.terminating:
                    self._leaving[key] = self._leaving.get(key, 0) + pod.active
                elif key:
                    found.setdefault(key, []).append(pod.key)
            self._owned = {key: frozenset(pods) for key, pods in found.items()}
        return self._owned

    def _by_labels(self, names: tuple[str, ...]) -> dict[tuple[str, ...], Keys]:
        found: dict[tuple[str, ...], list[Key]] = {}
        for pod in self._pods:
            values = _values(pod, names)
            if values is not None and not pod.terminating:
                found.setdefault(values, []).append(pod.key)
        return {values: frozenset(pods) for values, pods in found.items()}


def _controller(pod: Pod) -> tuple[str, ...]:
    owner = pod.owner
    return (pod.namespace, owner.group, owner.kind, owner.name) if owner else ()


def _values(pod: Pod, names: tuple[str, ...]) -> tuple[str, ...] | None:
    values = [pod.labels.get(name) for name in names]
    return None if None in values else (pod.namespace, *(v for v in values if v is not None))
