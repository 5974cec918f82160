"""What the real Volcano takes for idle: a pod of exactly what we compute is bound, one of a unit more is not.

Every case has a node of its own with residents of one kind. Where Volcano 1.14 takes more than we count, the case says how
much: we count what Kubernetes counts, or what was promised to somebody else, so a fit for us is always a fit for Volcano.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from repack_gitops.kube.client import LiveCluster
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.quantity import format_quantity
from repack_gitops.planner.candidacy import idle_amounts
from tests.testbed.cluster import Cluster
from tests.testbed.nodes import Object, fake_node
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real

GPU, HUGE = "nvidia.com/gpu", "hugepages-2Mi"
MI = 2**20 * 1000
#: The least that more can be, in thousandths.
UNIT = {"cpu": 1, GPU: 1000, HUGE: 2 * MI, "ephemeral-storage": 1000}
Patch = tuple[str, Object]
TOLERANT = [{"operator": "Exists"}]
RUNNING = {"status": {"phase": "Running"}}


@dataclass(frozen=True)
class Case:
    """One node of 8 cpus, 8 cards and 64 Mi of huge pages.

    Attributes
    ----------
    spec
        Of the resident, beside what binds it to the node.
    idle
        What is left of ``resource``, in thousandths, worked out by hand.
    volcano
        What Volcano leaves, where that is more.
    patches
        (subresource, merge patch) of the resident, once it runs.
    terminating
        It is deleted, on a node of which nobody takes care, so it stays.
    """

    spec: Object
    idle: int
    volcano: int | None = None
    resource: str = "cpu"
    patches: Sequence[Patch] = field(default=())
    terminating: bool = False
    nominated: bool = False


def container(name: str = "main", **amounts: str) -> Object:
    return {"name": name, "image": "x", "resources": {"requests": amounts}}


def resize(to: str, held: str, reason: str = "") -> list[Patch]:
    """Return patches after which the resident asks for ``to`` and, by its kubelet, holds ``held``."""
    wanted = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": to}}}]}}
    status = {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 0}
    held_now = {**status, "resources": {"requests": {"cpu": held}}, "allocatedResources": {"cpu": held}}
    pending = {"type": "PodResizePending", "status": "True", "reason": reason}
    # The API server lets a pod be resized only once its kubelet reported what it holds.
    return [("status", {"status": {"containerStatuses": [held_now], "conditions": [pending]}}), ("resize", wanted)]


PLAIN = [container(cpu="1")]
CASES = {
    # 8 - max(1, 3)
    "init": Case({"containers": PLAIN, "initContainers": [container("i", cpu="3")]}, 5_000),
    # 8 - (1 + 2); the init container after the sidecar needs 2 + 0.5 at its peak
    "sidecar": Case(
        {
            "containers": PLAIN,
            "initContainers": [{**container("s", cpu="2"), "restartPolicy": "Always"}, container("i", cpu="500m")],
        },
        5_000,
    ),
    # 8 - (1 + 0.25)
    "overhead": Case({"containers": PLAIN, "runtimeClassName": "sandbox"}, 6_750),
    # Kubernetes 8 - (max(1, 3) + 0.25); Volcano 1.14 8 - max(1 + 0.25, 3)
    "overhead-init": Case(
        {"containers": PLAIN, "initContainers": [container("i", cpu="3")], "runtimeClassName": "sandbox"}, 4_750, 5_000
    ),
    # Kubernetes 8 - 4; Volcano 1.14 does not know requests of the whole pod
    "pod-level": Case({"containers": [{"name": "main", "image": "x"}], "resources": {"requests": {"cpu": "4"}}}, 4_000, 8_000),
    # 8 - 1, whoever placed it
    "other-scheduler": Case({"containers": PLAIN, "schedulerName": "default-scheduler"}, 7_000),
    # the API server makes the limit of 3 a request; an explicit request of 0 stays 0
    "limits-only": Case({"containers": [{"name": "main", "image": "x", "resources": {"limits": {"cpu": "3"}}}]}, 5_000),
    "request-zero": Case(
        {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"cpu": "3"}, "requests": {"cpu": "0"}}}]}, 8_000
    ),
    "nothing-asked": Case({"containers": [{"name": "main", "image": "x"}]}, 8_000),
    # 8 - 1 until it is gone
    "terminating": Case({"containers": PLAIN}, 7_000, terminating=True),
    # promised to it by us; Volcano 1.14 looks at nominations of the pod that it places only
    "nominated": Case({"containers": PLAIN, "schedulerName": "nobody"}, 7_000, 8_000, nominated=True),
    "succeeded": Case({"containers": PLAIN}, 8_000, patches=[("status", {"status": {"phase": "Succeeded"}})]),
    "failed": Case({"containers": PLAIN}, 8_000, patches=[("status", {"status": {"phase": "Failed"}})]),
    "unknown": Case({"containers": PLAIN}, 7_000, patches=[("status", {"status": {"phase": "Unknown"}})]),
    "pending": Case({"containers": PLAIN}, 7_000, patches=[("status", {"status": {"phase": "Pending"}})]),
    # asks for 1 and still holds 4; asks for 4 and was not given it; will never be given it
    "shrinking": Case({"containers": [container(cpu="4")]}, 4_000, patches=resize("1", "4")),
    "deferred": Case({"containers": PLAIN}, 4_000, patches=resize("4", "1", "Deferred")),
    "infeasible": Case({"containers": PLAIN}, 7_000, patches=resize("4", "1", "Infeasible")),
    # 8 - (1 + 2) cards; 64 - 16 Mi; 100 Gi - 10 Gi
    "cards": Case(
        {"containers": [{"name": n, "image": "x", "resources": {"limits": {GPU: c}}} for n, c in (("a", "1"), ("b", "2"))]},
        5_000,
        resource=GPU,
    ),
    "huge-pages": Case(
        {"containers": [{"name": "main", "image": "x", "resources": {"limits": {HUGE: "16Mi", "memory": "1Mi"}}}]},
        48 * MI,
        resource=HUGE,
    ),
    "storage": Case({"containers": [container(**{"ephemeral-storage": "10Gi"})]}, 90 * 1024 * MI, resource="ephemeral-storage"),
}


def resident(name: str, case: Case, namespace: str, on: str) -> Object:
    where = {} if case.nominated else {"nodeName": on}
    spec = {"terminationGracePeriodSeconds": 600 * case.terminating, "tolerations": TOLERANT, **where, **case.spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def probe(name: str, namespace: str, on: str, amounts: dict[str, str]) -> Object:
    """Return a pod of Volcano that asks for ``amounts`` and may run on one node only."""
    resources = {"requests": amounts, "limits": {k: v for k, v in amounts.items() if k in (GPU, HUGE)}}
    spec = {
        "schedulerName": "volcano",
        "tolerations": TOLERANT,
        "nodeSelector": {"kubernetes.io/hostname": on},
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "x", "resources": resources}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


class Bench:
    """The nodes and pods of one test."""

    def __init__(self, control_plane: Cluster, cluster: LiveCluster, namespace: str) -> None:
        self.plane, self._cluster, self.namespace = control_plane, cluster, namespace

    def node(self, case: str) -> str:
        return f"{case}.{self.namespace}"

    def idle(self) -> dict[str, dict[str, int]]:
        """Return what we take for idle on this test's nodes, read through the live door."""
        found = []
        for item in self._cluster.list_objects():
            meta: Any = item.metadata  # type: ignore[attr-defined]
            if self.namespace in (meta.namespace, meta.name.partition(".")[2]):
                found.append(item)
        return idle_amounts(build_snapshot(found))

    def patch(self, kind: str, name: str, subresource: str, change: Object) -> None:
        arguments = ["patch", kind, name, "--type=strategic" if subresource == "resize" else "--type=merge"]
        self.plane.kubectl(*arguments, "-n", self.namespace, f"--subresource={subresource}", "-p", json.dumps(change))

    def end(self, name: str) -> None:
        """Let a pod that nobody takes care of be on its way out, for long."""
        self.patch("pod", name, "status", RUNNING)
        self.plane.kubectl("delete", "pod", name, "-n", self.namespace, "--wait=false")

    def pods(self) -> dict[str, Object]:
        return {p["metadata"]["name"]: p for p in self.plane.items("pods", "-n", self.namespace)}

    def refused(self, *names: str) -> None:
        """Wait until the scheduler said of every pod that it fits nowhere now."""

        def look() -> bool:
            pods = self.pods()
            return all(self._said_no(pods[name]) for name in names)

        wait_for(f"Volcano to refuse {', '.join(names)}", look, every=0.5)

    @staticmethod
    def _said_no(pod: Object) -> bool:
        found = [c for c in pod["status"].get("conditions", ()) if c["type"] == "PodScheduled"]
        assert not pod["spec"].get("nodeName"), f"{pod['metadata']['name']} was bound"
        return any(c["status"] == "False" for c in found)

    def bound(self, *names: str) -> None:
        def look() -> bool:
            pods = self.pods()
            return all(pods[name]["spec"].get("nodeName") for name in names)

        wait_for(f"Volcano to bind {', '.join(names)}", look, every=0.5)

    def delete(self, *names: str) -> None:
        self.plane.kubectl("delete", "pod", "-n", self.namespace, "--wait=true", *names)


