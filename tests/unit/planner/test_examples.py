"""The example snapshots: current, in kubectl's form, possible as clusters, and interesting to plan on."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples import generate
from repack_gitops.files.documents import read_document
from repack_gitops.files.snapshot import read_snapshot
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.documents import read_run
from repack_gitops.model.plan import Code, Evaluation, Verdict
from repack_gitops.model.run import Goal, RunTemplateSpec
from repack_gitops.planner import evaluate
from repack_gitops.planner.candidacy import idle_amounts
from repack_gitops.planner.feasibility import node_affinity, taint_toleration
from repack_gitops.planner.verify import verify
from tests.unit.planner.replay import apply

EXAMPLES = Path(generate.__file__).parent
FILES = ("fleet-gpu.json.gz", "fleet-npu.json")
RESOURCES = dict(zip(FILES, ("nvidia.com/gpu", "huawei.com/ascend-1980"), strict=True))


@pytest.fixture(scope="module")
def snapshots() -> dict[str, ClusterSnapshot]:
    return {name: read_snapshot(EXAMPLES / name) for name in FILES}


def text_of(name: str) -> str:
    content = (EXAMPLES / name).read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content).decode()


def planned(snapshot: ClusterSnapshot, run: str | None = None, resource: str = "nvidia.com/gpu") -> Evaluation:
    """Return the judged evaluation of a run's file, or of a run without limits for ``resource``."""
    spec = RunTemplateSpec(goals=[Goal(resource=resource)])
    if run is not None:
        spec = read_run(read_document(EXAMPLES / run), run).spec
    evaluation = evaluate(snapshot, spec)
    assert verify(snapshot, spec, evaluation) == ()
    assert evaluation.verdict is Verdict.RECOMMENDED
    return evaluation


class TestFiles:
    @pytest.mark.parametrize("fleet", generate.fleets(), ids=lambda f: f.path.name)
    def test_they_are_what_the_generator_writes(self, fleet: generate.Fleet) -> None:
        assert generate.current(fleet), "run: python -m examples.generate"

    @pytest.mark.parametrize("name", FILES)
    def test_they_are_small_enough_for_git(self, name: str) -> None:
        assert (EXAMPLES / name).stat().st_size < 1_000_000

    @pytest.mark.parametrize("name", FILES)
    def test_they_are_printed_as_kubectl_prints(self, name: str) -> None:
        """A v1 List of four spaces' indent with sorted keys; kind by kind, each by namespace and name."""
        text = text_of(name)
        document = json.loads(text)
        assert text == json.dumps(document, indent=4, sort_keys=True) + "\n"
        assert {k: document[k] for k in ("apiVersion", "kind", "metadata")} == {
            "apiVersion": "v1",
            "kind": "List",
            "metadata": {"resourceVersion": ""},
        }
        order = ["Node", "Pod", "PodGroup", "PodDisruptionBudget", "Job", "ModelServing"]
        keys = [(order.index(i["kind"]), i["metadata"].get("namespace", ""), i["metadata"]["name"]) for i in document["items"]]
        assert keys == sorted(keys)
        assert len(set(keys)) == len(keys)
        assert {k for k, _, _ in keys} == set(range(len(order)))

    @pytest.mark.parametrize("name", FILES)
    def test_uids_and_addresses_are_unique_and_owners_exist(self, name: str) -> None:
        items: list[dict[str, Any]] = json.loads(text_of(name))["items"]
        uids = [i["metadata"]["uid"] for i in items]
        assert len(set(uids)) == len(uids)
        jobs = {i["metadata"]["uid"] for i in items if i["kind"] == "Job"}
        owners = [o for i in items for o in i["metadata"].get("ownerReferences", ()) if o["kind"] == "Job"]
        assert owners
        assert {o["uid"] for o in owners} <= jobs


