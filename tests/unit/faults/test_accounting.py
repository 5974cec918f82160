"""What a pod is charged on its node, what is left idle there, and what its replacement asks for: every phase and state.

Each case is one pod on ``target``, beside an anchor of one card that makes the node a receiver. ``used`` is what counts as
used on the node, ``held`` what is missing from its idle amounts (found by trying what still fits), ``asks`` what the
replacement asks for (found by trying what it fits into). The arithmetic stands beside each case; amounts that a case does
not name are zero. Where Volcano 1.14 counts less than Kubernetes does, we count the larger amount and the case says so:
kubelets admit by Kubernetes' rule, and a pod that a kubelet refuses is lost. ``tests/real/kube/test_accounting.py`` holds
the same against the real Volcano.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from repack_gitops.model.quantity import format_quantity, parse_quantity
from tests.unit.faults.manifests import GPU, Object, anchor, container, moves, node, owner, pod, sidecar, snapshot

CPU, MEMORY, STORAGE, HUGE, NIC = "cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/nic"
ATTACH = "attachable-volumes-csi-example.com"
#: What the target has, and the least amount by which one can miss it, in thousandths.
TOTAL = {GPU: "16", CPU: "16", MEMORY: "64Gi", STORAGE: "1Ti", HUGE: "1Gi", NIC: "8", ATTACH: "9", "pods": "10"}
UNIT = {CPU: 1}
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}

Amounts = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """A pod and what it means; ``asks`` None where it never moves, or as ``held`` where nothing else is said."""

    fields: Object
    used: Amounts
    held: Amounts | None = None
    asks: Amounts | None = None
    on: str | None = "target"


def resources(requests: Amounts | None = None, limits: Amounts | None = None) -> Object:
    return {"requests": requests or {}, **({"limits": limits} if limits else {})}


def boxes(*requests: Amounts, init: list[Object] | None = None) -> Object:
    """Return the spec of a pod with one container per amount."""
    found: Object = {"containers": [container(f"c{i}", requests=dict(r)) for i, r in enumerate(requests)]}
    return found | ({"initContainers": init} if init else {})


ONE = {GPU: "1", CPU: "2", MEMORY: "1Gi", "pods": "1"}
BOX = boxes({GPU: "1", CPU: "2", MEMORY: "1Gi"})
NOTHING: Amounts = {}


def phase(name: str, **more: Any) -> Object:
    return {**BOX, "phase": name, **more}


def resizing(wanted: Amounts, actual: Amounts, allocated: Amounts, reason: str | None = None, **pod_level: Any) -> Object:
    status: Object = {"containerStatuses": [{"name": "c0", "resources": {"requests": actual}, "allocatedResources": allocated}]}
    status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    return {**boxes({GPU: "1", **wanted}), "status": {**status, **pod_level}}


def pod_resizing(wanted: Amounts, actual: Amounts, allocated: Amounts, reason: str | None = None) -> Object:
    """A resize of the pod as a whole."""
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    status = {"resources": {"requests": actual}, "allocatedResources": allocated, "conditions": conditions}
    return {**boxes({GPU: "1"}), "resources": {"requests": wanted}, "status": status}


STATES = {
    "running": Case(phase("Running"), ONE),
    "bound, not started yet": Case(phase("Pending"), ONE),
    "its kubelet is silent": Case(phase("Unknown"), ONE),
    "on its way out": Case(phase("Running", **GONE), ONE, asks=NOTHING),
    "on its way out before it started": Case(phase("Pending", **GONE), ONE, asks=NOTHING),
    "on its way out, and its kubelet is silent": Case(phase("Unknown", **GONE), ONE, asks=NOTHING),
    "succeeded": Case(phase("Succeeded"), NOTHING),
    "failed": Case(phase("Failed"), NOTHING),
    "succeeded, and being deleted": Case(phase("Succeeded", **GONE), NOTHING),
    "failed, and being deleted": Case(phase("Failed", **GONE), NOTHING),
    "waiting": Case(phase("Pending"), NOTHING, on=None),
    "waiting behind a gate": Case(phase("Pending", schedulingGates=[{"name": "example.com/hold"}]), NOTHING, on=None),
    # Room promised to a pod is not idle, and is not used either. Volcano 1.14 reads the nomination of the pod that it
    # places and nobody else's; Kubernetes counts those of the same or a higher priority. We keep what was promised.
    "nominated": Case(phase("Pending", status={"nominatedNodeName": "target"}), NOTHING, held=ONE, on=None),
    "nominated elsewhere": Case(phase("Pending", status={"nominatedNodeName": "source"}), NOTHING, on=None),
    "nominated, and ended": Case(phase("Failed", status={"nominatedNodeName": "target"}), NOTHING, on=None),
    "bound, whatever it was nominated to": Case(phase("Running", status={"nominatedNodeName": "source"}), ONE),
    "of another scheduler": Case(phase("Running", schedulerName="default-scheduler", group=None), ONE, asks=NOTHING),
    "of a DaemonSet": Case(phase("Running", owner=owner("DaemonSet", "agent")), ONE, asks=NOTHING),
    "static": Case(
        phase("Running", owner=owner("Node", "target", "v1"), annotations={"kubernetes.io/config.mirror": "x"}),
        ONE,
        asks=NOTHING,
    ),
}

SPECS = {
    # 1 + 2 cards, 0.5 + 0.25 cpu
    "containers add up": Case(boxes({GPU: "1", CPU: "500m"}, {GPU: "2", CPU: "250m"}), {GPU: "3", CPU: "750m", "pods": "1"}),
    # a container without any request adds nothing
    "missing requests": Case(boxes({GPU: "1"}, {}), {GPU: "1", "pods": "1"}),
    # the API server makes limits requests; a hand-written file may not
    "limits without requests": Case(
        {"containers": [container(limits={GPU: "2", CPU: "3"})]}, {GPU: "2", CPU: "3", "pods": "1"}
    ),
    # an explicit request of zero stays zero
    "a request of zero below a limit": Case(
        {"containers": [container(requests={GPU: "1", CPU: "0"}, limits={GPU: "1", CPU: "3"})]}, {GPU: "1", "pods": "1"}
    ),
    # max(1 + 1, 5) cards, max(2 + 2, 3) cpu: each dimension by itself
    "an init container": Case(
        boxes({GPU: "1", CPU: "2"}, {GPU: "1", CPU: "2"}, init=[container("i", requests={GPU: "5", CPU: "3"})]),
        {GPU: "5", CPU: "4", "pods": "1"},
    ),
    # max(1, 3, 2)
    "init containers, one after another": Case(
        boxes({GPU: "1"}, init=[container("i", requests={GPU: "3"}), container("j", requests={GPU: "2"})]),
        {GPU: "3", "pods": "1"},
    ),
    # max(1 + (1 + 2), sidecar 1 then init 1 + 4, sidecars 1 + 2) = max(4, 5, 3)
    "sidecars and an init container between them": Case(
        boxes(
            {GPU: "1"},
            init=[sidecar("s", requests={GPU: "1"}), container("i", requests={GPU: "4"}), sidecar("t", requests={GPU: "2"})],
        ),
        {GPU: "5", "pods": "1"},
    ),
    # 2 + 0.25
    "overhead": Case({**boxes({GPU: "1", CPU: "2"}), "overhead": {CPU: "250m"}}, {GPU: "1", CPU: "2250m", "pods": "1"}),
    # Kubernetes: max(2, 3) + 0.25; Volcano 1.14: max(2 + 0.25, 3) = 3, which a kubelet may refuse
    "overhead and a larger init container": Case(
        {**boxes({GPU: "1", CPU: "2"}, init=[container("i", requests={CPU: "3"})]), "overhead": {CPU: "250m"}},
        {GPU: "1", CPU: "3250m", "pods": "1"},
    ),
    # The pod's own word replaces the containers' sums 1 and 1Gi, never the cards. Volcano 1.14 counts the sums.
    "requests of the whole pod": Case(
        {**boxes({GPU: "1", CPU: "1", MEMORY: "1Gi"}), "resources": resources({CPU: "4", MEMORY: "2Gi", GPU: "9"})},
        {GPU: "1", CPU: "4", MEMORY: "2Gi", "pods": "1"},
    ),
    # replaced also where the containers' sum is more, then the overhead: 1 + 0.5
    "requests of the whole pod below its containers'": Case(
        {**boxes({GPU: "1", CPU: "3"}), "resources": resources({CPU: "1"}), "overhead": {CPU: "500m"}},
        {GPU: "1", CPU: "1500m", "pods": "1"},
    ),
    # the API server takes the containers' sum 1 where there is one, else the limit 2Gi; huge pages go by the limit
    "limits of the whole pod": Case(
        {**boxes({GPU: "1", CPU: "1", HUGE: "2Mi"}), "resources": resources({}, {CPU: "4", MEMORY: "2Gi", HUGE: "8Mi"})},
        {GPU: "1", CPU: "1", MEMORY: "2Gi", HUGE: "8Mi", "pods": "1"},
    ),
    "huge pages": Case(boxes({GPU: "1", HUGE: "64Mi", MEMORY: "1Gi"}), {GPU: "1", HUGE: "64Mi", MEMORY: "1Gi", "pods": "1"}),
    # requests count; the size limit of an emptyDir does not
    "storage": Case(
        {**boxes({GPU: "1", STORAGE: "10Gi"}), "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "50Gi"}}]},
        {GPU: "1", STORAGE: "10Gi", "pods": "1"},
    ),
    "several devices": Case(boxes({GPU: "2", NIC: "1"}), {GPU: "2", NIC: "1", "pods": "1"}),
    "attachable volumes, asked for by name": Case(boxes({GPU: "1", ATTACH: "2"}), {GPU: "1", ATTACH: "2", "pods": "1"}),
    # nobody may ask for resources there
    "a debug container": Case({**BOX, "ephemeralContainers": [{"name": "debug"}]}, ONE),
}

RESIZES = {
    # wants 1, was given 1, still holds 4: max. The replacement's template is not known; it may be the 4 it started with.
    "shrinking": Case(resizing({CPU: "1"}, {CPU: "4"}, {CPU: "1"}), {GPU: "1", CPU: "4", "pods": "1"}),
    "shrinking, and not agreed to yet": Case(resizing({CPU: "1"}, {CPU: "4"}, {CPU: "4"}), {GPU: "1", CPU: "4", "pods": "1"}),
    "growing, agreed to": Case(resizing({CPU: "4"}, {CPU: "1"}, {CPU: "4"}), {GPU: "1", CPU: "4", "pods": "1"}),
    "growing, put off": Case(resizing({CPU: "4"}, {CPU: "1"}, {CPU: "1"}, "Deferred"), {GPU: "1", CPU: "4", "pods": "1"}),
    # will never get 4: it holds max(1, 2); a fresh pod of this spec would ask for 4
    "growing, impossible": Case(
        resizing({CPU: "4"}, {CPU: "1"}, {CPU: "2"}, "Infeasible"),
        {GPU: "1", CPU: "2", "pods": "1"},
        asks={GPU: "1", CPU: "4", "pods": "1"},
    ),
    "done": Case(resizing({CPU: "3"}, {CPU: "3"}, {CPU: "3"}), {GPU: "1", CPU: "3", "pods": "1"}),
    # a status without amounts says nothing
    "a kubelet that reports none": Case(
        {**boxes({GPU: "1", CPU: "3"}), "status": {"containerStatuses": [{"name": "c0", "allocatedResources": {CPU: "9"}}]}},
        {GPU: "1", CPU: "3", "pods": "1"},
    ),
    "the whole pod, shrinking": Case(pod_resizing({CPU: "1"}, {CPU: "4"}, {CPU: "4"}), {GPU: "1", CPU: "4", "pods": "1"}),
    "the whole pod, growing": Case(
        pod_resizing({CPU: "4"}, {CPU: "1"}, {CPU: "1"}, "Deferred"), {GPU: "1", CPU: "4", "pods": "1"}
    ),
    "the whole pod, impossible": Case(
        pod_resizing({CPU: "4"}, {CPU: "1"}, {CPU: "2"}, "Infeasible"),
        {GPU: "1", CPU: "2", "pods": "1"},
        asks={GPU: "1", CPU: "4", "pods": "1"},
    ),
}

CASES = {**STATES, **SPECS, **RESIZES}


@pytest.mark.parametrize("name", CASES)
def test_used_on_the_node(name: str) -> None:
    """What counts for "occupied" and for the fewest nodes that could hold everything."""
    case = CASES[name]
    found = snapshot(node("source"), node("target"), made(case))
    used = {r: found.used("target", r) for r in TOTAL}
    assert {r: a for r, a in used.items() if a} == amounts(case.used)


@pytest.mark.parametrize("name", CASES)
def test_idle_on_the_node(name: str) -> None:
    """Exactly what is left fits there, dimension by dimension, and a unit more does not."""
    case = CASES[name]
    held = amounts(case.used if case.held is None else case.held)
    keeper = anchor(containers=[container(requests={GPU: "1"})])
    nodes = [node("source", allocatable={**TOTAL, "pods": "99"}), node("target", allocatable=TOTAL)]
    for resource, total in TOTAL.items():
        left = parse_quantity(total) - held.get(resource, 0) - {GPU: 1000, "pods": 1000}.get(resource, 0)
        if resource == "pods":
            fitting = [pod(f"subject-{i}", "source", containers=[container(requests={GPU: "1"})]) for i in range(left // 1000)]
            extra = pod("extra", "source", containers=[container(requests={GPU: "1"})])
            assert len(moves(*nodes, keeper, made(case, still=True), *fitting)) == len(fitting)
            assert not moves(*nodes, keeper, made(case, still=True), *fitting, extra)
        else:
            assert moved(nodes, keeper, case, {GPU: "1000m", resource: text(left)}), resource
            assert not moved(nodes, keeper, case, {GPU: "1000m", resource: text(left + UNIT.get(resource, 1000))}), resource


def moved(nodes: list[Object], keeper: Object, case: Case, requests: Amounts) -> bool:
    return "subject" in moves(
        *nodes, keeper, made(case, still=True), pod("subject", "source", containers=[container(requests=dict(requests))])
    )


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.on and case.used and case.asks is not NOTHING])
def test_what_the_replacement_asks_for(name: str) -> None:
    """It fits into exactly that, and not where any one dimension is a unit short."""
    case = CASES[name]
    asks = amounts(case.asks or case.used)
    room = {r: text(a + {GPU: 1000, "pods": 1000}.get(r, 0)) for r, a in asks.items()}
    keeper = anchor("room", containers=[container(requests={GPU: "1"})])
    assert moves(node("target"), made(case), bare("room", room), keeper) == {"resident": "room"}
    for resource in asks:
        short = {**room, resource: text(parse_quantity(room[resource]) - UNIT.get(resource, 1000))}
        assert not moves(node("target"), made(case), bare("room", short), keeper), resource


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.asks is NOTHING])
def test_what_is_never_replaced(name: str) -> None:
    """Such a pod does not move however much room there is."""
    assert not moves(node("target"), made(CASES[name]), node("room", 64), anchor("room"))


def made(case: Case, *, still: bool = False) -> Object:
    """Return the case's pod; ``still`` keeps it where it is."""
    fields = {**case.fields, **({"owner": None} if still else {})}
    return pod("resident", case.on, **fields)


