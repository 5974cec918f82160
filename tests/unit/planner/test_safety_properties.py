"""What holds for every plan under safety options, on random clusters with random marks."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

from repack_gitops.model.cluster import ClusterSnapshot, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.planner import evaluate
from repack_gitops.planner.drain import drain
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.verify import verify
from tests.unit.planner.brute_force import most_freed
from tests.unit.planner.random_clusters import random_case, tiny_case
from tests.unit.planner.random_safety import safety_case
from tests.unit.planner.reference_drain import Reference
from tests.unit.planner.replay import replay_fits

CHUNK = 150


@pytest.mark.parametrize("chunk", range(6))
def test_any_plan_under_options_passes_the_judge_and_a_naive_count(chunk: int) -> None:
    moved = 0
    for seed in range(200_000 + chunk * CHUNK, 200_000 + (chunk + 1) * CHUNK):
        case = random_case(seed)
        snapshot, options = safety_case(case)
        evaluation = evaluate(snapshot, case.spec, options)
        assert verify(snapshot, case.spec, evaluation, options) == (), f"seed {seed}"
        assert replay_fits(snapshot, evaluation), f"seed {seed}"
        assert broken(snapshot, options, evaluation) == [], f"seed {seed}"
        moved += len(evaluation.moves)
    assert moved > 20, "options that leave nothing to move show nothing"


def broken(snapshot: ClusterSnapshot, options: PlannerOptions, evaluation: Evaluation) -> list[str]:
    """Say what of the options the moves break, counted anew and without any of the planner's rules."""
    guards, pods = options.safeguards, {p.key: p for p in snapshot.pods}
    moved = [pods[(m.namespace, m.pod)] for m in evaluation.moves]
    found = [p.name for p in moved if any(_rules(snapshot, options, p))]
    spaces = Counter(p.namespace for p in moved)
    owners = Counter((m.namespace, m.owner.group, m.owner.kind, m.owner.name) for m in evaluation.moves if m.owner)
    for cap, counts in ((guards.pods_per_namespace, spaces), (guards.pods_per_owner, owners)):
        found += [str(key) for key, count in counts.items() if cap is not None and count > cap]
    return found


def _rules(snapshot: ClusterSnapshot, options: PlannerOptions, pod: Pod) -> list[bool]:
    guards = options.safeguards
    group = snapshot.pod_groups[(pod.namespace, pod.pod_group or "")]
    names = {("PodGroup.scheduling.volcano.sh", group.name)}
    names |= {(f"{o.kind}.{o.group}", o.name) for o in (group.owner, pod.owner) if o is not None}
    return [
        bool(pod.do_not_disrupt or group.do_not_disrupt or snapshot.node_by_name[pod.node or ""].do_not_disrupt),
        guards.created_before is not None
        and (not pod.created or datetime.fromisoformat(pod.created) > datetime.fromisoformat(guards.created_before)),
        guards.max_priority is not None and pod.priority > guards.max_priority,
        bool(pod.local_volumes) and not guards.allow_local_storage,
        any((pod.namespace, *name) in guards.recently_moved for name in names),
    ]


@pytest.mark.parametrize("chunk", range(4))
def test_the_reference_agrees_move_for_move(chunk: int) -> None:
    for seed in range(210_000 + chunk * CHUNK, 210_000 + (chunk + 1) * CHUNK):
        case = random_case(seed)
        snapshot, options = safety_case(case)
        steps = drain(Problem(snapshot, case.spec, options)).steps
        moves = [(m.pod, m.from_node, m.to_node) for s in steps for m in s.moves]
        assert moves == Reference(snapshot, case.spec, options).run(), f"seed {seed}"


@pytest.mark.parametrize("chunk", range(2))
def test_never_more_than_the_optimum_and_something_where_something_is_possible(chunk: int) -> None:
    for seed in range(220_000 + chunk * CHUNK, 220_000 + (chunk + 1) * CHUNK):
        case = tiny_case(seed)
        snapshot, options = safety_case(case)
        evaluation = evaluate(snapshot, case.spec, options)
        best = most_freed(snapshot, case.spec, options)
        assert len(evaluation.steps) <= best, f"seed {seed}"
        if evaluation.verdict is not Verdict.NO_FRAGMENTATION:
            assert (evaluation.improvement > 0) == (best > 0), f"seed {seed}"