class TestCommand:
    def test_check_says_nothing_where_all_is_current(self) -> None:
        said: list[str] = []
        assert generate.main(["--check"], said.append) == 0
        assert said == []

    def test_check_finds_what_is_stale_and_writes_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(generate, "HERE", tmp_path)
        said: list[str] = []
        assert generate.main(["--check"], said.append) == 1
        assert [line.split()[0] for line in said] == list(FILES)
        assert list(tmp_path.iterdir()) == []

    def test_writing_makes_them_current(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(generate, "HERE", tmp_path)
        assert generate.main([], lambda _: None) == 0
        assert generate.main(["--check"], lambda _: None) == 0
        again = (tmp_path / FILES[0]).read_bytes()
        (tmp_path / FILES[0]).unlink()
        generate.main([], lambda _: None)
        assert (tmp_path / FILES[0]).read_bytes() == again


@pytest.mark.parametrize("name", FILES)
class TestClusters:
    def test_no_node_holds_more_than_it_has(self, name: str, snapshots: dict[str, ClusterSnapshot]) -> None:
        for node, amounts in idle_amounts(snapshots[name]).items():
            assert all(amount >= 0 for amount in amounts.values()), node

    def test_pods_are_where_the_scheduler_could_put_them(self, name: str, snapshots: dict[str, ClusterSnapshot]) -> None:
        snapshot = snapshots[name]
        for pod in snapshot.pods:
            if pod.node is None or (pod.owner and pod.owner.kind == "DaemonSet"):
                continue
            node = snapshot.node_by_name[pod.node]
            before = replace(node, taints=tuple(t for t in node.taints if not t.key.startswith("node.kubernetes.io/")))
            assert node_affinity.why_not(pod.constraints, node) is None
            assert taint_toleration.why_not(pod.constraints, before) is None

    def test_every_pod_group_is_known_and_no_gang_runs_below_its_minimum(
        self, name: str, snapshots: dict[str, ClusterSnapshot]
    ) -> None:
        snapshot = snapshots[name]
        assert set(snapshot.pods_by_group) == set(snapshot.pod_groups)
        for key, members in snapshot.pods_by_group.items():
            placed = sum(1 for p in members if p.node is not None)
            assert placed == 0 or placed >= snapshot.pod_groups[key].min_member, key


class TestGpuFleet:
    NAME = FILES[0]

    def test_it_shows_what_clusters_are_made_of(self, snapshots: dict[str, ClusterSnapshot]) -> None:
        snapshot = snapshots[self.NAME]
        kinds = Counter(p.owner.kind for p in snapshot.pods if p.owner and p.requests.get("nvidia.com/gpu"))
        assert set(kinds) == {"Job", "ReplicaSet", "StatefulSet", "ModelServing", "DaemonSet"}
        assert sum(1 for n in snapshot.nodes if n.allocatable.get("nvidia.com/gpu")) == 60
        assert [n.name for n in snapshot.nodes if n.unschedulable] == ["gpu-train-17"]
        assert [n.name for n in snapshot.nodes if not n.ready] == ["gpu-serve-12"]
        assert any(p.phase == "Succeeded" for p in snapshot.pods)
        assert any(name.startswith("podgroup-") for _, name in snapshot.pod_groups)
        labels = [g.labels for g in snapshot.pod_groups.values()]
        assert any(found.get("repack.volcano.sh/protected") == "true" for found in labels)
        assert {b.disruptions_allowed > 0 for b in snapshot.budgets} == {True, False}

    def test_the_minimal_run_frees_eleven_machines_which_is_proven_to_be_all(
        self, snapshots: dict[str, ClusterSnapshot]
    ) -> None:
        evaluation = planned(snapshots[self.NAME], "run-minimal.yaml")
        assert len(evaluation.steps) == 11
        assert (evaluation.before.percent, evaluation.after.percent) == (27, 8)
        assert evaluation.optimality is not None
        assert evaluation.optimality.proven
        assert [f.freed for f in evaluation.optimality.found] == [11, 10]
        assert {r.code for r in evaluation.stays.values()} == {
            Code.CASCADING_POLICY,
            Code.DAEMON_SET,
            Code.DISRUPTION_BUDGET_FORBIDS,
            Code.NODE_NOT_READY,
            Code.NO_RECEIVER,
            Code.OTHER_SCHEDULER,
            Code.RECEIVES,
            Code.STORAGE_NOT_FOUND,
        }

    def test_the_guarded_run_frees_three_and_breaches_nobody(self, snapshots: dict[str, ClusterSnapshot]) -> None:
        snapshot = snapshots[self.NAME]
        evaluation = planned(snapshot, "run-guarded.yaml")
        assert len(evaluation.steps) == 3
        assert (evaluation.disruption.breaches, evaluation.disruption.pod_groups, evaluation.disruption.moved_cards) == (
            0,
            3,
            8,
        )
        for impact in evaluation.impacts:
            assert snapshot.pod_groups[impact.key].labels["repack.volcano.sh/eligible"] == "true"
            assert snapshot.pod_groups[impact.key].labels.get("repack.volcano.sh/protected") != "true"

    def test_it_makes_room_for_the_job_that_waits(self, snapshots: dict[str, ClusterSnapshot]) -> None:
        snapshot = snapshots[self.NAME]
        waiting = [p for p in snapshot.pods if p.active and p.node is None]
        assert {p.name.rpartition("-worker-")[0] for p in waiting} == {"llama3-405b-continue"}

        def room(cluster: ClusterSnapshot) -> int:
            idle = idle_amounts(cluster)
            return sum(
                1
                for n in cluster.nodes
                if n.labels.get("accelerator-pool") == "a800-train"
                and not n.unschedulable
                and all(idle[n.name].get(k, 0) >= v for k, v in waiting[0].template.items())
            )

        assert room(snapshot) == 0
        assert room(apply(snapshot, planned(snapshot, "run-minimal.yaml"))) > len(waiting) == 5


def test_the_npu_fleet(snapshots: dict[str, ClusterSnapshot]) -> None:
    name = FILES[1]
    evaluation = planned(snapshots[name], resource=RESOURCES[name])
    assert len(evaluation.steps) == 6
    assert evaluation.after.percent == 0
    assert {m.owner.kind for m in evaluation.moves if m.owner} == {"Job", "ReplicaSet"}


@pytest.mark.parametrize("name", ["run-minimal.yaml", "run-guarded.yaml"])
def test_runs_are_dry(name: str) -> None:
    assert read_run(read_document(EXAMPLES / name), name).spec.mode == "DryRun"
