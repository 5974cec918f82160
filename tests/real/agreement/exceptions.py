"""Every difference between a scheduler and us that is known, with its reason; anything else fails the test.

The test of each looks at the case's objects, so that an exception explains only cases that have the cause in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.real.agreement.universe import KUBE, VOLCANO
from tests.real.agreement.verdict import Verdict
from tests.testbed.nodes import Object


@dataclass(frozen=True)
class Documented:
    """A known difference.

    Attributes
    ----------
    name
        As in docs/agreement.md.
    scheduler
        Who differs from us.
    ours
        What we say; the scheduler says the opposite.
    code
        Our reason, where we say no; empty where we say yes.
    cause
        Whether there is, in the verdict's case and on its node, what makes the difference.
    reason
        Why it is so, and why it stays.
    """

    name: str
    scheduler: str
    ours: bool
    code: str
    cause: Callable[[Verdict], bool]
    reason: str

    def explains(self, verdict: Verdict) -> bool:
        """Say whether a difference is this one."""
        same = (verdict.scheduler, verdict.ours, verdict.code) == (self.scheduler, self.ours, self.code)
        return same and not verdict.agrees and self.cause(verdict)


def _not_ready(verdict: Verdict) -> bool:
    node = next(n for n in verdict.case.nodes if n["metadata"]["name"] == f"{verdict.node}-%")
    return any(c["type"] == "Ready" and c.get("status") != "True" for c in node["status"].get("conditions", ()))


def _whole_pod_amounts(verdict: Verdict) -> bool:
    return any("resources" in pod["spec"] for pod in (verdict.case.probe, *_residents(verdict)))


def _overhead_with_init(verdict: Verdict) -> bool:
    pods = (verdict.case.probe, *_residents(verdict))
    return any("runtimeClassName" in pod["spec"] and "initContainers" in pod["spec"] for pod in pods)


def _claim_of_one_pod(verdict: Verdict) -> bool:
    claims = _others(verdict, "PersistentVolumeClaim")
    return any("ReadWriteOncePod" in claim["spec"].get("accessModes", ()) for claim in claims)


def _driver_not_there(verdict: Verdict) -> bool:
    """Some driver of the case is not on the node's CSINode."""
    csi_nodes = {o["metadata"]["name"]: o["spec"] for o in _others(verdict, "CSINode")}
    there = {driver["name"] for driver in csi_nodes.get(f"{verdict.node}-%", {}).get("drivers", ())}
    wanted = {o["spec"].get("csi", {}).get("driver") for o in _others(verdict, "PersistentVolume")}
    return not wanted | {o.get("provisioner") for o in _others(verdict, "StorageClass")} <= there


def _shared_volume(verdict: Verdict) -> bool:
    """Two claims on the node, the probe's included, lead to one volume."""
    volumes = {
        o["metadata"]["name"]: o["spec"].get("csi", {}).get("volumeHandle") for o in _others(verdict, "PersistentVolume")
    }
    used = [
        volumes.get(volume["persistentVolumeClaim"].get("claimName"))  # a claim is called as its volume
        for pod in (verdict.case.probe, *_residents(verdict))
        for volume in pod["spec"].get("volumes", ())
        if "persistentVolumeClaim" in volume
    ]
    return len(used) > len(set(used))


def _nominated(verdict: Verdict) -> bool:
    waiting = (r.get("status", {}).get("nominatedNodeName") for r in verdict.case.residents)
    return f"{verdict.node}-%" in waiting


def _others(verdict: Verdict, kind: str) -> list[Object]:
    return [o for o in verdict.case.others if o["kind"] == kind]


def _residents(verdict: Verdict) -> list[Object]:
    return [r for r in verdict.case.residents if r["spec"].get("nodeName") == f"{verdict.node}-%"]


def _unbound_claim(verdict: Verdict) -> bool:
    return any(not claim["spec"].get("volumeName") for claim in _others(verdict, "PersistentVolumeClaim"))


EXCEPTIONS: tuple[Documented, ...] = (
    *(
        Documented(
            "tolerated NotReady",
            scheduler,
            ours=False,
            code="NodeNotReady",
            cause=_not_ready,
            reason="Both schedulers look at taints, not at the Ready condition, so a pod that tolerates the taints may go to a "
            "node that runs nothing. We send nothing there: the move would free a node on paper only.",
        )
        for scheduler in (VOLCANO, KUBE)
    ),
    Documented(
        "queues choose nodes",
        KUBE,
        ours=False,
        code="NodeGroup",
        cause=lambda verdict: "NodeGroup" in verdict.case.kinds,
        reason="Queues and their affinity to groups of nodes are Volcano's; kube-scheduler does not know them.",
    ),
    Documented(
        "overdrawn node",
        KUBE,
        ours=False,
        code="NodeResourcesFit",
        cause=lambda verdict: "overcommitted" in verdict.detail,
        reason="Volcano compares CPU and memory for every pod, so a node that is charged more than it has takes none. "
        "kube-scheduler compares what the pod asks for.",
    ),
    Documented(
        "driver does not run there",
        KUBE,
        ours=False,
        code="NodeVolumeLimits",
        cause=_driver_not_there,
        reason="Volcano takes attachments for a resource of the node, which it has none of where CSINode does not name the "
        "driver. kube-scheduler knows no limit then.",
    ),
    Documented(
        "shared volume",
        KUBE,
        ours=False,
        code="NodeVolumeLimits",
        cause=_shared_volume,
        reason="Volcano counts a volume once per claim of every pod; kube-scheduler counts distinct volumes.",
    ),
    Documented(
        "claim of one pod",
        VOLCANO,
        ours=False,
        code="VolumeRestrictions",
        cause=_claim_of_one_pod,
        reason="kube-scheduler refuses a second pod on a ReadWriteOncePod claim. Volcano does not ask, but the kubelet would "
        "turn the pod away, so we refuse it too.",
    ),
    Documented(
        "amounts of the whole pod",
        VOLCANO,
        ours=False,
        code="NodeResourcesFit",
        cause=_whole_pod_amounts,
        reason="Volcano 1.14 charges the containers' sum and does not read spec.resources. kube-scheduler and the kubelet "
        "charge what the pod says as a whole, and the kubelet would turn the pod away, so we charge that too.",
    ),
    Documented(
        "overhead of init containers",
        VOLCANO,
        ours=False,
        code="NodeResourcesFit",
        cause=_overhead_with_init,
        reason="Volcano adds the pod's overhead to the sum of its containers and then takes the largest init container if that "
        "is more; kube-scheduler and the kubelet add the overhead to whichever is more, and so do we.",
    ),
    *(
        Documented(
            "unbound claim",
            scheduler,
            ours=False,
            code="VolumeBinding",
            cause=_unbound_claim,
            reason="Where a volume will be made or found for a claim that is not bound is decided by more than a snapshot "
            "holds, and a pod that ran has bound ones. We leave such a pod alone.",
        )
        for scheduler in (VOLCANO, KUBE)
    ),
    *(
        Documented(
            "nominated pods hold room",
            scheduler,
            ours=False,
            code=code,
            cause=_nominated,
            reason="A pod that waits for a node it is nominated to may be bound there any moment, so its room is not free for "
            "a plan. A scheduler counts only what is bound, and kube-scheduler the nominated pods of its own queue.",
        )
        for scheduler in (VOLCANO, KUBE)
        for code in ("NodeResourcesFit", "NodePorts", "InterPodAffinity", "NodeVolumeLimits")
    ),
)
