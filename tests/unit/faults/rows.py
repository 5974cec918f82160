"""Known faults of other systems that a planner can have, by their number in the project's list (tables C1 to C6).

Each has a test ``test_fault_<number>_...`` in this folder; ``test_rows`` holds the two together. Rows of the executor alone
are tested where it is.
"""

from __future__ import annotations

#: Number -> (where it was reported, what goes wrong).
ROWS: dict[int, tuple[str, str]] = {
    1: ("kubernetes#75957", "a pod that two budgets select can never be evicted, whatever they allow"),
    7: ("kubernetes eviction handler", "pods that are Pending, finished or on their way out are not held by a budget"),
    8: ("kubernetes#72320, #94381", "a pod that is not Ready may go though the budget allows nobody"),
    11: ("kubernetes#68892", "a budget gets into the way of pods that already ended"),
    17: ("autoscaler#9111", "a budget's status, made before the plan, blocks a node for ever"),
    19: ("CanEvictPods, by inference", "every pod passes its budget alone, all together exceed it"),
    43: ("koordinator#933", "shares are rounded up, and replicas that are down already are not counted"),
    50: ("kubernetes#109236, #102339", "room promised to a nominated pod is given away"),
    56: ("volcano#4814", "a restarting policy sets itself off again until the job has no retry left"),
    58: ("volcano#5885", "a restart on eviction next to a termination on failure ends the job"),
    59: ("volcano#3770", "an eviction ends a job whose policy says so"),
    61: ("volcano#5805", "while a gang is short of a member, a waiting pod takes its room"),
    62: ("volcano#4739", "a rolling Deployment's new PodGroup never reaches its minimum"),
    64: ("volcano#457", "members that ended successfully make a gang look short"),
    65: ("volcano#5075", "a PodGroup without minMember"),
    68: ("volcano#377, descheduler#1695", "pods are moved to and fro, run after run"),
    70: ("kthena#1661", "a serving group that does not recover loses the replica for good"),
    73: ("jobset#574, #601", "an evicted pod costs the JobSet its last restart"),
    74: ("kubernetes#130881", "an evicted pod counts against its Job's backoffLimit"),
    76: ("descheduler#1689", "pods that an unknown operator owns"),
    80: ("descheduler#378, #522, cluster-autoscaler rules", "pods of DaemonSets, static pods and pods without a controller"),
    82: ("kubernetes#22398, KAI#964", "finished pods count against a node's number of pods"),
    83: ("descheduler#1769, autoscaler#6225, karpenter#479", "sidecars are not added to the containers they run beside"),
    85: ("karpenter#3065, KAI#1894", "what a pod holds differs from its spec while it is resized"),
    86: ("KAI#1894", "requests of the pod as a whole are overlooked"),
    88: ("kubernetes#57276", "devices are requested without a limit"),
    89: ("kubernetes-client#2052, integrations-core#17280", "exponents and suffixes of quantities are misread"),
    91: ("volcano#5844", "large amounts overflow"),
    92: ("volcano#5391, #2213", "thousandths are taken for units"),
    94: ("volcano#2999, #2965", "a node forgets its devices while pods use them"),
    95: ("volcano#3160", "no node knows the resource at all"),
    97: ("volcano#3616, #5335, volcano-vgpu#30", "the count of shares fits, no single card does"),
    101: ("KAI#1876, #194, gpu-feature-discovery#55", "a label's number of cards is taken for what is allocatable"),
    103: ("KAI#1930", "a claim that two pods share is counted twice"),
    104: ("cluster-autoscaler#119", "a node on which no device is in use counts as full"),
    106: ("volcano#2700, #2576", "pods of another scheduler are overlooked"),
    107: ("volcano#3520", "a dimension besides the devices falls short, or one that nobody asked for"),
    109: ("descheduler#725", "nothing is consolidated where all nodes are alike"),
    110: ("descheduler#1584, #604", "one hole is promised to ten pods"),
    112: ("descheduler#1370", "a resident's anti-affinity against the newcomer is overlooked"),
    113: ("descheduler#1920, #1707", "a preference of the pod's own pulls it back"),
    115: ("enhancements#6211", "a topology domain without a single usable node still counts"),
    116: ("descheduler#566, #1064", "pods spread over nodes are moved again and again"),
    118: ("autoscaler#6209, karpenter#2083", "host ports are overlooked, or close everything"),
    119: ("descheduler#6, #723", "a pod cannot follow its volume"),
    121: ("descheduler#42, #531, #729, #1114", "a cordoned node receives, or is counted as a gain"),
    122: ("descheduler#832", "a node that is not Ready receives, or its pods are moved"),
    124: ("descheduler#1695, #424, #626, #994, otaru#2890", "the same pod is evicted in every cycle"),
    128: ("karpenter#1019, #1851, provider-aws#8868, #8536, #7146", "pods are moved for no gain"),
    130: ("descheduler#1449, #65", "nothing caps a run"),
    131: ("KAI#2073, #1837, #146", "no way to keep a preemptible workload where it is"),
    133: ("volcano#665", "the sum of what is free suffices, no single node does"),
}

#: Rows that concern the executor, too; the others are the planner's alone.
BOTH = frozenset({1, 8, 56, 61, 74, 124})
