"""Constraints that a snapshot does not decide: such a pod never moves, and its node says which field it is."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from repack_gitops.model.plan import Code
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from tests.unit.planner.build import GPU, plan, targets
from tests.unit.planner.objects import node_object, pod_object, snapshot_of
from tests.unit.planner.random_clusters import random_case

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CLAIMING = {"name": "main", "resources": {"requests": {GPU: "1"}, "claims": [{"name": "gpu"}]}}


def with_volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "data", **source}]}


def with_share(resource: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "resources": {"limits": {GPU: "1", resource: "1"}}}]}


@pytest.mark.parametrize(
    ("field", "spec"),
    [
        ("volumes(data) of an in-tree type", with_volume(cinder={"volumeID": "v"})),
        ("volumes(data) of an in-tree type", with_volume(gcePersistentDisk={"pdName": "v"})),
        ("resourceClaims", {"resourceClaims": [{"name": "gpu"}]}),
        ("resourceClaims", {"containers": [CLAIMING]}),
        ("resourceClaims", {"initContainers": [{"name": "init", "resources": {"claims": [{"name": "gpu"}]}}]}),
    ],
)
def test_undecided_field_of_the_spec(field: str, spec: dict[str, Any]) -> None:
    nodes = [node_object("a"), node_object("b")]
    evaluation = plan(snapshot_of([*nodes, pod_object("subject", "a", 1, spec), pod_object("other", "b", 4)]))
    assert evaluation.freed_nodes == ("b",)
    assert evaluation.stays["a"].code is Code.UNSUPPORTED_CONSTRAINT
    assert field in evaluation.stays["a"].detail


@pytest.mark.parametrize("share", ["nvidia.com/gpumem", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores"])
def test_a_node_with_shares_of_cards_neither_leaves_nor_receives(share: str) -> None:
    nodes = [node_object(name, **{share: "100"}) for name in ("a", "b", "c")]
    pods = [pod_object("subject", "a", 1, with_share(share)), pod_object("p", "b", 1), pod_object("q", "c", 7)]
    evaluation = plan(snapshot_of([*nodes, *pods]))
    assert evaluation.stays["a"].code is Code.SIBLING_DEVICES
    assert f"team/subject on node a holds {share}" in evaluation.stays["a"].detail
    assert {m.pod: m.to_node for m in evaluation.moves} == {"p": "c"}  # a has seven cards idle, by the count


def test_devices_behind_an_extended_resource() -> None:
    status = {"extendedResourceClaimStatus": {"resourceClaimName": "c", "requestMappings": []}}
    nodes = [node_object("a"), node_object("b")]
    evaluation = plan(snapshot_of([*nodes, pod_object("subject", "a", 1, status=status), pod_object("other", "b", 4)]))
    assert evaluation.stays["a"].code is Code.UNSUPPORTED_CONSTRAINT
    assert "extendedResourceClaimStatus" in evaluation.stays["a"].detail


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}},
        {"affinity": {"podAntiAffinity": {}}},
        {"topologySpreadConstraints": [{"topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}]},
        with_volume(emptyDir={}),
        with_volume(hostPath={"path": "/data"}),
        with_volume(csi={"driver": "secrets.csi.example.com"}),
        with_volume(configMap={"name": "settings"}),
    ],
)
def test_preferences_and_plain_volumes_do_not_pin(spec: dict[str, Any]) -> None:
    nodes = [node_object("a"), node_object("b")]
    assert targets(snapshot_of([*nodes, pod_object("subject", "a", 1, spec), pod_object("other", "b", 4)])) == {"subject": "b"}


@pytest.mark.parametrize("seed", range(300))
def test_an_undecided_constraint_only_ever_takes_moves_away(seed: int) -> None:
    """The pod that got one never moves, and the judge rejects every plan that moves it."""
    case = random_case(seed)
    before = evaluate(case.snapshot, case.spec)
    pods = list(case.snapshot.pods)
    chosen = Random(seed).randrange(len(pods)) if pods else 0
    if not pods:
        return
    if before.moves:
        moved = {(m.namespace, m.pod) for m in before.moves}
        chosen = next(i for i, p in enumerate(pods) if p.key in moved)
    pods[chosen] = replace(pods[chosen], unsupported=("resourceClaims",))
    snapshot = replace(case.snapshot, pods=tuple(pods))
    after = evaluate(snapshot, case.spec)
    assert verify(snapshot, case.spec, after) == ()
    assert pods[chosen].key not in {(m.namespace, m.pod) for m in after.moves}
    assert pods[chosen].node not in after.freed_nodes or not pods[chosen].requests.get(GPU)
    if before.moves:
        assert verify(snapshot, case.spec, before) != ()
