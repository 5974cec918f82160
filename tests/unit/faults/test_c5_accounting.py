"""Amounts: what is asked for, what is held, what is idle (table C5). The arithmetic in full: ``test_accounting``."""

from __future__ import annotations

import pytest

from repack_gitops.errors import InvalidInput
from tests.unit.faults.manifests import (
    GPU,
    Object,
    anchor,
    cards,
    container,
    moves,
    node,
    plan,
    pod,
    reason_of,
    run,
    sidecar,
    stage,
    stuck,
    subject,
    told,
    why,
)

MOVED = {"subject": "target"}


def fits(resident: Object | None = None, target: Object | None = None, count: int | str = 1, **fields: object) -> bool:
    """Tell whether ``subject`` can move to ``target`` beside ``resident``."""
    found = moves(*stage(subject(count, **fields), target=target, resident=resident))
    assert found in ({}, MOVED)
    return bool(found)


def test_fault_82_finished_pods_take_none_of_a_nodes_pods() -> None:
    """P 82, kubernetes#22398: three pods at most: the anchor and a newcomer fit beside two that ended, not beside one
    that still runs or is on its way out."""
    target = node("target", pods="2")
    ended = [pod(p.lower(), "target", 0, phase=p) for p in ("Succeeded", "Failed")]
    assert moves(*stage(subject(), *ended, target=target)) == MOVED
    for resident in (pod("runs", "target", 0), pod("leaves", "target", 0, deletionTimestamp="2026-01-01T00:00:00Z")):
        assert stuck(*stage(subject(), resident, target=target))


def test_fault_83_an_init_container_needs_more_than_the_pod() -> None:
    """P 83, descheduler#1769: eight cards to start and one to run are eight cards for the pod's whole life."""
    assert fits(anchor(count=1))
    assert not fits(anchor(count=1, initContainers=[container("init", **cards(8))]))


@pytest.mark.parametrize(("idle", "expected"), [(1, False), (2, True)])
def test_fault_83_a_sidecar_runs_beside_the_containers(idle: int, expected: bool) -> None:
    """P 83, descheduler#1769: one card for the sidecar and one for the container are two."""
    assert fits(anchor(count=8 - idle), initContainers=[sidecar("proxy", **cards(1))]) is expected


@pytest.mark.parametrize(("idle", "expected"), [(4, False), (5, True)])
def test_fault_83_an_init_container_runs_beside_earlier_sidecars(idle: int, expected: bool) -> None:
    """P 83, descheduler#1769: one card of a sidecar and four of the init container after it are five at once."""
    init = [sidecar("proxy", **cards(1)), container("init", **cards(4))]
    assert fits(anchor(count=8 - idle), initContainers=init) is expected


def resized(wanted: str, actual: str, allocated: str, reason: str | None = None) -> Object:
    """Return an anchor whose container is being resized to ``wanted`` cpu."""
    held = {"name": "main", "resources": {"requests": {"cpu": actual}}, "allocatedResources": {"cpu": allocated}}
    pending = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    resources = {"requests": {GPU: "1", "cpu": wanted}}
    return anchor(containers=[container(**resources)], status={"containerStatuses": [held], "conditions": pending})


@pytest.mark.parametrize(
    ("resident", "idle"),
    [
        (resized("1", "4", "4"), 4),  # shrinking: what runs still holds 4 of 8
        (resized("4", "1", "1", "Deferred"), 4),  # growing, waiting for room: 4 are promised
        (resized("4", "1", "4"), 4),  # growing, agreed to: 4
        (resized("6", "2", "2", "Infeasible"), 6),  # will never grow: 2
    ],
)
def test_fault_85_a_pod_that_is_being_resized(resident: Object, idle: int) -> None:
    """P 85, karpenter#3065: it is charged the most of what it asks for, what it was given and what it holds."""
    target = node("target", cpu="8")
    ask = {GPU: "1"}
    assert fits(resident, target, containers=[container(requests={**ask, "cpu": str(idle)})])
    assert not fits(resident, target, containers=[container(requests={**ask, "cpu": f"{idle}001m"})])


