"""Where volumes let a pod go: bound ones, those yet to be made, limits of drivers, and what a snapshot does not decide.

Objects are given as Kubernetes writes them. Node a holds the subject, b and c have room.
"""

from __future__ import annotations

from typing import Any

import pytest

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Code
from tests.unit.planner.build import plan, targets
from tests.unit.planner.objects import node_object, pod_object, snapshot_of

ZONE = "topology.kubernetes.io/zone"
DRIVER = "ebs.csi.example.com"


def claim(name: str = "data", volume: str | None = "pv", **changes: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "team"} | changes.pop("metadata", {})
    spec = {"accessModes": ["ReadWriteOnce"]} | ({"volumeName": volume} if volume else {}) | changes
    phase = "Bound" if volume else "Pending"
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": {"phase": phase}}


def volume(name: str = "pv", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    spec = {"csi": {"driver": DRIVER, "volumeHandle": f"handle-{name}"}} | spec
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def affinity(key: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}


def storage_class(mode: str | None = "WaitForFirstConsumer", provisioner: str = DRIVER, **more: Any) -> dict[str, Any]:
    body = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": provisioner}
    return body | ({"volumeBindingMode": mode} if mode else {}) | more


def limit(node: str, count: int | None, driver: str = DRIVER) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": driver, "nodeID": node, "topologyKeys": None}
    if count is not None:
        entry["allocatable"] = {"count": count}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node}, "spec": {"drivers": [entry]}}


def attachment(node: str, name: str) -> dict[str, Any]:
    spec = {"attacher": DRIVER, "nodeName": node, "source": {"persistentVolumeName": name}}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": f"va-{name}"}, "spec": spec}


def uses(*claims: str) -> dict[str, Any]:
    return {"volumes": [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]}


EPHEMERAL = {"volumes": [{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}}]}


def situation(spec: dict[str, Any], *objects: dict[str, Any], cards: tuple[int, int] = (7, 6)) -> ClusterSnapshot:
    """Return a cluster whose subject would go to b, the fuller, where nothing forbids it, and else to c.

    The driver runs on every node for which ``objects`` have no CSINode.
    """
    nodes = [node_object(name) for name in "abc"]
    for made, zone in zip(nodes, ("z1", "z1", "z2"), strict=True):
        made["metadata"]["labels"] |= {ZONE: zone}
    held = [pod_object("q", "b", cards[0]), pod_object("r", "c", cards[1])]
    for made in held:
        del made["metadata"]["ownerReferences"]  # nothing would recreate them, so b and c stay
    given = {o["metadata"]["name"] for o in objects if o["kind"] == "CSINode"}
    drivers = [limit(name, None) for name in "abc" if name not in given]
    return snapshot_of([*nodes, pod_object("subject", "a", 1, spec), *held, *objects, *drivers])


def goes(snapshot: ClusterSnapshot) -> str | None:
    return targets(snapshot).get("subject")


def stays(snapshot: ClusterSnapshot) -> tuple[Code, str]:
    reason = plan(snapshot).stays["a"]
    return reason.code, reason.detail


class TestBoundClaims:
    def test_a_volume_that_goes_anywhere(self) -> None:
        assert goes(situation(uses("data"), claim(), volume())) == "b"

    def test_node_affinity_of_the_volume(self) -> None:
        assert goes(situation(uses("data"), claim(), volume(**affinity(ZONE, "z2")))) == "c"
        assert goes(situation(uses("data"), claim(), volume(**affinity(ZONE, "z1", "z2")))) == "b"

    def test_row_119_a_local_volume_stays_where_it_is(self) -> None:
        local = volume(csi=None, local={"path": "/disk"}, **affinity("kubernetes.io/hostname", "a"))
        assert stays(situation(uses("data"), claim(), local))[0] is Code.NO_RECEIVER

    def test_every_volume_must_agree(self) -> None:
        two = [claim(), volume(**affinity(ZONE, "z1")), claim("more", "pv2"), volume("pv2", **affinity(ZONE, "z2"))]
        assert stays(situation(uses("data", "more"), *two))[0] is Code.NO_RECEIVER

    @pytest.mark.parametrize("label", [ZONE, "failure-domain.beta.kubernetes.io/zone"])
    def test_zone_labels_of_the_volume(self, label: str) -> None:
        assert goes(situation(uses("data"), claim(), volume(labels={label: "z2"}))) == "c"
        assert goes(situation(uses("data"), claim(), volume(labels={label: "z2__z1"}))) == "b"

    def test_region_label_needs_the_nodes_region(self) -> None:
        region = volume(labels={"topology.kubernetes.io/region": "r"})
        assert stays(situation(uses("data"), claim(), region))[0] is Code.NO_RECEIVER

    @pytest.mark.parametrize(
        ("objects", "why"),
        [
            ([], "claim team/data is not in the snapshot"),
            ([claim(volume=None)], "team/data is not bound"),
            ([claim()], "PersistentVolume pv of PersistentVolumeClaim team/data is not in the snapshot"),
            ([claim(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), volume()], "team/data is being deleted"),
            ([claim(), volume(csi=None, awsElasticBlockStore={"volumeID": "v"})], "pv is of an in-tree type"),
        ],
    )
    def test_what_is_not_known_is_not_moved(self, objects: list[dict[str, Any]], why: str) -> None:
        code, detail = stays(situation(uses("data"), *objects))
        assert code is (Code.STORAGE_NOT_FOUND if "not in the snapshot" in why else Code.VOLUME_BINDING)
        assert why.removeprefix("claim ") in detail

    def test_a_claim_of_another_namespace_does_not_count(self) -> None:
        foreign = claim(metadata={"namespace": "other"})
        assert stays(situation(uses("data"), foreign, volume()))[0] is Code.STORAGE_NOT_FOUND


