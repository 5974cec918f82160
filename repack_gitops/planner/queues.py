"""Volcano queues: would the queue let the replacement in again?

A replacement is a new task: its queue must be open, and must not hold more than it may, or Volcano leaves the pod Pending.
The victim's own share returns to the queue first, so a queue within its capability lets it in, unless somebody else of the
queue is quicker; that race cannot be planned away.
"""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.model.cluster import Amounts, ClusterSnapshot, Pod, Queue
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.quantity import format_quantity
from repack_gitops.planner.feasibility.node_group import DEFAULT_QUEUE


class Queues:
    """All queues of a snapshot and what they hold; a snapshot without any queue says nothing."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        lineages = self._lineages()
        held = self._held(lineages)
        self._refusals = {name: _refusal(line, held) for name, line in lineages.items()}

    def why_not(self, pod: Pod) -> Reason | None:
        """Return why the queue of ``pod`` would not let its replacement in, or None."""
        if not self._snapshot.queues:
            return None
        name = self._of(pod)
        if name not in self._refusals:
            return Reason(Code.QUEUE_CLOSED, f"queue {name} of pod {pod.namespace}/{pod.name} is not in the snapshot")
        return self._refusals[name]

    def _of(self, pod: Pod) -> str:
        group = self._snapshot.pod_groups.get((pod.namespace, pod.pod_group or ""))
        return (group.queue if group is not None else "") or DEFAULT_QUEUE

    def _lineages(self) -> dict[str, list[Queue]]:
        """Return every queue with its ancestors, nearest first."""
        queues, found = self._snapshot.queues, {}
        for name in queues:
            line: list[Queue] = []
            at: Queue | None = queues[name]
            while at is not None and at not in line:
                line.append(at)
                at = queues.get(at.parent)
            found[name] = line
        return found

    def _held(self, lineages: Mapping[str, list[Queue]]) -> dict[str, dict[str, int]]:
        """Return what the pods of every queue and of its descendants are charged; empty where no queue is limited."""
        held: dict[str, dict[str, int]] = {name: {} for name in lineages}
        if any(queue.capability for queue in self._snapshot.queues.values()):
            for pod in self._snapshot.pods:
                if pod.active and pod.node and not pod.terminating and pod.pod_group:
                    for queue in lineages.get(self._of(pod), ()):
                        _add(held[queue.name], pod.requests)
        return held


def _refusal(line: list[Queue], held: Mapping[str, Amounts]) -> Reason | None:
    for queue in line:
        if queue.state != "Open":
            state = queue.state or "not reconciled by Volcano yet"
            return Reason(Code.QUEUE_CLOSED, f"queue {queue.name} is {state}, not Open")
        for resource in sorted(queue.capability):
            have, may = held[queue.name].get(resource, 0), queue.capability[resource]
            if have > may:
                detail = f"{format_quantity(have)} of {resource}, its capability is {format_quantity(may)}"
                return Reason(Code.QUEUE_OVER_CAPABILITY, f"queue {queue.name} holds {detail}")
    return None


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount
