"""How good plans are and how long they take: ``python -m bench.planner [KIND:NODES[:LIMIT] ...]``.

Kinds are in ``bench.clusters`` and ``bench.shapes``; a limit is ``groups=5%`` or ``cards=5%`` of what there is. Both strategies
run by themselves; seconds cover ``evaluate`` and include everything that a report shows. ``settled`` counts the levels of the
objective in which no plan is better (6: all of them). Memory is the process's peak, the cluster included.
"""

from __future__ import annotations

import json
import sys

from bench.clusters import GPU, KINDS
from bench.measure import Row, arguments, measured, peak_mib, save, show, timed
from bench.shapes import SHAPES, shaped
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import Goal, MaxPerRun, RunTemplateSpec
from repack_gitops.planner import PlannerOptions, evaluate
from repack_gitops.planner.verify import verify

SIZES = (1_000, 5_000, 10_000)
LIMITS = ("groups=5%", "cards=5%")
CASES = [
    *(f"{kind}:{nodes}" for kind in (*SHAPES, "spread", "mixed") for nodes in SIZES),
    *(f"{kind}:{nodes}:{limit}" for kind in ("ample", "tight", "gangs") for limit in LIMITS for nodes in SIZES),
]
COLUMNS = (
    "case",
    "pods",
    "drain_s",
    "drain_freed",
    "drain_groups",
    "seconds",
    "freed",
    "bound",
    "gap_percent",
    "settled",
    "groups",
    "cards",
    "verified",
    "peak_mib",
)


def cluster(kind: str, nodes: int) -> ClusterSnapshot:
    """Return the cluster of a kind or a shape."""
    return shaped(kind, nodes) if kind in SHAPES else KINDS[kind](nodes)


def spec(snapshot: ClusterSnapshot, limit: str) -> RunTemplateSpec:
    """Return the run; ``limit`` is empty for none."""
    goals = [Goal(resource=GPU)]
    if not limit:
        return RunTemplateSpec(goals=goals)
    what, _, share = limit.partition("=")
    percent = int(share.removesuffix("%"))
    if what == "groups":
        return RunTemplateSpec(goals=goals, max_per_run=MaxPerRun(pod_groups=len(snapshot.pod_groups) * percent // 100))
    cards = sum(pod.requests.get(GPU, 0) for pod in snapshot.pods) // 1000
    return RunTemplateSpec(goals=goals, max_per_run=MaxPerRun(resources={GPU: cards * percent // 100}))


def row(case: str, runs: int) -> Row:
    """Measure one case in this process."""
    kind, nodes, *limit = case.split(":")
    snapshot = cluster(kind, int(nodes))
    run = spec(snapshot, limit[0] if limit else "")
    drained, drain_seconds = _planned(snapshot, run, PlannerOptions(strategy="Drain"), runs)
    found, seconds = _planned(snapshot, run, PlannerOptions(strategy="Optimal"), runs)
    optimality = found.optimality
    if optimality is None:
        raise SystemExit(f"{case} is not fragmented")
    judged = verify(snapshot, run, found, PlannerOptions(strategy="Optimal"))
    return {
        "case": case,
        "pods": len(snapshot.pods),
        "drain_s": drain_seconds,
        "drain_freed": len(drained.steps),
        "drain_groups": drained.disruption.pod_groups,
        "seconds": seconds,
        "freed": len(found.steps),
        "bound": optimality.upper_bound,
        "gap_percent": round(100 * optimality.gap / max(optimality.upper_bound, 1), 2),
        "settled": len(optimality.settled),
        "groups": found.disruption.pod_groups,
        "cards": found.disruption.moved_cards,
        "verified": "NO" if judged else "yes",
        "peak_mib": peak_mib(),
    }


def _planned(snapshot: ClusterSnapshot, run: RunTemplateSpec, options: PlannerOptions, runs: int) -> tuple[Evaluation, float]:
    found: list[Evaluation] = []
    seconds = timed(lambda: found.append(evaluate(snapshot, run, options)), runs).seconds
    return found[-1], seconds


def main() -> None:
    """Measure the cases asked for."""
    asked = arguments((__doc__ or "").split("\n", maxsplit=1)[0], CASES)
    if asked.child:
        sys.stdout.write(json.dumps(row(asked.child, asked.runs)))
        return
    rows = show((measured("bench.planner", case, asked.runs) for case in asked.cases), COLUMNS)
    save("planner", rows, asked.output)


if __name__ == "__main__":
    main()
