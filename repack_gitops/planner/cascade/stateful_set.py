"""apps/v1 StatefulSet: one pod in the place of another, and in order (podManagementPolicy OrderedReady, the default).

The controller creates no replica while one of a lower ordinal is not Running and Ready (stateful_set_control.go), so an
evicted pod behind such a one does not come back until that is mended. A snapshot does not hold the policy: all sets are
taken to be ordered.
"""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Owner, Pod
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, only, refused, title

_Set = tuple[str, str]


class Ordered:
    """The lowest replica of every StatefulSet that is not Running and Ready."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._stuck: dict[_Set, tuple[int, str]] = {}
        for pod in snapshot.pods:
            if pod.owner is not None and (pod.owner.group, pod.owner.kind) == ("apps", "StatefulSet"):
                ordinal = _ordinal(pod)
                if ordinal is not None and not (pod.phase == "Running" and pod.ready and not pod.terminating):
                    key = (pod.namespace, pod.owner.name)
                    self._stuck[key] = min(self._stuck.get(key, (ordinal, pod.name)), (ordinal, pod.name))

    def forecast(self, pod: Pod, owner: Owner) -> Forecast:
        """Return what evicting ``pod`` of the StatefulSet ``owner`` does."""
        ordinal, stuck = _ordinal(pod), self._stuck.get((pod.namespace, owner.name))
        if ordinal is None or stuck is None or stuck[0] >= ordinal:
            return only(pod, owner)
        detail = f"{title(pod, owner)} creates no pod again while {stuck[1]} is not Ready"
        return refused(pod, owner, Code.OWNER_WAITS, detail)


def _ordinal(pod: Pod) -> int | None:
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() and number.isascii() else None