@pytest.fixture
def bench(control_plane: Cluster, cluster: LiveCluster, namespace: str) -> Iterator[Bench]:
    """A bench; its pods are gone in the end, also those of which nobody takes care."""
    found = Bench(control_plane, cluster, namespace)
    control_plane.apply(
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "sandbox"},
            "handler": "sandbox",
            "overhead": {"podFixed": {"cpu": "250m"}},
        }
    )
    yield found
    control_plane.kubectl("delete", "pods", "--all", "-n", namespace, "--wait=false", "--force", "--grace-period=0")


def test_a_pod_of_just_what_is_idle_fits_and_one_of_a_unit_more_does_not(bench: Bench, make_nodes: Callable[..., None]) -> None:
    make_nodes(*(big_node(bench.node(name), alone=case.terminating) for name, case in CASES.items()))
    settle(bench)
    idle = bench.idle()
    assert {n: idle[bench.node(n)].get(c.resource, 0) for n, c in CASES.items()} == {n: c.idle for n, c in CASES.items()}

    room = {name: c.idle if c.volcano is None else c.volcano for name, c in CASES.items()}
    larger = {f"more-{n}": asking(bench, f"more-{n}", n, room[n] + UNIT[c.resource]) for n, c in CASES.items()}
    bench.plane.apply(*larger.values())
    bench.refused(*larger)
    bench.delete(*larger)
    exact = {f"just-{n}": asking(bench, f"just-{n}", n, room[n]) for n in CASES}
    bench.plane.apply(*exact.values())
    bench.bound(*exact)


