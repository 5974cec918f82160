"""Every difference between a scheduler and us that is known, with its reason; anything else fails the test.

The test of each looks at the case's objects, so that an exception explains only cases that have the cause in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.real.agreement.case import Case
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
        Whether a case, on the node of that name, has what makes the difference.
    reason
        Why it is so, and why it stays.
    """

    name: str
    scheduler: str
    ours: bool
    code: str
    cause: Callable[[Case, str], bool]
    reason: str

    def explains(self, verdict: Verdict) -> bool:
        """Say whether a difference is this one."""
        same = (verdict.scheduler, verdict.ours, verdict.code) == (self.scheduler, self.ours, self.code)
        return same and not verdict.agrees and self.cause(verdict.case, verdict.node)


def _node(case: Case, name: str) -> Object:
    return next(n for n in case.nodes if n["metadata"]["name"] == f"{name}-%")


def _not_ready(case: Case, name: str) -> bool:
    conditions = _node(case, name)["status"].get("conditions", ())
    return any(c["type"] == "Ready" and c.get("status") != "True" for c in conditions)


def _whole_pod_amounts(case: Case, name: str) -> bool:
    pods = [case.probe, *(r for r in case.residents if r["spec"].get("nodeName") == f"{name}-%")]
    return any("resources" in pod["spec"] for pod in pods)


def _claim_of_one_pod(case: Case, _: str) -> bool:
    claims = (o for o in case.others if o["kind"] == "PersistentVolumeClaim")
    return any("ReadWriteOncePod" in claim["spec"].get("accessModes", ()) for claim in claims)


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
        cause=lambda case, _: "NodeGroup" in case.kinds,
        reason="Queues and their affinity to groups of nodes are Volcano's; kube-scheduler does not know them.",
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
)
