"""What the API server must refuse, and what the guide's commands must print."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def selecting(**expression: object) -> Object:
    return {"podGroups": {"include": {"selector": {"matchExpressions": [{"key": "a", **expression}]}}}}


REFUSED = {
    "two goals": ({"goals": [{"resource": "a.b/c"}, {"resource": "a.b/d"}]}, "spec.goals: Too many: 2"),
    "no goal": ({"goals": []}, "spec.goals in body should have at least 1 items"),
    "goals missing": ({"goals": None}, "spec.goals: Required value"),
    "mode missing": ({"mode": None}, "spec.mode: Required value"),
    "mode unknown": ({"mode": "Simulate"}, 'spec.mode: Unsupported value: "Simulate"'),
    **{
        f"core resource {name}": ({"goals": [{"resource": name}]}, r"spec.goals\[0\].resource: .* is a core resource")
        for name in ("cpu", "memory", "ephemeral-storage", "pods", "hugepages-2Mi")
    },
    "no slash": ({"goals": [{"resource": "gpu"}]}, r"spec.goals\[0\].resource: .* must be fully qualified"),
    **{
        f"native resource {name}": ({"goals": [{"resource": name}]}, r"spec.goals\[0\].resource: .* name it as nodes report it")
        for name in ("kubernetes.io/x", "a.kubernetes.io/x", "requests.nvidia.com/gpu")
    },
    "percent above 100": (
        {"goals": [{"resource": "a.b/c", "minFragImprovementPercent": 101}]},
        "should be less than or equal to 100",
    ),
    "percent with fraction": ({"goals": [{"resource": "a.b/c", "minFragImprovementPercent": 1.5}]}, "must be of type integer"),
    "budget of cpu": ({"maxPerRun": {"resources": {"cpu": 1}}}, "names must be extended resources"),
    "budget below zero": ({"maxPerRun": {"podGroups": -1}}, "should be greater than or equal to 0"),
    "grace period as text": ({"eviction": {"gracePeriodSeconds": "30"}}, "must be of type integer"),
    "unknown operator": ({"scope": selecting(operator="in", values=["b"])}, 'operator: Unsupported value: "in"'),
    "In without values": ({"scope": selecting(operator="In")}, "In and NotIn need at least one value"),
    "NotIn with an empty list": ({"scope": selecting(operator="NotIn", values=[])}, "In and NotIn need at least one value"),
    "Exists with values": ({"scope": selecting(operator="Exists", values=["b"])}, "Exists and DoesNotExist take no values"),
    "PodGroup without namespace": ({"scope": {"podGroups": {"include": {"names": ["a"]}}}}, "should match"),
    "name twice": ({"scope": {"nodes": {"include": {"names": ["a", "a"]}}}}, 'Duplicate value: "a"'),
    "too many names": ({"scope": {"nodes": {"include": {"names": [f"n{i}" for i in range(1025)]}}}}, "Too many: 1025"),
    "unknown field": ({"scop": {}}, 'unknown field "spec.scop"'),
}

SCOPE = (
    "podGroups={.status.plan.summary.resolvedScope.podGroupCount}, "
    r'nodes={.status.plan.summary.resolvedScope.nodeCount}{"\n"}'
)
MOVES = (
    r'{range .status.plan.moves[*]}{.owner.kind}{"/"}{.owner.name}{"\t"}{.namespace}{"/"}{.podGroupName}{"\t"}{.cards}'
    r'{" cards\n"}{range .pods[*]}{"  "}{.name}{": "}{.fromNode}{" -> "}{.toNode}{"\n"}{end}{end}'
)
FREED = r'{.status.plan.freedNodes}{"\n"}'
BENEFIT = (
    "fragmentation={.status.plan.summary.fragBeforePercent}% -> {.status.plan.summary.fragAfterPercent}%, "
    r'freedNodes={.status.plan.summary.freedNodeCount}, movedCards={.status.plan.summary.movedCardCount}{"\n"}'
)
CONDITIONS = r'{range .status.conditions[*]}{.type}{"\t"}{.status}{"\t"}{.reason}{"\t"}{.message}{"\n"}{end}'
COMPARISON = (
    "plan: frag {.status.plan.summary.fragBeforePercent}% -> {.status.plan.summary.fragAfterPercent}%, "
    "freed {.status.plan.summary.freedNodeCount}, moved {.status.plan.summary.movedCardCount}"
    r'{"\n"}result: frag {.status.result.fragAfterPercent}%, freed {.status.result.freedNodeCount}, '
    r'moved {.status.result.movedCardCount}, verified {.status.result.metricsVerified}{"\n"}'
)
RELOCATIONS = (
    r'{range .status.relocations[*]}{.namespace}{"/"}{.victimPodName}{"\teviction="}{.eviction.phase}'
    r'{"\tplacement="}{.placement.phase}{"\tplanned="}{.plannedNodeName}{"\tselected="}{.placement.selectedNodeName}'
    r'{"\tactual="}{.placement.actualNodeName}{"\treplacement="}{.placement.replacementPodName}{"\n"}{end}'
)
MESSAGE = (
    "Repack succeeded for huawei.com/ascend-1980: all 1 replacement Pod was scheduled and all 1 planned node was "
    "verified free [ascend-node-01]; cluster fragmentation changed from 33% to 0%."
)
#: (the guide's run, its status, the path, what kubectl prints)
_CASES = [
    ("scoped-dryrun", "dryrun-status", SCOPE, "podGroups=1, nodes=3\n"),
    (
        "scoped-dryrun",
        "dryrun-status",
        MOVES,
        "Job/ascend-batch-training\trepack-demo/ascend-batch-training-2f6c840d-8b14-4e45-a4cf-b43c249acbfd\t2 cards\n"
        "  ascend-batch-training-worker-0: ascend-node-01 -> ascend-node-02\n"
        "  ascend-batch-training-worker-1: ascend-node-01 -> ascend-node-03\n",
    ),
    ("scoped-dryrun", "dryrun-status", FREED, '["ascend-node-01"]\n'),
    ("guarded-dryrun", "dryrun-status", BENEFIT, "fragmentation=33% -> 0%, freedNodes=1, movedCards=2\n"),
    (
        "execute",
        "execute-status",
        CONDITIONS,
        f"Progressing\tFalse\tExecutionCompleted\t{MESSAGE}\nComplete\tTrue\tExecutionCompleted\t{MESSAGE}\n",
    ),
    (
        "execute",
        "execute-status",
        COMPARISON,
        "plan: frag 33% -> 0%, freed 1, moved 1\nresult: frag 0%, freed 1, moved 1, verified true\n",
    ),
    (
        "execute",
        "execute-status",
        RELOCATIONS,
        "repack-demo/ascend-batch-training-worker-0\teviction=Accepted\tplacement=Placed\tplanned=ascend-node-02"
        "\tselected=ascend-node-02\tactual=ascend-node-02\treplacement=ascend-batch-training-worker-0\n",
    ),
]
JSONPATHS = dict(zip(["scope", "moves", "freed", "benefit", "conditions", "comparison", "relocations"], _CASES, strict=True))