def test_fault_86_requests_of_the_whole_pod() -> None:
    """P 86, KAI#1894: the pod asks for four cpus, its containers for none; devices count by container all the same."""
    pod_level = {"containers": [container(requests={GPU: "1"})], "resources": {"requests": {"cpu": "4", "memory": "1Gi"}}}
    assert fits(anchor(count=1, **pod_level), node("target", cpu="5"))
    assert not fits(anchor(count=1, **pod_level), node("target", cpu="4"))
    assert not fits(anchor(count=8), resources={"requests": {"cpu": "1"}})


@pytest.mark.parametrize(("idle", "expected"), [(1, False), (2, True)])
def test_fault_88_devices_requested_without_a_limit(idle: int, expected: bool) -> None:
    """P 88, kubernetes#57276: the request is what counts."""
    assert fits(anchor(count=8 - idle), containers=[container(requests={GPU: "2"})]) is expected


@pytest.mark.parametrize("written", ["8", "8e0", "0.8e1", "8000m", "0.008k", "8.0", "+8"])
def test_fault_89_eight_cards_are_eight_however_written(written: str) -> None:
    """P 89, kubernetes-client#2052: exponents, fractions and suffixes all say the same."""
    assert plan(*stage(resident=anchor(count=written))).before.occupied == 1
    assert not fits(anchor(count=written))
    assert fits(anchor(count=written), node("target", 9))


def test_fault_89_large_suffixes() -> None:
    """P 89, kubernetes-client#2052: ``1k`` is a thousand, ``1Ki`` 1,024, and ``1E`` of memory exabytes, no exponent."""
    assert fits(anchor(count="1k"), node("target", 1001))
    assert not fits(anchor(count="1k"), node("target", 1000))
    assert not fits(anchor(count="1Ki"), node("target", 1024))
    exa = [container(requests={GPU: "1", "memory": "1E"})]
    assert not fits(containers=exa, target=node("target", memory=str(10**18 - 1)))
    assert fits(containers=exa, target=node("target", memory=str(10**18)))


def test_fault_91_amounts_beyond_64_bits() -> None:
    """P 91, volcano#5844: 100 petabytes in thousandths do not fit into 64 bits; the comparison is exact all the same."""
    huge = [container(requests={GPU: "1", "ephemeral-storage": "100P"})]
    assert fits(containers=huge, target=node("target", allocatable={"ephemeral-storage": "100P"}))
    assert not fits(containers=huge, target=node("target", allocatable={"ephemeral-storage": "99P"}))


def test_fault_92_one_unit_for_capacity_and_use() -> None:
    """P 92, volcano#5391: of two cards, ``2000m`` are both; ``1000m`` leave one."""
    assert not fits(anchor(count="2000m"), node("target", 2))
    assert fits(anchor(count="1000m"), node("target", 2))


def test_fault_94_a_node_that_forgot_its_devices() -> None:
    """P 94, volcano#2999: eight cards in use and none provided: not free, not freed, no receiver, and it is said."""
    lost = [node("lost", allocatable={GPU: None}), pod("runs", "lost", 8)]
    found = plan(*stage(subject()), *lost)
    assert found.before.providing == 2
    assert found.freed_nodes == ("source",)
    assert {m.to_node for m in found.moves} == {"target"}
    assert any("lost" in w for w in found.warnings)
    shrunk = [node("lost", 2), pod("runs", "lost", 8)]  # fewer than are used: nothing is idle
    assert plan(node("source"), subject(), *shrunk).freed_nodes == ()


def test_fault_95_no_node_provides_the_resource() -> None:
    """P 95, volcano#3160: that is an error which names what there is, and not "no fragmentation"."""
    with pytest.raises(InvalidInput, match=r"no node provides volcano\.sh/vgpu-number") as caught:
        plan(*stage(subject()), spec=run("volcano.sh/vgpu-number"))
    assert GPU in str(caught.value.hint)


