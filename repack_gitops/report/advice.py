"""What would let a run free more, by the reasons that held nodes back."""

from __future__ import annotations

from repack_gitops.model.plan import Code, Evaluation
from repack_gitops.report.words import staying_groups

_ADVICE = {
    Code.BUDGET_EXCEEDED: "raise maxPerRun",
    Code.NAMESPACE_CAP_EXCEEDED: "raise maxPodsPerNamespace (safety)",
    Code.OWNER_CAP_EXCEEDED: "raise maxPodsPerOwner (safety)",
    Code.BELOW_THRESHOLD: "lower the goal's minFragImprovementPercent",
    Code.POD_GROUP_OUT_OF_SCOPE: "let more workloads move (scope.podGroups, guardrails)",
    Code.NODE_OUT_OF_SCOPE: "let more nodes be emptied (scope.nodes)",
    Code.NO_RECEIVER: "wait until other nodes have more room",
    Code.OTHER_SCHEDULER: "let Volcano schedule the pods that hold nodes back",
    Code.NO_POD_GROUP: "put the pods that hold nodes back into PodGroups",
    Code.POD_GROUP_NOT_FOUND: "take a snapshot that holds the pods' PodGroups",
    Code.NO_CONTROLLER: "give bare pods a controller that recreates them",
    Code.UNKNOWN_CONTROLLER: "run those pods under a controller that recreates evicted pods",
    Code.OWNER_NOT_FOUND: "take a snapshot that holds the pods' owners",
    Code.STORAGE_NOT_FOUND: "take a snapshot that holds the pods' storage",
    Code.FATAL_POLICY: "change job policies that end a job on eviction",
    Code.CASCADING_POLICY: "allow cascades (safety.cascades), or change job policies that restart a job on eviction",
    Code.DO_NOT_DISRUPT: "remove do-not-disrupt annotations that are no longer meant",
    Code.TOO_YOUNG: "plan again once the pods are older than minPodAge",
    Code.PRIORITY_TOO_HIGH: "raise maxPriority (safety)",
    Code.LOCAL_STORAGE: "allow pods with local storage to move (safety)",
    Code.RECENTLY_MOVED: "plan again once recently moved workloads have rested",
    Code.SEVERAL_DISRUPTION_BUDGETS: "let only one PodDisruptionBudget select each pod",
    Code.DISRUPTION_BUDGET_FORBIDS: "change PodDisruptionBudgets that never let a pod go",
    Code.DISRUPTION_BUDGET_EXCEEDED: "wait until PodDisruptionBudgets allow more, or let the plan wait for them",
    Code.TERMINATING: "plan again once terminating pods are gone",
    Code.NODE_NOT_READY: "repair nodes that are not ready",
}


def advice(evaluation: Evaluation, most: int = 3) -> tuple[str, ...]:
    """Return what would help most nodes, at most ``most`` hints; a reason nobody can change gives none."""
    hints = dict.fromkeys(_ADVICE[g.code] for g in staying_groups(evaluation) if g.code in _ADVICE)
    return tuple(hints)[:most]
