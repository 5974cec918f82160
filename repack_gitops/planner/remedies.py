"""What would let a pod move, or a node be emptied, that a rule forbids: one rule of change for each Code.

Filters, by which a node may not receive, have theirs in ``planner.nearest``: there the change is computed, not looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from repack_gitops.model.change import Action, Change
from repack_gitops.model.cluster import Node, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.problem import Problem

#: The change that removes a reason of a pod; None where nothing does.
PodRule = Callable[[Problem, Pod, Reason], Change | None]


def changes_for_pods(problem: Problem, pods: list[Pod]) -> Iterator[Change | None]:
    """Yield what would let each of ``pods`` move that may not."""
    for pod in pods:
        reason = problem.movability.why_not(pod)
        if reason is not None:
            yield POD_RULES[reason.code](problem, pod, reason)


def change_for_node(problem: Problem, node: Node, reason: Reason) -> Change | None:
    """Return what would let ``node`` be a candidate that is not one by itself, whatever its pods are."""
    match reason.code:
        case Code.NODE_NOT_READY:
            return Change(Action.MAKE_READY, node.name)
        case Code.DO_NOT_DISRUPT:
            return Change(Action.REMOVE_ANNOTATION, f"node {node.name}")
        case Code.SIBLING_DEVICES:
            return None
    allowed = problem.options.envelope.nodes
    if allowed is not None and node.name not in allowed:
        return Change(Action.APPROVE_AGAIN, f"node {node.name}")
    return Change(Action.WIDEN_SCOPE, f"node {node.name}", "scope.nodes")


def change_for_quota(reason: Reason) -> Change:
    """Return what would let a node be emptied that exceeds a limit over the whole plan."""
    if reason.code is Code.LAST_RETRY:
        return Change(Action.RAISE_RETRIES, "", reason.detail)
    return Change(Action.RAISE_QUOTA, "", reason.detail)


def _name(pod: Pod) -> str:
    return f"pod {pod.namespace}/{pod.name}"


def _group(pod: Pod) -> str:
    return f"PodGroup {pod.namespace}/{pod.pod_group}"


def _nothing(problem: Problem, pod: Pod, reason: Reason) -> None:
    del problem, pod, reason


def _for_pod(action: Action) -> PodRule:
    def rule(problem: Problem, pod: Pod, reason: Reason) -> Change:
        del problem, reason
        return Change(action, _name(pod))

    return rule


def _scheduler(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del reason
    return Change(Action.USE_SCHEDULER, _name(pod), " or ".join(sorted(problem.options.scheduler_names)))


def _missing_group(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del reason
    known = (pod.namespace, pod.pod_group or "") in problem.snapshot.pod_groups
    return Change(Action.WAIT if known else Action.SNAPSHOT_AGAIN, _group(pod))


def _scope(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del reason
    options, key = problem.options, (pod.namespace, pod.pod_group or "")
    if options.envelope.pod_groups is not None and key not in options.envelope.pod_groups:
        return Change(Action.APPROVE_AGAIN, _group(pod))
    if not problem.scope.pod_group(problem.snapshot.pod_groups[key]):
        return Change(Action.WIDEN_SCOPE, _group(pod), "scope.podGroups")
    if pod.namespace in options.forbidden_namespaces:
        return Change(Action.LIFT_GUARDRAIL, _name(pod), f"namespace {pod.namespace}")
    return Change(Action.LIFT_GUARDRAIL, _name(pod), f"owners of kind {pod.owner.kind if pod.owner else ''}")


def _owner(pod: Pod) -> str:
    if pod.owner is None:
        return _name(pod)
    return f"{pod.owner.qualified_kind} {pod.namespace}/{pod.owner.name}"


def _missing_owner(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del reason
    known = pod.owner is not None and (pod.namespace, pod.owner.name) in problem.snapshot.volcano_jobs
    return Change(Action.WAIT if known else Action.SNAPSHOT_AGAIN, _owner(pod))


def _policy(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del problem
    return Change(Action.REMOVE_POLICY, _owner(pod), reason.detail.partition(": ")[2])


def _cascade(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del problem
    return Change(Action.ALLOW_CASCADE, _owner(pod), reason.detail.partition(": ")[2])


def _constraint(problem: Problem, pod: Pod, reason: Reason) -> Change:
    del reason
    group = problem.snapshot.pod_groups.get((pod.namespace, pod.pod_group or ""))
    if group is not None and group.unsupported:
        return Change(Action.DROP_CONSTRAINT, _group(pod), ", ".join(group.unsupported))
    return Change(Action.DROP_CONSTRAINT, _name(pod), ", ".join(pod.unsupported))


def _because(action: Action) -> PodRule:
    """Return the rule of reasons whose detail says best what would have to be different."""

    def rule(problem: Problem, pod: Pod, reason: Reason) -> Change:
        del problem
        return Change(action, _name(pod), reason.detail)

    return rule


#: Every reason of a pod; the tests keep it complete.
POD_RULES: Mapping[Code, PodRule] = {
    Code.OTHER_SCHEDULER: _scheduler,
    Code.NO_POD_GROUP: _for_pod(Action.JOIN_POD_GROUP),
    Code.POD_GROUP_NOT_FOUND: _missing_group,
    Code.POD_GROUP_OUT_OF_SCOPE: _scope,
    Code.NO_CONTROLLER: _for_pod(Action.USE_CONTROLLER),
    Code.UNKNOWN_CONTROLLER: _for_pod(Action.USE_CONTROLLER),
    Code.OWNER_NOT_FOUND: _missing_owner,
    Code.DAEMON_SET: _nothing,
    Code.MIRROR_POD: _nothing,
    Code.TERMINATING: _for_pod(Action.WAIT),
    Code.FATAL_POLICY: _policy,
    Code.CASCADING_POLICY: _cascade,
    Code.LAST_RETRY: _because(Action.RAISE_RETRIES),
    Code.OWNER_WAITS: _because(Action.REST),
    Code.GANG_INCOMPLETE: _because(Action.REST),
    Code.VOLUME_SHARED: _because(Action.MEND_STORAGE),
    Code.UNKNOWN_POLICY: _policy,
    Code.UNSUPPORTED_CONSTRAINT: _constraint,
    Code.STORAGE_NOT_FOUND: _because(Action.SNAPSHOT_WITH_STORAGE),
    Code.VOLUME_BINDING: _because(Action.MEND_STORAGE),
    Code.VOLUME_RESTRICTIONS: _because(Action.MEND_STORAGE),
    Code.INTER_POD_AFFINITY: _for_pod(Action.SNAPSHOT_AGAIN),
    Code.QUEUE_CLOSED: _because(Action.MEND_QUEUE),
    Code.QUEUE_OVER_CAPABILITY: _because(Action.MEND_QUEUE),
    Code.DO_NOT_DISRUPT: _for_pod(Action.REMOVE_ANNOTATION),
    Code.TOO_YOUNG: _because(Action.REST),
    Code.PRIORITY_TOO_HIGH: _because(Action.LIFT_SAFETY),
    Code.LOCAL_STORAGE: _because(Action.LIFT_SAFETY),
    Code.RECENTLY_MOVED: _because(Action.REST),
    Code.SEVERAL_DISRUPTION_BUDGETS: _for_pod(Action.CHANGE_DISRUPTION_BUDGET),
    Code.DISRUPTION_BUDGET_FORBIDS: _for_pod(Action.CHANGE_DISRUPTION_BUDGET),
}
