"""Kinds of constraints between pods: affinity and anti-affinity in both directions, topology spread."""

from __future__ import annotations

from tests.real.agreement.draft import APPS, HOST, RACK, TIERS, ZONE, Draft, resident
from tests.testbed.nodes import Object

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD_KEYS = (ZONE, ZONE, HOST, RACK)


def inter_pod_affinity(made: Draft) -> None:
    """Let residents repel others, and the probe want or avoid residents; some terms mean the pod itself."""
    for pod in made.residents:
        if made.chance(0.4):
            _affinity(made, pod)["podAntiAffinity"] = {REQUIRED: [_term(made)]}
    wants, avoids = made.chance(0.55), made.chance(0.45)
    if wants:
        terms = [_term(made) for _ in range(made.rng.choice((1, 1, 2)))]
        _affinity(made, made.probe)["podAffinity"] = {REQUIRED: terms}
    if avoids:
        terms = [_term(made) for _ in range(made.rng.choice((1, 1, 2)))]
        _affinity(made, made.probe)["podAntiAffinity"] = {REQUIRED: terms}


def _affinity(made: Draft, pod: Object) -> Object:
    found: Object = pod["spec"].setdefault("affinity", {})
    return found


def _term(made: Draft) -> Object:
    rng = made.rng
    term: Object = {"topologyKey": rng.choice(SPREAD_KEYS)}
    if made.chance(0.95):
        term["labelSelector"] = selector(made)
        if made.chance(0.15):
            term[rng.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["version"]
    if made.chance(0.25):
        term["namespaces"] = made.some(["@home", "@away"], 1)
    if made.chance(0.25):
        choices: tuple[Object, ...] = ({}, {"matchLabels": {"side": "away"}}, {"matchLabels": {"side": "none"}})
        term["namespaceSelector"] = rng.choice(choices)
    return term


def selector(made: Draft) -> Object:
    """Return a label selector of any form; the empty one selects everything."""
    rng = made.rng
    found: Object = {}
    if made.chance(0.6):
        found["matchLabels"] = {"app": rng.choice(APPS)}
    if made.chance(0.45):
        key, values = rng.choice((("app", APPS), ("tier", TIERS)))
        operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        expression: Object = {"key": key, "operator": operator}
        found["matchExpressions"] = [expression | ({"values": made.some(values, 1)} if "In" in operator else {})]
    return found


def topology_spread(made: Draft) -> None:
    """Give the probe spread constraints in a crowd of pods that they count, and put some nodes out of its reach.

    Only where every domain that counts holds a pod does it matter which domains count.
    """
    rng = made.rng
    for _ in range(rng.choice((1, 4, 7))):
        made.residents.append(resident(made, len(made.residents)))
    for pod in made.residents:
        if made.chance(0.75):
            pod["metadata"] |= {"namespace": "@home", "labels": dict(made.probe["metadata"]["labels"])}
    constraints = {}
    for _ in range(rng.choice((1, 1, 2))):
        found = _constraint(made)
        constraints[found["topologyKey"], found["whenUnsatisfiable"]] = found
    made.probe["spec"]["topologySpreadConstraints"] = list(constraints.values())
    closed = _close_some(made)
    if made.chance(0.7):
        _crowd(made.residents, [n for n in made.nodes if n["metadata"]["name"] not in closed])


def _close_some(made: Draft) -> set[str]:
    """Put nodes out of the probe's reach, by selector or by taint, and return their names; it may tolerate the taint."""
    rng = made.rng
    closed = set()
    if made.chance(0.4):
        rack = made.probe["spec"].setdefault("nodeSelector", {})[RACK] = rng.choice(("r1", "r2"))
        closed |= {n["metadata"]["name"] for n in made.nodes if n["metadata"]["labels"].get(RACK) != rack}
    if made.chance(0.6):
        for node in rng.sample(made.nodes, rng.choice((1, 1, 2))):
            taint = {"key": "spread", "effect": rng.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))}
            node["spec"].setdefault("taints", []).append(taint)
            closed.add(node["metadata"]["name"])
        if made.chance(0.2):
            made.probe["spec"].setdefault("tolerations", []).append({"key": "spread", "operator": "Exists"})
    return closed


def _crowd(residents: list[Object], nodes: list[Object]) -> None:
    """Spread what runs over ``nodes``, so that the emptiest domains are those of other nodes."""
    if nodes:
        for number, pod in enumerate(r for r in residents if r["spec"].get("nodeName")):
            pod["spec"]["nodeName"] = nodes[number % len(nodes)]["metadata"]["name"]


def _constraint(made: Draft) -> Object:
    rng = made.rng
    must = made.chance(0.95)
    found: Object = {
        "topologyKey": rng.choice(SPREAD_KEYS),
        "maxSkew": rng.choice((1, 1, 1, 2)),
        "whenUnsatisfiable": "DoNotSchedule" if must else "ScheduleAnyway",
    }
    if made.chance(0.95):
        found["labelSelector"] = _counted(made)
        if made.chance(0.25):
            found["matchLabelKeys"] = ["version"]
    if must and made.chance(0.4):
        found["minDomains"] = rng.choice((1, 2, 3, 4, 5))
    if made.chance(0.5):
        found["nodeAffinityPolicy"] = rng.choice(("Honor", "Ignore", "Ignore"))
    if made.chance(0.5):
        found["nodeTaintsPolicy"] = rng.choice(("Honor", "Honor", "Ignore"))
    return found


def _counted(made: Draft) -> Object:
    """Return a selector, of the probe itself more often than not."""
    own = made.probe["metadata"]["labels"]
    if made.chance(0.3):
        return selector(made)
    return {"matchLabels": {"app": own["app"]}} if "app" in own and made.chance(0.6) else {}
