"""Random clusters on which safety options have something to say, with random options."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.safeguards import Safeguards, Workload, pod_group_workload
from repack_gitops.planner.safety import owner_workload
from tests.unit.planner.random_clusters import Case

OLD, LIMIT, YOUNG = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"


def safety_case(case: Case) -> tuple[ClusterSnapshot, PlannerOptions]:
    """Return the snapshot of ``case`` with marks on its pods, and options that read them."""
    random = Random(case.seed)
    snapshot = replace(case.snapshot, pods=tuple(_marked(random, p) for p in case.snapshot.pods))
    groups = {k: replace(g, do_not_disrupt=_sometimes(random, 0.05)) for k, g in snapshot.pod_groups.items()}
    nodes = tuple(replace(n, do_not_disrupt=_sometimes(random, 0.05)) for n in snapshot.nodes)
    snapshot = replace(snapshot, pod_groups=groups, nodes=nodes)
    return snapshot, PlannerOptions(safeguards=_safeguards(random, snapshot))


def _marked(random: Random, pod: Pod) -> Pod:
    return replace(
        pod,
        do_not_disrupt=_sometimes(random, 0.03),
        created=random.choice((OLD, OLD, OLD, OLD, OLD, YOUNG, "")) if random.random() < 0.5 else OLD,
        priority=random.choice((0, 0, 0, 10, -5)),
        local_volumes=random.choice(((), (), (), ("emptyDir(scratch)",))),
    )


def _sometimes(random: Random, chance: float) -> str:
    return "gitops.repack.volcano.sh/do-not-disrupt=true" if random.random() < chance else ""


def _safeguards(random: Random, snapshot: ClusterSnapshot) -> Safeguards:
    return Safeguards(
        created_before=random.choice((None, None, LIMIT)),
        max_priority=random.choice((None, None, 0)),
        pods_per_namespace=random.choice((None, None, 0, 1, 2, 3)),
        pods_per_owner=random.choice((None, None, 0, 1, 1, 2)),
        allow_local_storage=random.random() < 0.7,
        recently_moved=_moved(random, snapshot),
    )


def _moved(random: Random, snapshot: ClusterSnapshot) -> frozenset[Workload]:
    workloads = [pod_group_workload(*key) for key in snapshot.pod_groups]
    workloads += [owner_workload(p.namespace, p.owner) for p in snapshot.pods if p.owner is not None]
    return frozenset(w for w in workloads if random.random() < 0.04)
