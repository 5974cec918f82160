"""Every reason in words."""

from __future__ import annotations

from repack_gitops.model.plan import Code

_WORDS: dict[Code, str] = {
    Code.OTHER_SCHEDULER: "a pod on it is not scheduled by Volcano",
    Code.NO_POD_GROUP: "a pod on it belongs to no PodGroup",
    Code.POD_GROUP_NOT_FOUND: "the PodGroup of a pod on it was not found",
    Code.POD_GROUP_OUT_OF_SCOPE: "a PodGroup on it may not be moved by this run",
    Code.NO_CONTROLLER: "a pod on it has no controller that would recreate it",
    Code.UNKNOWN_CONTROLLER: "a pod on it has a controller that is not known to recreate evicted pods",
    Code.OWNER_NOT_FOUND: "the owner of a pod on it was not found",
    Code.DAEMON_SET: "a DaemonSet's pod on it uses the resource",
    Code.MIRROR_POD: "a mirror pod on it uses the resource",
    Code.TERMINATING: "a pod on it is already terminating",
    Code.FATAL_POLICY: "an eviction would end a workload on it",
    Code.CASCADING_POLICY: "an eviction would restart more of a workload than the pod",
    Code.LAST_RETRY: "an eviction would use up the last retry of a workload on it",
    Code.OWNER_WAITS: "the controller of a pod on it would not create it again now",
    Code.GANG_INCOMPLETE: "a gang on it lacks members, so that none would be started again",
    Code.VOLUME_SHARED: "a pod on it shares a ReadWriteOnce volume, and cannot leave the other user",
    Code.UNKNOWN_POLICY: "a workload on it has a rule for evictions that is not known",
    Code.UNSUPPORTED_CONSTRAINT: "a pod on it has a constraint that a snapshot does not decide",
    Code.QUEUE_CLOSED: "the queue of a pod on it would not let a replacement in",
    Code.QUEUE_OVER_CAPABILITY: "the queue of a pod on it holds more than its capability",
    Code.DO_NOT_DISRUPT: "an annotation on it, a pod or a PodGroup forbids to disrupt it",
    Code.TOO_YOUNG: "a pod on it is younger than minPodAge",
    Code.PRIORITY_TOO_HIGH: "a pod on it has a higher priority than maxPriority",
    Code.LOCAL_STORAGE: "a pod on it has data on the node's disk",
    Code.RECENTLY_MOVED: "a workload on it was moved not long ago",
    Code.NODE_OUT_OF_SCOPE: "outside the run's node scope",
    Code.NO_RECEIVER: "no other occupied node can take all of its pods",
    Code.BUDGET_EXCEEDED: "emptying it would exceed maxPerRun",
    Code.NAMESPACE_CAP_EXCEEDED: "emptying it would exceed maxPodsPerNamespace",
    Code.OWNER_CAP_EXCEEDED: "emptying it would exceed maxPodsPerOwner",
    Code.SEVERAL_DISRUPTION_BUDGETS: "several PodDisruptionBudgets select a pod on it, so that it can never be evicted",
    Code.DISRUPTION_BUDGET_FORBIDS: "a PodDisruptionBudget never lets a pod on it go",
    Code.DISRUPTION_BUDGET_EXCEEDED: "emptying it would need more disruptions than a PodDisruptionBudget allows now",
    Code.RECEIVES: "receives pods of freed nodes",
    Code.BELOW_THRESHOLD: "could take part in a plan, but the whole plan gains less than the goal asks",
    Code.SEARCH_STOPPED: "the search was stopped before this was decided",
    Code.NODE_NOT_READY: "not ready",
    Code.NODE_UNSCHEDULABLE: "cordoned",
    Code.TAINT_TOLERATION: "has a taint that is not tolerated",
    Code.NODE_AFFINITY: "does not match a pod's node selector or affinity",
    Code.NODE_PORTS: "a host port is taken",
    Code.NODE_RESOURCES: "has too little idle",
    Code.INTER_POD_AFFINITY: "affinity or anti-affinity between pods forbids it",
    Code.POD_TOPOLOGY_SPREAD: "a pod's topology spread constraint forbids it",
    Code.STORAGE_NOT_FOUND: "a claim, volume or StorageClass of a pod on it is not in the snapshot",
    Code.VOLUME_BINDING: "a pod's volume cannot be used elsewhere, or it is not known where",
    Code.VOLUME_ZONE: "a pod's volume lives in another zone",
    Code.VOLUME_RESTRICTIONS: "a pod's ReadWriteOncePod volume is in use",
    Code.NODE_VOLUME_LIMITS: "its CSI driver attaches no more volumes",
    Code.NODE_GROUP: "a pod's queue does not use its node group",
    Code.SIBLING_DEVICES: "a pod on it holds a share of a card, so whole cards cannot be counted",
    Code.NOT_OCCUPIED: "uses none of the resource",
}


def explain(code: Code) -> str:
    """Return what ``code`` says about a node, as words that complete "this node stays: ..."."""
    return _WORDS[code]
