"""Constraints as the scheduler reads them, the state of nodes, and moves that lead nowhere (table C6)."""

from __future__ import annotations

import pytest

from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Verdict
from tests.unit.faults.manifests import (
    PREFERRED,
    REQUIRED,
    Object,
    after,
    anchor,
    container,
    moves,
    node,
    other,
    owner,
    plan,
    pod,
    run,
    stage,
    stuck,
    subject,
    why,
)

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def test_fault_109_all_nodes_alike() -> None:
    """P 109, descheduler#725: four nodes with two of eight cards each become one."""
    cluster = [item for i in range(4) for item in (node(f"n{i}"), pod(f"p{i}", f"n{i}", 2))]
    found = plan(*cluster)
    assert (found.before.occupied, found.after.occupied) == (4, 1)


def test_fault_110_one_hole_for_ten_pods() -> None:
    """P 110, descheduler#1584: one card is idle in all: one of ten single pods can go, not ten."""
    pods = [pod(f"p{i}", f"n{i}", 1) for i in range(10)]
    nodes = [node(f"n{i}", 1) for i in range(10)]
    found = moves(*nodes, *pods, node("target"), anchor(count=7))
    assert list(found.values()) == ["target"]


def against(app: str, key: str = HOST) -> Object:
    """Return an affinity of its own that keeps pods labelled ``app`` away."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {REQUIRED: [term]}}


def test_fault_112_a_residents_anti_affinity() -> None:
    """P 112, descheduler#1370: only the pod on the receiver carries the term, and it keeps the newcomer out."""
    assert moves(*stage(subject(), resident=anchor(affinity=against("someone")))) == {"subject": "target"}
    assert stuck(*stage(subject(), resident=anchor(affinity=against("subject"))))


def test_fault_112_of_the_whole_domain() -> None:
    """P 112, descheduler#1370: the term may reach further than its own node."""
    nodes = [node("source", labels={ZONE: "a"}), node("target", labels={ZONE: "b"}), node("beside", labels={ZONE: "b"})]
    hater = pod("hater", "beside", 0, affinity=against("subject", ZONE), schedulerName="default-scheduler")
    assert moves(*nodes, anchor(), subject()) == {"subject": "target"}
    assert not moves(*nodes, anchor(), subject(), hater)


def test_fault_112_the_newcomers_own_anti_affinity() -> None:
    """P 112, descheduler#1370: the other direction: it goes where the pods that it avoids are not."""
    avoids = subject(affinity=against("anchor"))
    assert "source" in plan(*stage(avoids), node("free"), anchor("free", labels={"app": "other"})).freed_nodes


def test_fault_113_a_preference_for_the_present_node() -> None:
    """P 113, descheduler#1920: the scheduler would rather send the replacement back, so the plan says which pods."""
    prefers = {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["source"]}]}
    pulled = subject(affinity={"nodeAffinity": {PREFERRED: [{"weight": 100, "preference": prefers}]}})
    assert any("team/subject" in w for w in plan(*stage(pulled)).warnings)
    assert not plan(*stage(subject())).warnings


def test_fault_113_a_preference_that_the_receiver_meets_too() -> None:
    """P 113, descheduler#1920: what both nodes have pulls nowhere."""
    prefers = {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["source", "target"]}]}
    drawn = subject(affinity={"nodeAffinity": {PREFERRED: [{"weight": 100, "preference": prefers}]}})
    found = plan(*stage(drawn))
    assert found.freed_nodes == ("source",)
    assert not found.warnings


def spread(key: str, skew: int = 1, **more: object) -> Object:
    constraint = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule"}
    return {**constraint, "labelSelector": {"matchLabels": {"app": "web"}}, **more}