def bare(name: str, allocatable: Amounts) -> Object:
    made = node(name)
    made["status"]["allocatable"] = dict(allocatable)
    return made


def amounts(found: Amounts) -> dict[str, int]:
    return {name: parse_quantity(amount) for name, amount in found.items()}


def text(milli: int) -> str:
    return format_quantity(milli)


def test_a_node_with_less_than_its_pods_hold() -> None:
    """Its device plugin reports 2 of 8 cards: nothing is idle of them, whatever else is."""
    shrunk = [node("target", 2), anchor(count=8)]
    assert not moves(node("source"), *shrunk, pod("subject", "source", 1))
    assert moves(node("source"), node("target", 9), anchor(count=8), pod("subject", "source", 1)) == {"subject": "target"}


def test_what_a_node_does_not_name_it_does_not_have() -> None:
    """No cpu, no huge pages, no pods in allocatable: zero of them, and not without limit."""
    plain = [container(requests={GPU: "1"})]
    keeper = anchor(containers=plain)
    subject = pod("subject", "source", containers=plain)
    assert moves(node("source"), bare("target", {GPU: "8", "pods": "9"}), keeper, subject) == {"subject": "target"}
    assert not moves(node("source"), bare("target", {GPU: "8"}), keeper, subject)
    for resource in (CPU, HUGE, NIC):
        asking = pod("subject", "source", containers=[container(requests={GPU: "1", resource: "1"})])
        assert not moves(node("source"), bare("target", {GPU: "8", "pods": "9"}), keeper, asking)


