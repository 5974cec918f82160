"""May this pod move? Every "no" is a Reason (spec 2.2)."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Owner, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.feasibility.demands import PodDemands
from repack_gitops.planner.feasibility.static import NodeDemands
from repack_gitops.planner.queues import Queues
from repack_gitops.planner.scope import ScopeFilter
from repack_gitops.planner.volcano_job import why_not_evict

#: (API group, kind) of controllers known to create a pod in the place of an evicted one.
#: batch/v1 Job is not among them yet: an eviction counts against its backoffLimit, which a snapshot does not hold.
RECREATING = frozenset(
    {
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("", "ReplicationController"),
        ("batch.volcano.sh", "Job"),
        ("workload.serving.volcano.sh", "ModelServing"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    }
)


class Movability:
    """Decides for the pods of one snapshot under one scope."""

    def __init__(self, snapshot: ClusterSnapshot, scope: ScopeFilter, options: PlannerOptions) -> None:
        self._snapshot = snapshot
        self._scope = scope
        self._options = options
        self._demands = PodDemands(snapshot)
        self._queues = Queues(snapshot)

    def demands(self, pod: Pod) -> NodeDemands:
        """Return what ``pod``, which may move, demands of a node by itself."""
        found = self._demands.of(pod)
        if isinstance(found, Reason):
            raise TypeError(f"pod {pod.namespace}/{pod.name} may not move: {found}")
        return found

    def why_not(self, pod: Pod) -> Reason | None:
        """Return why ``pod`` may not move, or None; the first rule that says no, in a fixed order."""
        return self._kind(pod) or self._membership(pod) or self._controller(pod) or self._constraints(pod)

    def _kind(self, pod: Pod) -> Reason | None:
        name = f"pod {pod.namespace}/{pod.name}"
        if pod.mirror:
            return Reason(Code.MIRROR_POD, f"{name} is a mirror pod; its kubelet owns it")
        if pod.owner is not None and pod.owner.kind == "DaemonSet":
            return Reason(Code.DAEMON_SET, f"{name} belongs to DaemonSet {pod.owner.name} and would return to its node")
        if pod.terminating:
            return Reason(Code.TERMINATING, f"{name} is already terminating")
        if pod.scheduler_name not in self._options.scheduler_names:
            return Reason(Code.OTHER_SCHEDULER, f"{name} is scheduled by {pod.scheduler_name}")
        return None

    def _membership(self, pod: Pod) -> Reason | None:
        name = f"pod {pod.namespace}/{pod.name}"
        if pod.pod_group is None:
            return Reason(Code.NO_POD_GROUP, f"{name} names no PodGroup")
        group = self._snapshot.pod_groups.get((pod.namespace, pod.pod_group))
        if group is None or group.deleting:
            why = "is not in the snapshot" if group is None else "is being deleted"
            return Reason(Code.POD_GROUP_NOT_FOUND, f"PodGroup {pod.namespace}/{pod.pod_group} {why}")
        if group.unsupported:
            fields = ", ".join(group.unsupported)
            return Reason(
                Code.UNSUPPORTED_CONSTRAINT,
                f"PodGroup {group.namespace}/{group.name} has {fields}, which a snapshot does not decide",
            )
        allowed = self._options.envelope.pod_groups
        if allowed is not None and group.key not in allowed:
            return Reason(Code.POD_GROUP_OUT_OF_SCOPE, f"PodGroup {group.namespace}/{group.name} is not approved")
        if not self._scope.pod_group(group):
            return Reason(Code.POD_GROUP_OUT_OF_SCOPE, f"PodGroup {group.namespace}/{group.name} is out of scope")
        if pod.namespace in self._options.forbidden_namespaces:
            return Reason(Code.POD_GROUP_OUT_OF_SCOPE, f"a guardrail forbids namespace {pod.namespace}")
        return None

    def _controller(self, pod: Pod) -> Reason | None:
        name = f"pod {pod.namespace}/{pod.name}"
        if pod.owner is None:
            return Reason(Code.NO_CONTROLLER, f"{name} has no controller; evicted, it would be lost")
        if pod.owner.kind in self._options.forbidden_owner_kinds:
            return Reason(Code.POD_GROUP_OUT_OF_SCOPE, f"a guardrail forbids owners of kind {pod.owner.kind}")
        if (pod.owner.group, pod.owner.kind) not in RECREATING:
            return Reason(Code.UNKNOWN_CONTROLLER, f"{_kind(pod.owner)} is not known to recreate evicted pods safely")
        if (pod.owner.group, pod.owner.kind) == ("batch.volcano.sh", "Job"):
            return why_not_evict(pod, pod.owner, self._snapshot)
        return None

    def _constraints(self, pod: Pod) -> Reason | None:
        name = f"pod {pod.namespace}/{pod.name}"
        if pod.unsupported:
            return Reason(
                Code.UNSUPPORTED_CONSTRAINT, f"{name} has {', '.join(pod.unsupported)}, which a snapshot does not decide"
            )
        found = self._demands.of(pod)
        if isinstance(found, Reason):
            return Reason(found.code, f"{name}: {found.detail}")
        return self._queues.why_not(pod)


def _kind(owner: Owner) -> str:
    return f"{owner.kind}.{owner.group}" if owner.group else owner.kind
