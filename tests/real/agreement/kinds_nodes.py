"""Kinds of constraints that one node decides by itself: labels, taints, cordons, conditions, ports."""

from __future__ import annotations

from tests.real.agreement.draft import HOST, RACK, ZONE, Draft
from tests.testbed.nodes import Object

GENERATION = "generation-%"


def node_affinity(made: Draft) -> None:
    """Give the probe a node selector, required node affinity, or both; generations make Gt and Lt meet odd values."""
    rng = made.rng
    for node in made.nodes:
        if made.chance(0.8):
            node["metadata"]["labels"][GENERATION] = rng.choice(
                ("1", "2", "7", "10", "007", "0", "x", "", "9223372036854775808")
            )
    if made.chance(0.3):
        made.probe["spec"]["nodeSelector"] = {rng.choice((ZONE, RACK)): rng.choice(("a", "b", "r1", "r2"))}
    if made.chance(0.85):
        terms = [_node_term(made) for _ in range(rng.choice((1, 1, 2, 3)))]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        made.probe["spec"].setdefault("affinity", {})["nodeAffinity"] = required


def _node_term(made: Draft) -> Object:
    rng = made.rng
    term: Object = {}
    if made.chance(0.85):
        term["matchExpressions"] = [_node_expression(made) for _ in range(rng.choice((1, 1, 2)))]
    if made.chance(0.3):
        name = rng.choice(made.nodes)["metadata"]["name"]
        term["matchFields"] = [{"key": "metadata.name", "operator": rng.choice(("In", "NotIn")), "values": [name]}]
    return term


def _node_expression(made: Draft) -> Object:
    rng = made.rng
    key, values = rng.choice(((ZONE, ["a", "b", "c"]), (RACK, ["r1", "r2"]), (HOST, ["n0", "n1", "n2"]), ("absent-%", ["v"])))
    operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gt", "Lt"))
    if operator in {"Gt", "Lt"}:
        return {"key": GENERATION, "operator": operator, "values": [rng.choice(("1", "2", "8", "0", "9", "x", "007"))]}
    if operator in {"In", "NotIn"}:
        return {"key": key, "operator": operator, "values": made.some(values, 1)}
    return {"key": rng.choice((key, GENERATION)), "operator": operator}


def taint_toleration(made: Draft) -> None:
    """Taint most nodes, and let the probe tolerate some of that."""
    for node in made.nodes:
        found = {}
        for _ in range(made.rng.choice((0, 1, 1, 2))):
            taint = _taint(made)
            found[taint["key"], taint["effect"]] = taint
        node["spec"].setdefault("taints", []).extend(found.values())
    tolerations = [_toleration(made) for _ in range(made.rng.choice((0, 1, 1, 2, 3)))]
    made.probe["spec"].setdefault("tolerations", []).extend(tolerations)


def _taint(made: Draft) -> Object:
    rng = made.rng
    taint = {
        "key": rng.choice(("k1", "k2")),
        "effect": rng.choice(("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")),
    }
    return taint | ({"value": rng.choice("uv")} if made.chance(0.7) else {})


def _toleration(made: Draft) -> Object:
    rng = made.rng
    effect = rng.choice(("", "NoSchedule", "NoExecute", "PreferNoSchedule"))
    if made.chance(0.1):
        found: Object = {"operator": "Exists"}
    elif made.chance(0.4):
        found = {"key": rng.choice(("k1", "k2")), "operator": "Exists"}
    else:
        found = {"key": rng.choice(("k1", "k2")), "value": rng.choice(("u", "v", ""))}
        found |= {"operator": "Equal"} if made.chance(0.5) else {}
    if effect:
        found["effect"] = effect
    if effect == "NoExecute" and made.chance(0.3):
        found["tolerationSeconds"] = rng.choice((0, 60))
    return found


def node_unschedulable(made: Draft) -> None:
    """Cordon one or two nodes, with the taint that the node controller adds."""
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    for node in made.rng.sample(made.nodes, made.rng.choice((1, 2))):
        node["spec"]["unschedulable"] = True
        node["spec"].setdefault("taints", []).append(taint)
    choices: tuple[Object | None, ...] = (
        None,
        None,
        {"operator": "Exists"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    )
    chosen = made.rng.choice(choices)
    if chosen:
        made.probe["spec"].setdefault("tolerations", []).append(chosen)


#: Conditions of a node, and the taints that the node controller makes of them.
CONDITIONS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("Ready", "False"): (("not-ready", "NoSchedule"), ("not-ready", "NoExecute")),
    ("Ready", "Unknown"): (("unreachable", "NoSchedule"), ("unreachable", "NoExecute")),
    ("MemoryPressure", "True"): (("memory-pressure", "NoSchedule"),),
    ("DiskPressure", "True"): (("disk-pressure", "NoSchedule"),),
    ("PIDPressure", "True"): (("pid-pressure", "NoSchedule"),),
    ("NetworkUnavailable", "True"): (("network-unavailable", "NoSchedule"),),
}


def node_ready(made: Draft) -> None:
    """Give one or two nodes a bad condition, with the taints that the node controller makes of it."""
    for node in made.rng.sample(made.nodes, made.rng.choice((1, 2))):
        kind, status = made.rng.choice(list(CONDITIONS))
        conditions = [c for c in node["status"]["conditions"] if c["type"] != kind]
        node["status"]["conditions"] = [*conditions, {"type": kind, "status": status, "reason": "Drawn"}]
        found = [{"key": f"node.kubernetes.io/{key}", "effect": effect} for key, effect in CONDITIONS[kind, status]]
        node["spec"].setdefault("taints", []).extend(found)
    if made.chance(0.6):
        made.probe["spec"].setdefault("tolerations", []).append({"operator": "Exists"})


#: What a host port may be bound to; none at all is every address.
ADDRESSES = ("", "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "127.0.0.1", "::")  # noqa: S104


def node_ports(made: Draft) -> None:
    """Give residents and probe host ports of a small range, some of a sidecar's, some of the host's network."""
    for pod in made.pods():
        if made.chance(0.8) or pod is made.probe:
            _add_ports(made, pod)


def _add_ports(made: Draft, pod: Object) -> None:
    rng = made.rng
    on_host = made.chance(0.15)
    if on_host:
        pod["spec"]["hostNetwork"] = True
    ports = {}
    for _ in range(rng.choice((1, 1, 2))):
        number, protocol = rng.choice((8080, 8080, 8081)), rng.choice(("TCP", "TCP", "TCP", "UDP", "SCTP"))
        found: Object = {"containerPort": number, "hostPort": number}
        found |= {"protocol": protocol} if protocol != "TCP" or made.chance(0.5) else {}
        address = rng.choice(ADDRESSES)
        found |= {"hostIP": address} if address else {}
        ports[number, protocol, address] = found
    if made.chance(0.2):
        init = {"name": "side", "image": "x", "ports": list(ports.values())}
        pod["spec"]["initContainers"] = [init | ({"restartPolicy": "Always"} if made.chance(0.7) else {})]
    else:
        pod["spec"]["containers"][0]["ports"] = list(ports.values())
