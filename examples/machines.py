"""Nodes as the API server shows them."""

from __future__ import annotations

from examples.fleet import Machine, Object
from examples.identity import metadata, stamp

#: Nodes are older than anything on them.
BORN = 24 * 200.0


def node_object(machine: Machine, index: int, resource: str) -> Object:
    """Return ``machine`` as a Node that provides ``resource``."""
    labels = {
        "beta.kubernetes.io/arch": machine.architecture,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/region": "cn-north-4",
        "topology.kubernetes.io/zone": machine.zone,
        **machine.labels,
    }
    made = metadata("Node", machine.name, BORN, annotations={"node.alpha.kubernetes.io/ttl": "0"}, labels=labels)
    spec: Object = {"podCIDR": f"10.{200 + index // 250}.{index % 250}.0/24", "providerID": f"bare-metal://{machine.name}"}
    if taints := _taints(machine):
        spec["taints"] = taints
    if machine.cordoned is not None:
        spec["unschedulable"] = True
    return {"apiVersion": "v1", "kind": "Node", "metadata": made, "spec": spec, "status": _status(machine, index, resource)}


def address(index: int) -> str:
    """Return the machine's own address."""
    return f"192.168.{10 + index // 250}.{1 + index % 250}"


def _taints(machine: Machine) -> list[Object]:
    taints: list[Object] = [dict(t) for t in machine.taints]
    if machine.cordoned is not None:
        added = stamp(machine.cordoned)
        taints.append({"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "timeAdded": added})
    if machine.lost is not None:
        for effect in ("NoSchedule", "NoExecute"):
            added = stamp(machine.lost, 45)
            taints.append({"effect": effect, "key": "node.kubernetes.io/unreachable", "timeAdded": added})
    return taints


def _status(machine: Machine, index: int, resource: str) -> Object:
    capacity = {"cpu": str(machine.cpu), "ephemeral-storage": "3750641372Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    capacity |= {"memory": f"{machine.memory * 2**20 - 1_313_628}Ki", "pods": "110"}
    allocatable = {**capacity, "cpu": f"{machine.cpu * 1000 - 120}m", "ephemeral-storage": "3456591088434"}
    allocatable["memory"] = f"{machine.memory * 2**20 - 3_410_780}Ki"
    if machine.cards:
        capacity[resource] = allocatable[resource] = str(machine.cards)
    return {
        "addresses": [{"address": address(index), "type": "InternalIP"}, {"address": machine.name, "type": "Hostname"}],
        "allocatable": allocatable,
        "capacity": capacity,
        "conditions": _conditions(machine),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": machine.architecture,
            "containerRuntimeVersion": "containerd://2.0.5",
            "kernelVersion": "5.15.0-139-generic",
            "kubeletVersion": "v1.34.2",
            "operatingSystem": "linux",
            "osImage": "Ubuntu 22.04.5 LTS",
        },
    }


def _conditions(machine: Machine) -> list[Object]:
    quiet = ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
    disk = ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
    pids = ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available")
    found = [_condition(machine, kind, "False", reason, message) for kind, reason, message in (quiet, disk, pids)]
    return [*found, _condition(machine, "Ready", "True", "KubeletReady", "kubelet is posting ready status")]


def _condition(machine: Machine, kind: str, status: str, reason: str, message: str) -> Object:
    heard, changed = stamp(0, -120), stamp(BORN, 90)
    if machine.lost is not None:
        heard, changed = stamp(machine.lost), stamp(machine.lost, 45)
        status, reason, message = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
    times = {"lastHeartbeatTime": heard, "lastTransitionTime": changed}
    return {**times, "message": message, "reason": reason, "status": status, "type": kind}
