"""Cases tell right from wrong: break one rule of ours, and some of a thousand cases has another verdict.

Without a control plane: what the API server would fill in is missing here, the verdicts are only compared with our own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest

from repack_gitops.model.cluster import ClusterSnapshot, HostPort, Toleration
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.kinds import KINDS
from repack_gitops.planner.feasibility import inter_pod_affinity, node_affinity, placements, state, volume_zone
from repack_gitops.planner.feasibility.pod_topology_spread import SpreadCounts
from repack_gitops.planner.feasibility.state import ClusterState
from tests.real.agreement.case import TERMINATING, Case, Place, place
from tests.real.agreement.generator import case_of
from tests.testbed.nodes import Object

SEEDS = range(1000)
Verdicts = tuple[bool, ...]


@cache
def snapshots() -> tuple[ClusterSnapshot, ...]:
    return tuple(snapshot(case_of(seed)) for seed in SEEDS)


def snapshot(case: Case) -> ClusterSnapshot:
    placed = place(case, Place("x", "home", "away"))
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n, "labels": {"side": n}}} for n in ("home", "away")
    ]
    found = [settled(o) for o in (*placed.nodes, *placed.residents, placed.probe, *placed.others, *spaces)]
    return build_snapshot(msgspec.convert(o, KINDS[o["apiVersion"], o["kind"]]) for o in found if known(o))


def known(item: Object) -> bool:
    return (item["apiVersion"], item["kind"]) in KINDS


def settled(item: Object) -> Object:
    """Do what controllers would."""
    found = copy.deepcopy(item)
    if TERMINATING in found["metadata"].get("annotations", {}):
        found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if found["kind"] == "PersistentVolumeClaim" and found["spec"].get("volumeName"):
        found["status"] = {"phase": "Bound"}
    return found


def verdicts(found: ClusterSnapshot) -> Verdicts:
    clusters = ClusterState.of(found)
    probe = next(pod for pod in found.pods if pod.name == "probe-x")
    return tuple(clusters.why_not(probe, node) is None for node in found.nodes)


@cache
def right() -> tuple[Verdicts, ...]:
    return tuple(map(verdicts, snapshots()))


def never(*_: object, **__: object) -> None:
    return None


FEWEST = SpreadCounts.fewest
BROKEN: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "minDomains is not read": (SpreadCounts, "fewest", lambda counts, _minimum: FEWEST(counts, 0)),
    "every node is a domain": (placements, "admitted", lambda *_: True),
    "affinity to pods is not asked": (inter_pod_affinity, "_affinity", never),
    "anti-affinity is not asked": (inter_pod_affinity, "_anti_affinity", never),
    "anti-affinity of others is not asked": (inter_pod_affinity, "_guarded", never),
    "host ports clash whatever the address": (HostPort, "conflicts", lambda a, b: (a.port, a.protocol) == (b.port, b.protocol)),
    "host ports clash whatever the protocol": (HostPort, "conflicts", lambda a, b: a.port == b.port),
    "everything is tolerated": (Toleration, "tolerates", lambda *_: True),
    "old zone labels are not the new ones": (volume_zone, "_CURRENT", {}),  # type: ignore[dict-item]
    "attached volumes without a pod are free": (state.node_volume_limits, "left_attached", lambda _: {}),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_rule_shows(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = right()
    owner, name, wrong = BROKEN[broken]
    monkeypatch.setattr(owner, name, wrong)
    assert sum(verdicts(s) != known for s, known in zip(snapshots(), expected, strict=True)) >= 2


def test_numbers_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = right()
    monkeypatch.setattr(node_affinity, "_compares", lambda *_: False)
    assert sum(verdicts(s) != known for s, known in zip(snapshots(), expected, strict=True)) >= 10