@pytest.mark.parametrize("resource", [CPU, MEMORY])
def test_cpu_and_memory_are_compared_whether_asked_for_or_not(resource: str) -> None:
    """A node that is charged more of them than it has takes nobody under Volcano; under Kubernetes it would."""
    plain = [container(requests={GPU: "1"})]
    keeper = anchor(containers=[container(requests={GPU: "1", resource: "8"})])
    subject = pod("subject", "source", containers=plain)
    assert moves(node("source"), bare("target", {GPU: "8", "pods": "9", resource: "8"}), keeper, subject)
    assert not moves(node("source"), bare("target", {GPU: "8", "pods": "9", resource: "7"}), keeper, subject)


@pytest.mark.parametrize("resource", [HUGE, STORAGE, NIC])
def test_other_resources_are_compared_only_where_asked_for(resource: str) -> None:
    """Overcommitted huge pages close the node to those who want some."""
    keeper = anchor(containers=[container(requests={GPU: "1", resource: "8"})])
    target = bare("target", {GPU: "8", CPU: "8", "pods": "9", resource: "7"})
    assert moves(node("source"), target, keeper, pod("subject", "source", 1)) == {"subject": "target"}
    asking = pod("subject", "source", containers=[container(requests={GPU: "1", resource: "1"})])
    assert not moves(node("source", allocatable={resource: "9"}), target, keeper, asking)


def test_a_pod_that_outgrew_its_node_frees_it_like_any_other() -> None:
    """Charged eight cards on a node that reports four, it needs a receiver with eight."""
    grown = [node("source", 4), pod("subject", "source", 8)]
    assert moves(*grown, node("target", 16), anchor()) == {"subject": "target"}
    assert not moves(*grown, node("target", 11), anchor())


def test_a_container_status_cannot_free_a_device() -> None:
    """An impossible resize leaves cards and whatever its status does not name as the spec has them."""
    odd = resizing({CPU: "4"}, {CPU: "1"}, {}, "Infeasible")
    found = snapshot(node("target"), pod("resident", "target", **odd))
    assert found.used("target", GPU) == 1000
