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
    """Give the probe spread constraints, and residents labels that they may count; some nodes are out by selector or taint."""
    rng = made.rng
    for _ in range(rng.choice((0, 2, 4))):  # the emptier a cluster, the less there is to spread
        made.residents.append(resident(made, len(made.residents)))
    constraints = {}
    for _ in range(rng.choice((1, 1, 2))):
        found = _constraint(made)
        constraints[found["topologyKey"], found["whenUnsatisfiable"]] = found
    made.probe["spec"]["topologySpreadConstraints"] = list(constraints.values())
    if made.chance(0.3):
        made.probe["spec"].setdefault("nodeSelector", {})[RACK] = rng.choice(("r1", "r2"))
    if made.chance(0.4):
        for node in rng.sample(made.nodes, 1):
            node["spec"].setdefault("taints", []).append(
                {"key": "spread", "effect": rng.choice(("NoSchedule", "PreferNoSchedule"))}
            )
        if made.chance(0.3):
            made.probe["spec"].setdefault("tolerations", []).append({"key": "spread", "operator": "Exists"})


def _constraint(made: Draft) -> Object:
    rng = made.rng
    must = made.chance(0.9)
    found: Object = {
        "topologyKey": rng.choice(SPREAD_KEYS),
        "maxSkew": rng.choice((1, 1, 2)),
        "whenUnsatisfiable": "DoNotSchedule" if must else "ScheduleAnyway",
    }
    if made.chance(0.95):
        found["labelSelector"] = {} if made.chance(0.25) else selector(made)
        if made.chance(0.25):
            found["matchLabelKeys"] = ["version"]
    if must and made.chance(0.35):
        found["minDomains"] = rng.choice((1, 2, 3, 4))
    if made.chance(0.35):
        found["nodeAffinityPolicy"] = rng.choice(("Honor", "Ignore"))
    if made.chance(0.35):
        found["nodeTaintsPolicy"] = rng.choice(("Honor", "Ignore"))
    return found