def big_node(name: str, *, alone: bool = False, **more: str) -> Object:
    """Return a node; KWOK plays its kubelet unless it is ``alone``."""
    made = fake_node(name, {GPU: 8}, cpu="8")
    for amounts in (made["status"]["allocatable"], made["status"]["capacity"]):
        amounts |= {HUGE: "64Mi", "ephemeral-storage": "100Gi", **more}
    if alone:
        del made["metadata"]["annotations"]
        made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    return made


def settle(bench: Bench) -> None:
    """Bring every resident into its state."""
    bench.plane.apply(*(resident(n, c, bench.namespace, bench.node(n)) for n, c in CASES.items()))

    def run() -> bool:
        pods = bench.pods()
        return all(pods[n]["status"]["phase"] == "Running" for n, c in CASES.items() if not c.nominated and not c.terminating)

    wait_for("the residents to run", run, every=0.5)
    for name, case in CASES.items():
        for subresource, change in case.patches:
            bench.patch("pod", name, subresource, change)
        if case.nominated:
            bench.patch("pod", name, "status", {"status": {"nominatedNodeName": bench.node(name)}})
        if case.terminating:
            bench.end(name)


def asking(bench: Bench, name: str, case: str, amount: int) -> Object:
    resource = CASES[case].resource
    extra = {"memory": "1Mi"} if resource == HUGE else {}
    return probe(name, bench.namespace, bench.node(case), {resource: format_quantity(amount), **extra})


def test_a_node_charged_more_cpu_than_it_has_takes_nobody(bench: Bench, make_nodes: Callable[..., None]) -> None:
    """Not even a pod that asks for no cpu; with cards it is not so: what is not asked for is not compared."""
    nodes = [bench.node("cpu"), bench.node("cards")]
    make_nodes(*map(big_node, nodes))
    whole = {"cpu": "8", GPU: "8"}
    taken = [{"name": "main", "image": "x", "resources": {"requests": {k: whole[k]}, "limits": {k: whole[k]}}} for k in whole]
    for name, on, box in zip(("cpu", "cards"), nodes, taken, strict=True):
        bench.plane.apply(resident(name, Case({"containers": [box]}, 0), bench.namespace, on))
    for on, shrunk in zip(nodes, ({"cpu": "4"}, {GPU: "4"}), strict=True):
        bench.patch("node", on, "status", {"status": {"allocatable": shrunk}})
    found = bench.idle()
    assert (found[nodes[0]]["cpu"], found[nodes[1]][GPU]) == (-4_000, -4_000)
    bench.plane.apply(probe("on-cpu", bench.namespace, nodes[0], {GPU: "1"}))
    bench.plane.apply(probe("on-cards", bench.namespace, nodes[1], {"cpu": "1"}))
    bench.refused("on-cpu")
    bench.bound("on-cards")


def test_pods_that_ended_leave_their_place_and_those_that_leave_do_not(bench: Bench, make_nodes: Callable[..., None]) -> None:
    """Room for two pods: one beside one that ended, none beside one that runs and one that is on its way out."""
    nodes = {name: bench.node(name) for name in ("ended", "leaving")}
    make_nodes(*(big_node(on, alone=name == "leaving", pods="2") for name, on in nodes.items()))
    for name, on in nodes.items():
        case = Case({"containers": PLAIN}, 0, terminating=name == "leaving")
        bench.plane.apply(*(resident(n, case, bench.namespace, on) for n in (name, f"{name}-too")))
    bench.patch("pod", "ended", "status", {"status": {"phase": "Succeeded"}})
    bench.end("leaving")
    idle = bench.idle()
    assert [idle[on]["pods"] for on in nodes.values()] == [1_000, 0]
    bench.plane.apply(*(probe(f"new-{name}", bench.namespace, on, {"cpu": "1"}) for name, on in nodes.items()))
    bench.refused("new-leaving")
    bench.bound("new-ended")