def zones(policy: str) -> list[Object]:
    """Zones a and b with one pod each that keep a skew of 1, and zone c in which no node takes pods."""
    rule = {"topologySpreadConstraints": [spread(ZONE, nodeTaintsPolicy=policy)], "labels": {"app": "web"}}
    closed = [{"key": "maintenance", "value": "yes", "effect": "NoSchedule"}]
    resident = {"schedulerName": "default-scheduler", "group": None}
    return [
        node("source", labels={ZONE: "a"}),
        node("target", labels={ZONE: "b"}),
        node("shut", labels={ZONE: "c"}, taints=closed),
        pod("subject", "source", 1, **rule),
        pod("in-b", "target", 1, **resident),
        pod("in-a", "beside", 1, **rule, **resident),
        node("beside", 1, labels={ZONE: "a"}),
    ]


def test_fault_115_a_domain_of_tainted_nodes_counts() -> None:
    """P 115, enhancements#6211: by today's rule an unreachable zone is a domain with nobody in it, so nobody may
    join zone b: it would hold one more than zone c."""
    crowded = [*zones("Ignore"), pod("web-b", "target", 1, labels={"app": "web"}, schedulerName="default-scheduler")]
    assert not moves(*crowded)


def test_fault_115_unless_the_pod_says_it_does_not() -> None:
    """P 115, enhancements#6211: with nodeTaintsPolicy Honor the closed zone is none of its domains."""
    crowded = [*zones("Honor"), pod("web-b", "target", 0, labels={"app": "web"}, schedulerName="default-scheduler")]
    assert moves(*crowded) == {"subject": "target"}


def test_fault_116_a_spread_that_allows_the_move_is_a_fixed_point() -> None:
    """P 116, descheduler#566: five pods over three nodes with a wide skew come together once, and then rest."""
    rule = {"topologySpreadConstraints": [spread(HOST, 5)], "labels": {"app": "web"}}
    cluster = [node(f"n{i}") for i in range(3)] + [pod(f"p{i}", f"n{i % 3}", 1, **rule) for i in range(5)]
    first = plan(*cluster)
    assert first.freed_nodes
    assert not plan(*after(cluster, first)).moves


def test_fault_116_a_spread_that_forbids_the_move() -> None:
    """P 116, descheduler#566: five pods over three nodes with a skew of 1 stay where they are, on tainted nodes too."""
    rule = {"topologySpreadConstraints": [spread(HOST)], "labels": {"app": "web"}}
    soft = [{"key": "old", "effect": "PreferNoSchedule"}]
    cluster = [node("n0", taints=soft), node("n1"), node("n2")] + [pod(f"p{i}", f"n{i % 3}", 1, **rule) for i in range(5)]
    assert not moves(*cluster)


def port(number: int, protocol: str = "TCP", address: str = "") -> list[Object]:
    found = {"containerPort": 80, "hostPort": number, "protocol": protocol, **({"hostIP": address} if address else {})}
    return [{**container(requests={"nvidia.com/gpu": "1"}), "ports": [found]}]


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        (port(8080), False),
        (port(8081), True),
        (port(8080, "UDP"), True),
        (port(8080, address="10.0.0.2"), True),
        (port(8080, address="10.0.0.1"), False),
    ],
)
def test_fault_118_host_ports(theirs: list[Object], expected: bool) -> None:
    """P 118, autoscaler#6209: port, protocol and address together conflict, also with a DaemonSet's pod."""
    agent = pod("agent", "target", containers=theirs, owner=owner("DaemonSet", "agent"), schedulerName="default-scheduler")
    mine = subject(containers=port(8080, address="10.0.0.1"))
    assert moves(*stage(mine, agent)) == ({"subject": "target"} if expected else {})


def test_fault_118_two_of_one_plan() -> None:
    """P 118, autoscaler#6209: two pods of the plan cannot take the same port of one receiver."""
    wanting = [pod(f"p{i}", f"n{i}", containers=port(8080)) for i in range(2)]
    assert len(moves(node("n0", 1), node("n1", 1), *wanting, node("target"), anchor())) == 1


CLAIMED = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]