@pytest.mark.parametrize("share", ["volcano.sh/vgpu-memory", "nvidia.com/gpumem"])
def test_fault_97_shares_of_a_card(share: str) -> None:
    """P 97, volcano#3616: three times 12 GiB on one card of 24 fit by count, and on no single card; such a pod stays."""
    asks = [container(requests={GPU: "1", share: "12"})]
    nodes = [node(name, allocatable={share: "48"}) for name in ("source", "target")]
    found = plan(*nodes, anchor(), subject(containers=asks))
    assert not found.moves
    assert share in reason_of(found, "source")


MIG = "nvidia.com/mig-1g.10gb"


def test_fault_101_devices_go_by_their_exact_name() -> None:
    """P 101, KAI#1876: whatever a label says, a node has what is allocatable, and a MIG profile is no whole card."""
    labels = {"nvidia.com/gpu.count": "8", "nvidia.com/mig.strategy": "mixed"}
    nodes = [node(name, "0", labels=labels, allocatable={MIG: "7"}) for name in ("source", "target")]
    whole_cards = node("whole", 8, labels=labels)
    slices = [subject(containers=[container(requests={MIG: "2"})]), anchor(containers=[container(requests={MIG: "5"})])]
    found = plan(*nodes, whole_cards, *slices, spec=run(MIG))
    assert found.before.providing == 2
    assert [(m.to_node, m.cards) for m in found.moves] == [("target", 2)]
    full = anchor(containers=[container(requests={MIG: "6"})])
    assert not plan(*nodes, whole_cards, slices[0], full, spec=run(MIG)).moves


def test_fault_103_two_pods_share_one_claim() -> None:
    """P 103, KAI#1930: moving one of them frees no device, so neither moves, and the claim is named."""
    claim = [{"name": "shared", "resourceClaimName": "one"}]
    sharers = [subject(resourceClaims=claim), pod("partner", "source", 1, resourceClaims=claim)]
    found = plan(*stage(*sharers))
    assert not found.moves
    assert "laim" in reason_of(found, "source")
    assert found.before.optimal == 1


def test_fault_104_a_node_without_a_device_in_use() -> None:
    """P 104, cluster-autoscaler#119: pods that hold claims and none of the resource occupy nothing."""
    claims = pod("claims", "empty", 0, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "any"}])
    found = plan(*stage(subject()), node("empty"), claims)
    assert found.before.occupied == 2
    assert found.freed_nodes == ("source",)
    assert {m.to_node for m in found.moves} == {"target"}


def test_fault_106_pods_of_another_scheduler() -> None:
    """P 106, volcano#2700: they hold what they ask for, and they never move."""
    assert not fits(anchor(count=8))
    assert fits(anchor(count=7))
    stranger = subject(schedulerName="default-scheduler", group=None)
    assert "default-scheduler" in why(*stage(stranger))
    assert "subject" in told(plan(*stage(stranger)))


def test_fault_107_every_dimension_that_is_asked_for() -> None:
    """P 107, volcano#3520: cards suffice and memory is 1 MiB short; what nobody asks for may be short, but not cpu and
    memory, which Volcano always compares."""
    asks = [container(requests={GPU: "1", "memory": "4Gi"})]
    without_memory = anchor(containers=[container(requests={GPU: "4"})])
    assert not fits(without_memory, node("target", memory="4095Mi"), containers=asks)
    assert fits(without_memory, node("target", memory="4Gi"), containers=asks)
    one_card = [container(requests={GPU: "1"})]
    greedy = anchor(containers=[container(requests={GPU: "1", "cpu": "8", "example.com/nic": "2"})])
    assert fits(greedy, node("target", cpu="8"), containers=one_card)
    assert stuck(*stage(subject(containers=one_card), resident=greedy, target=node("target", cpu="7")))