class TestVolumesYetToBeMade:
    def test_made_where_the_pod_goes(self) -> None:
        assert goes(situation(EPHEMERAL, storage_class())) == "b"

    def test_as_far_as_the_class_allows(self) -> None:
        allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z2"]}]}]
        assert goes(situation(EPHEMERAL, storage_class(allowedTopologies=allowed))) == "c"
        assert goes(situation(EPHEMERAL, storage_class(allowedTopologies=[*allowed, {}]))) == "c"  # an empty term is nowhere

    @pytest.mark.parametrize(
        ("spec", "objects", "why"),
        [
            (EPHEMERAL, [], "StorageClass fast of ephemeral volume tmp of pod team/subject is not in the snapshot"),
            (EPHEMERAL, [storage_class(None)], "binds before the pod is scheduled"),
            (EPHEMERAL, [storage_class(provisioner="kubernetes.io/no-provisioner")], "provisions no volumes"),
            ({"volumes": [{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}, [], "names no StorageClass"),
            (
                EPHEMERAL,
                [
                    storage_class(),
                    {
                        "apiVersion": "storage.k8s.io/v1",
                        "kind": "CSIDriver",
                        "metadata": {"name": DRIVER},
                        "spec": {"storageCapacity": True},
                    },
                ],
                "tracks capacity",
            ),
        ],
    )
    def test_what_is_decided_elsewhere_is_not_moved(self, spec: Any, objects: list[Any], why: str) -> None:
        code, detail = stays(situation(spec, *objects))
        assert code is (Code.STORAGE_NOT_FOUND if "not in the snapshot" in why else Code.VOLUME_BINDING)
        assert why in detail


class TestLimits:
    def held(self, node: str, *names: str) -> list[dict[str, Any]]:
        """A cpu-only pod on ``node`` with a volume for each of ``names``."""
        made = [pod_object(f"holder-{node}", node, 0, uses(*names))]
        return [*made, *(claim(n, f"pv-{n}") for n in names), *(volume(f"pv-{n}") for n in names)]

    def test_a_full_driver_takes_no_more(self) -> None:
        objects = [claim(), volume(), limit("b", 1), *self.held("b", "x")]
        assert goes(situation(uses("data"), *objects)) == "c"

    def test_no_limit(self) -> None:
        objects = [claim(), volume(), *self.held("b", "x")]
        assert goes(situation(uses("data"), *objects, limit("b", None))) == "b"
        assert goes(situation(uses("data"), *objects, limit("b", 2))) == "b"

    def test_a_driver_must_run_there(self) -> None:
        """Volcano takes it for a resource that the node does not have; the kubelet could not mount the volume."""
        elsewhere = limit("b", None, "other.example.com")
        assert goes(situation(uses("data"), claim(), volume(), elsewhere)) == "c"
        assert goes(situation(EPHEMERAL, storage_class(), elsewhere)) == "c"
        local = volume(csi=None, local={"path": "/disk"})
        assert goes(situation(uses("data"), claim(), local, elsewhere)) == "b"

    def test_volcano_counts_claims_not_volumes(self) -> None:
        """One volume that two pods use is attached once, but takes two of what Volcano thinks the node has."""
        sharing = [claim(accessModes=["ReadWriteMany"]), volume(), pod_object("holder", "b", 0, uses("data"))]
        assert goes(situation(uses("data"), *sharing, limit("b", 1))) == "c"
        assert goes(situation(uses("data"), *sharing, limit("b", 2))) == "b"
        again = [claim(), claim("again"), volume(), limit("b", 1), limit("c", 2)]
        assert goes(situation(uses("data", "again"), *again)) == "c"

    def test_volumes_left_attached_count(self) -> None:
        objects = [claim(), volume(), volume("old"), limit("b", 1)]
        assert goes(situation(uses("data"), *objects)) == "b"
        assert goes(situation(uses("data"), *objects, attachment("b", "old"))) == "c"

    def test_two_victims_share_what_is_left(self) -> None:
        """b attaches one more: the first of two pods takes it, the second goes to c."""
        twins = [pod_object("twin", "a", 1, uses("more")), claim("more", "pv2"), volume("pv2")]
        found = targets(situation(uses("data"), claim(), volume(), *twins, limit("b", 1), cards=(6, 5)))
        assert sorted((found["subject"], found["twin"])) == ["b", "c"]

    def test_an_ephemeral_volume_counts_too(self) -> None:
        assert goes(situation(EPHEMERAL, storage_class(), limit("b", 0))) == "c"


class TestReadWriteOncePod:
    ONCE = (claim(accessModes=["ReadWriteOncePod"]), volume())

    def test_its_only_user_may_move(self) -> None:
        assert goes(situation(uses("data"), *self.ONCE)) == "b"

    def test_nobody_moves_while_another_uses_it(self) -> None:
        other = pod_object("other", "c", 0, uses("data"))
        code, detail = stays(situation(uses("data"), *self.ONCE, other))
        assert code is Code.VOLUME_RESTRICTIONS
        assert "claim data is ReadWriteOncePod and pod team/other uses it" in detail

    def test_finished_users_do_not_count(self) -> None:
        other = pod_object("other", "c", 0, uses("data"), status={"phase": "Succeeded"})
        assert goes(situation(uses("data"), *self.ONCE, other)) == "b"
