"""Kinds of constraints that come with volumes: where they may be used, how many attach, who else uses them."""

from __future__ import annotations

from tests.real.agreement.draft import HOST, ZONE, Draft
from tests.testbed.nodes import Object

DRIVERS = ("d1-%.csi.test", "d2-%.csi.test")
REAL_ZONE, REAL_REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
HOSTS = ("n0", "n1", "n2")
#: A claim that nobody provisions.
FRESH: Object = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "class-%",
    "resources": {"requests": {"storage": "1Gi"}},
}


def volume_binding(made: Draft) -> None:
    """Give the probe bound volumes with node affinity."""
    for number in range(made.rng.choice((1, 1, 2))):
        volume = _bound(made, f"b{number}")
        if made.chance(0.85):
            terms = [_term(made) for _ in range(made.rng.choice((1, 1, 2)))]
            volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        _use(made.probe, f"b{number}")


def _term(made: Draft) -> Object:
    key, values = made.rng.choice(((ZONE, ("a", "b", "c")), (HOST, HOSTS)))
    operator = made.rng.choice(("In", "In", "NotIn", "Exists"))
    found: Object = {"key": key, "operator": operator}
    return {"matchExpressions": [found | ({"values": made.some(values, 1)} if "In" in operator else {})]}


def volume_zone(made: Draft) -> None:
    """Give the probe a bound volume with zone labels, and most nodes zones."""
    rng = made.rng
    for node in made.nodes:
        own = node["metadata"]["labels"]
        if made.chance(0.75):
            own[REAL_ZONE] = rng.choice(("z1", "z2", "z3"))
        if made.chance(0.4):
            own[REAL_REGION] = rng.choice(("e", "w"))
        if made.chance(0.15):
            own[OLD_ZONE] = rng.choice(("z1", "z2"))
    labels = {rng.choice((REAL_ZONE, REAL_ZONE, OLD_ZONE)): rng.choice(("z1", "z2", "z1__z2"))}
    if made.chance(0.3):
        labels[REAL_REGION] = rng.choice(("e", "w"))
    _bound(made, "z0")["metadata"]["labels"] = labels
    _use(made.probe, "z0")


def node_volume_limits(made: Draft) -> None:
    """Let drivers attach one or two volumes to a node, where residents use some, and some are attached without a pod."""
    rng = made.rng
    _register_drivers(made)
    for item in made.others:
        if item["kind"] == "CSINode":
            item["spec"]["drivers"] = [_limit(made, name) for name in DRIVERS if made.chance(0.9)]
    names = [f"v{n}" for n in range(rng.choice((2, 3, 4)))]
    for name in names:
        _bound(made, name, driver=rng.choice(DRIVERS), handle=f"h{rng.choice((name, 'v0'))}-%")
    for resident in (r for r in made.residents if r["metadata"]["namespace"] == "@home"):
        for name in made.some(names):
            _use(resident, name)
    for name in made.some(names, 1):
        _use(made.probe, name)
    if made.chance(0.5):
        _attached(made, rng.choice(names))


def _limit(made: Draft, driver: str) -> Object:
    found: Object = {"name": driver, "nodeID": "n"}
    return found | ({"allocatable": {"count": made.rng.choice((0, 1, 1, 2))}} if made.chance(0.9) else {})


def _attached(made: Draft, name: str) -> None:
    volume = next(o for o in made.others if o["metadata"]["name"] == f"{name}-%" and o["kind"] == "PersistentVolume")
    spec = {
        "attacher": volume["spec"]["csi"]["driver"],
        "nodeName": made.rng.choice(made.nodes)["metadata"]["name"],
        "source": {"persistentVolumeName": volume["metadata"]["name"]},
    }
    meta = {"name": f"attached-{name}-%"}
    made.others.append({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": meta, "spec": spec})


def volume_restrictions(made: Draft) -> None:
    """Let the probe want a claim of one pod only, which a resident may use already."""
    _bound(made, "o0", mode="ReadWriteOncePod")
    _use(made.probe, "o0")
    home = [r for r in made.residents if r["metadata"]["namespace"] == "@home"]
    if home and made.chance(0.6):
        _use(made.rng.choice(home), "o0")


def ephemeral_volumes(made: Draft) -> None:
    """Give the probe an ephemeral volume of a class that provisions where the pod goes; nobody does, so it never binds."""
    found = _class(made, "WaitForFirstConsumer")
    if made.chance(0.8):
        terms = [_topology(made) for _ in range(made.rng.choice((1, 1, 2)))]
        found["allowedTopologies"] = [{"matchLabelExpressions": t} for n, t in enumerate(terms) if t not in terms[:n]]
    volume = {"name": "fresh", "ephemeral": {"volumeClaimTemplate": {"spec": FRESH}}}
    made.probe["spec"].setdefault("volumes", []).append(volume)


def unbound_claims(made: Draft) -> None:
    """Give the probe a claim that is missing, or not bound: to be provisioned at once, or where the pod goes."""
    mode = made.rng.choice((None, "Immediate", "WaitForFirstConsumer", "WaitForFirstConsumer"))
    _use(made.probe, "u0")
    if mode is None:
        made.binds = False
        return
    _class(made, mode)
    meta = {"name": "u0-%", "namespace": "@home"}
    made.others.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": FRESH})


def _class(made: Draft, mode: str) -> Object:
    made.binds = False
    _register_drivers(made)
    found: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "class-%"},
        "provisioner": DRIVERS[0],
        "volumeBindingMode": mode,
    }
    made.others.append(found)
    return found


def _topology(made: Draft) -> list[Object]:
    terms = [{"key": ZONE, "values": made.some(("a", "b", "c"), 1)}]
    return terms + ([{"key": HOST, "values": made.some(HOSTS, 1)}] if made.chance(0.3) else [])


def _register_drivers(made: Draft) -> None:
    """Say for most nodes that the drivers run there, without a limit; once per case."""
    if any(item["kind"] == "CSINode" for item in made.others):
        return
    for node in made.nodes:
        if made.chance(0.95):
            meta = {"name": node["metadata"]["name"]}
            drivers = [{"name": name, "nodeID": "n"} for name in DRIVERS]
            spec = {"drivers": drivers}
            made.others.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": meta, "spec": spec})


def _bound(made: Draft, name: str, *, mode: str = "ReadWriteMany", driver: str = DRIVERS[0], handle: str = "") -> Object:
    """Add a volume and a claim that are meant for each other, and return the volume."""
    amount = {"storage": "1Gi"}
    common = {"accessModes": [mode], "storageClassName": ""}
    volume: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{name}-%"},
        "spec": {
            **common,
            "capacity": amount,
            "csi": {"driver": driver, "volumeHandle": handle or f"h{name}-%"},
            "claimRef": {"namespace": "@home", "name": f"{name}-%"},
            "persistentVolumeReclaimPolicy": "Retain",
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"{name}-%", "namespace": "@home"},
        "spec": {**common, "resources": {"requests": amount}, "volumeName": f"{name}-%"},
    }
    _register_drivers(made)
    made.others += [volume, claim]
    return volume


def _use(pod: Object, name: str) -> None:
    volume = {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-%"}}
    pod["spec"].setdefault("volumes", []).append(volume)
