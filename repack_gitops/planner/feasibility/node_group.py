"""Volcano's nodegroup plugin: queues choose groups of nodes by the label ``volcano.sh/nodegroup-name``.

A snapshot does not say whether the plugin is on. Where some queue has such an affinity it is taken to be, in its default
(strict) mode: then a queue without any reaches no node at all. That can only forbid too much.
"""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.model.cluster import Node, NodeGroupAffinity, Queue
from repack_gitops.model.plan import Code, Reason

LABEL = "volcano.sh/nodegroup-name"
#: The queue of PodGroups that name none.
DEFAULT_QUEUE = "default"


class NodeGroups:
    """The rule of every queue, ancestors included; None stands for "the plugin is not in use"."""

    def __init__(self, queues: Mapping[str, Queue]) -> None:
        self._queues = queues
        self._used = any(queue.node_groups for queue in queues.values())

    def rule(self, queue: str) -> NodeGroupAffinity | None:
        """Return the rule for pods of ``queue``: its own, or that of its nearest ancestor that has one."""
        if not self._used:
            return None
        seen: set[str] = set()
        found = self._queues.get(queue or DEFAULT_QUEUE)
        while found is not None and not found.node_groups and found.name not in seen:
            seen.add(found.name)
            found = self._queues.get(found.parent)
        return found.node_groups if found is not None else NodeGroupAffinity()


def why_not(rule: NodeGroupAffinity | None, node: Node) -> Reason | None:
    """Return why the queue's rule closes ``node``, or None."""
    if rule is None:
        return None
    group = node.labels.get(LABEL)
    if group is None:
        return Reason(Code.NODE_GROUP, f"node {node.name} has no label {LABEL}")
    return None if rule.admits(group) else Reason(Code.NODE_GROUP, f"the queue's affinity does not admit node group {group}")
