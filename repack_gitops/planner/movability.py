"""May this pod move? Every "no" is a Reason (spec 2.2)."""

from __future__ import annotations

from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.cascade.cascades import Cascades
from repack_gitops.planner.cascade.decision import why_not_evict
from repack_gitops.planner.disruption_budgets.selection import DisruptionBudgets
from repack_gitops.planner.feasibility.demands import PodDemands
from repack_gitops.planner.feasibility.static import NodeDemands
from repack_gitops.planner.gangs import Gangs
from repack_gitops.planner.queues import Queues
from repack_gitops.planner.safety import SafetyRules
from repack_gitops.planner.scope import ScopeFilter
from repack_gitops.planner.shared_volumes import SharedVolumes


class Movability:
    """Decides for the pods of one snapshot under one scope."""

    def __init__(self, snapshot: ClusterSnapshot, scope: ScopeFilter, options: PlannerOptions) -> None:
        self._snapshot = snapshot
        self.cascades = Cascades(snapshot)
        self._scope = scope
        self._options = options
        self._demands = PodDemands(snapshot)
        self._queues = Queues(snapshot)
        self._gangs = Gangs(snapshot)
        self._shared = SharedVolumes(snapshot)
        self.budgets = DisruptionBudgets(snapshot)
        self._safety = SafetyRules(options.safeguards)

    def demands(self, pod: Pod) -> NodeDemands:
        """Return what ``pod``, which may move, demands of a node by itself."""
        found = self._demands.of(pod)
        if isinstance(found, Reason):
            raise TypeError(f"pod {pod.namespace}/{pod.name} may not move: {found}")
        return found

    def why_not(self, pod: Pod) -> Reason | None:
        """Return why ``pod`` may not move, or None; the first rule that says no, in a fixed order."""
        return (
            self._kind(pod)
            or self._membership(pod)
            or self._controller(pod)
            or self._safe(pod)
            or self._constraints(pod)
            or self._shared.why_not(pod)
            or self._gang(pod)
            or self.budgets.why_not(pod)
        )

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
        found = self.cascades.forecast(pod)
        for kind in (pod.owner.kind, found.owner.kind):
            if kind in self._options.forbidden_owner_kinds:
                return Reason(Code.POD_GROUP_OUT_OF_SCOPE, f"a guardrail forbids owners of kind {kind}")
        return why_not_evict(found, pod.namespace, self._options)

    def _gang(self, pod: Pod) -> Reason | None:
        return self._gangs.why_not(self._snapshot.pod_groups[(pod.namespace, pod.pod_group or "")])  # _membership found it

    def _safe(self, pod: Pod) -> Reason | None:
        group = self._snapshot.pod_groups[(pod.namespace, pod.pod_group or "")]  # _membership found it
        return self._safety.why_not(pod, group)

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