def volume(key: str, *values: str, **source: object) -> list[Object]:
    """Return a bound claim and its volume, which nodes with ``key`` among ``values`` reach."""
    reach = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    affinity = {"required": {"nodeSelectorTerms": [reach]}}
    modes, size = ["ReadWriteOnce"], {"storage": "1Gi"}
    claim = {"volumeName": "pv", "accessModes": modes, "storageClassName": "ssd", "resources": {"requests": size}}
    disk = {"nodeAffinity": affinity, "accessModes": modes, "storageClassName": "ssd", "capacity": size, **source}
    disk["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "team", "name": "data", "uid": "uid-data"}
    return [
        other("v1", "PersistentVolumeClaim", "data", claim, {"phase": "Bound"}),
        other("v1", "PersistentVolume", "pv", disk, {"phase": "Bound"}, namespace=None),
        other("storage.k8s.io/v1", "StorageClass", "ssd", {}, namespace=None) | {"provisioner": "csi.example.com"},
    ]


def test_fault_119_a_local_volume() -> None:
    """P 119, descheduler#6: a volume on the source's own disk keeps its pod there, and the reason tells."""
    reason = why(*stage(subject(volumes=CLAIMED)), *volume(HOST, "source", local={"path": "/disk"}))
    assert "NoReceiver" in reason or "olume" in reason


def in_zones(target: str) -> list[Object]:
    nodes = [node("source", labels={ZONE: "a"}), node("target", labels={ZONE: target})]
    disk = {"csi": {"driver": "csi.example.com", "volumeHandle": "disk-1"}}
    spec = {"drivers": [{"name": "csi.example.com", "nodeID": "x"}]}
    driver = [other("storage.k8s.io/v1", "CSINode", n, spec, namespace=None) for n in ("source", "target")]
    return [*nodes, anchor(), subject(volumes=CLAIMED), *volume(ZONE, "a", **disk), *driver]


def test_fault_119_a_volume_of_another_zone() -> None:
    """P 119, descheduler#6: the pod cannot leave its volume's zone."""
    assert not moves(*in_zones("b"))


def test_fault_119_a_volume_of_the_same_zone() -> None:
    """P 119, descheduler#6: within the zone it moves."""
    assert moves(*in_zones("a")) == {"subject": "target"}


def test_fault_121_a_cordoned_node_does_not_receive() -> None:
    """P 121, descheduler#42: a cordoned receiver is closed, unless the pod tolerates just that."""
    shut = node("target", unschedulable=True)
    assert stuck(*stage(subject(), target=shut))
    tolerant = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}]
    assert moves(*stage(subject(tolerations=tolerant), target=shut)) == {"subject": "target"}


def test_fault_121_a_cordoned_source_is_pointed_out() -> None:
    """P 121, descheduler#42: freeing it gives no room until somebody uncordons it, and the plan says so."""
    cordoned = [node("source", unschedulable=True), node("target"), anchor(), subject()]
    found = plan(*cordoned)
    assert "source" not in found.freed_nodes or any("cordoned" in w for w in found.warnings)


@pytest.mark.parametrize("ready", ["False", "Unknown"])
def test_fault_122_a_node_that_is_not_ready(ready: str) -> None:
    """P 122, descheduler#832: it does not receive, and it is not emptied: nobody knows what its pods do."""
    assert stuck(*stage(subject(), target=node("target", ready=ready)))
    assert why(node("source", ready=ready), node("target"), anchor(), subject()).startswith("NodeNotReady")


def test_fault_124_an_evicted_pod_is_not_evicted_again() -> None:
    """B 124, descheduler#1695: once the plan was carried out, the next one leaves the moved pod alone."""
    cluster = stage(subject())
    first = plan(*cluster)
    assert [m.pod for m in first.moves] == ["subject"]
    assert not plan(*after(cluster, first)).moves


