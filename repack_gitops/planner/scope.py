"""Scope: which PodGroups may move and which nodes may be emptied (spec 1.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from repack_gitops.model.cluster import Node, PodGroup
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.model.run import NodeSet, PodGroupSet, Scope, Selector


class ScopeFilter:
    """A run's scope, ready to be asked; an absent axis does not restrict."""

    def __init__(self, scope: Scope | None) -> None:
        groups, nodes = (scope.pod_groups, scope.nodes) if scope else (None, None)
        self._groups = _Axis(groups.include, groups.exclude) if groups else _Axis(None, None)
        self._nodes = _Axis(nodes.include, nodes.exclude) if nodes else _Axis(None, None)

    def pod_group(self, group: PodGroup) -> bool:
        """Tell whether members of ``group`` may be evicted."""
        return self._groups.holds(f"{group.namespace}/{group.name}", group.labels)

    def node(self, node: Node) -> bool:
        """Tell whether ``node`` may be emptied."""
        return self._nodes.holds(node.name, node.labels)


class _Axis:
    """Include and exclude: within each a union of selector and names; exclude beats include; empty include is all."""

    def __init__(self, include: PodGroupSet | NodeSet | None, exclude: PodGroupSet | NodeSet | None) -> None:
        self._include = _Set(include)
        self._exclude = _Set(exclude)

    def holds(self, name: str, labels: Mapping[str, str]) -> bool:
        if self._exclude.holds(name, labels):
            return False
        return self._include.empty or self._include.holds(name, labels)


class _Set:
    def __init__(self, members: PodGroupSet | NodeSet | None) -> None:
        self._names: Collection[str] = frozenset(members.names) if members else frozenset()
        self._selector = selector_of(members.selector) if members and members.selector else None
        self.empty = not self._names and self._selector is None

    def holds(self, name: str, labels: Mapping[str, str]) -> bool:
        return name in self._names or (self._selector is not None and self._selector.matches(labels))


def selector_of(selector: Selector) -> LabelSelector:
    """Return the document's selector as a LabelSelector; operators were checked when it was read."""
    expressions = tuple(Requirement(e.key, e.operator, tuple(e.values)) for e in selector.match_expressions)
    return LabelSelector.of(selector.match_labels, expressions)