def test_fault_124_an_owner_whose_pods_moved_not_long_ago_rests() -> None:
    """B 124, descheduler#1695: the record shows that it was moved ten minutes ago, so it stays, whatever is to gain."""
    from repack_gitops.model.safeguards import Safeguards, workload

    moved = frozenset({workload("team", "apps/v1", "ReplicaSet", "rs-subject")})
    options = PlannerOptions(safeguards=Safeguards(recently_moved=moved))
    assert moves(*stage(subject())) == {"subject": "target"}
    assert not moves(*stage(subject()), options=options)
    assert moves(*stage(subject(owner=owner(name="another"))), options=options) == {"subject": "target"}


def test_fault_128_no_moves_without_a_gain() -> None:
    """P 128, karpenter#1019: two nodes with five of eight cards each could only swap, so nothing moves."""
    found = plan(node("a"), node("b"), pod("pa", "a", 5), pod("pb", "b", 5))
    assert (found.verdict, found.moves) == (Verdict.NO_FRAGMENTATION, ())


def test_fault_128_no_moves_for_too_small_a_gain() -> None:
    """P 128, karpenter#1019: one node of two is 50 points; a run that wants 51 gets no plan."""
    assert plan(*stage(subject()), spec=run(percent=50)).verdict is Verdict.RECOMMENDED
    found = plan(*stage(subject()), spec=run(percent=51))
    assert (found.verdict, found.moves) == (Verdict.INSUFFICIENT, ())


def test_fault_130_the_whole_run_is_capped() -> None:
    """P 130, descheduler#1449: ten nodes could be emptied; three PodGroups, or three cards, may move."""
    cluster = [item for i in range(10) for item in (node(f"n{i}", 1), pod(f"p{i}", f"n{i}", 1))]
    cluster += [node("target", 16), anchor()]
    assert len(moves(*cluster)) == 10
    assert len(moves(*cluster, spec=run(pod_groups=3))) == 3
    assert len(moves(*cluster, spec=run(most=3))) == 3
    assert plan(*cluster, spec=run(most=0)).verdict is Verdict.INSUFFICIENT


@pytest.mark.parametrize("cap", ["pods_per_namespace", "pods_per_owner"])
def test_fault_130_each_namespace_and_each_owner_is_capped(cap: str) -> None:
    """P 130, descheduler#1449: ten nodes could be emptied; three pods of one namespace, or of one owner, may move."""
    from repack_gitops.model.safeguards import Safeguards

    cluster = [item for i in range(10) for item in (node(f"n{i}", 1), pod(f"p{i}", f"n{i}", 1, owner=owner()))]
    cluster += [node("target", 16), anchor()]
    assert len(moves(*cluster)) == 10
    assert len(moves(*cluster, options=PlannerOptions(safeguards=Safeguards(**{cap: 3})))) == 3


@pytest.mark.parametrize(
    ("annotation", "value"),
    [("karpenter.sh/do-not-disrupt", "true"), ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")],
)
def test_fault_131_a_workload_opts_out(annotation: str, value: str) -> None:
    """P 131, KAI#2073: a preemptible pod may still ask not to be moved; its reason names the annotation."""
    marks = {"volcano.sh/preemptable": "true"}
    assert moves(*stage(subject(annotations=marks))) == {"subject": "target"}
    assert annotation in why(*stage(subject(annotations={**marks, annotation: value})))


def test_fault_133_enough_in_all_and_not_on_any_node() -> None:
    """P 133, volcano#665: pods of four on nodes of six: twelve cards would fill two nodes, yet three are needed. The
    count of nodes is a lower bound that says so, no pod moves, and each node's reason tells what is lacking."""
    cluster = [item for i in range(3) for item in (node(f"n{i}", 6), pod(f"p{i}", f"n{i}", 4))]
    found = plan(*cluster)
    assert (found.before.optimal, found.before.exact) == (2, False)
    assert not found.moves
    assert all(stuck(*cluster, node=name) for name in found.stays)
