"""How good plans are and how long they take: ``python -m bench.planner [KIND:NODES[:LIMIT] ...]``.

Kinds are in ``bench.clusters`` and ``bench.shapes``; a limit is ``groups=5%`` or ``cards=5%`` of what there is. Drain runs by
itself, and as a part of Optimal. Seconds cover ``evaluate``, with everything that a report shows; ``proof_s`` is when, from
the start of the search, a plan was found that frees as many nodes as any can. ``settled`` counts the levels of the objective
in which no plan is better (6: all of them). Memory is the process's peak, the cluster included.
"""

from __future__ import annotations

import json
import sys
import time

from bench.clusters import GPU, KINDS
from bench.measure import Row, arguments, measured, peak_mib, save, show, timed
from bench.shapes import SHAPES, shaped
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import Goal, MaxPerRun, RunTemplateSpec
from repack_gitops.planner import PlannerOptions, evaluate
from repack_gitops.planner.verify import verify
from repack_gitops.planner.watch import Watch

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
    "proof_s",
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


class _Proof(Watch):
    """Notes when it is known that no plan frees more nodes."""

    def __init__(self) -> None:
        self._started: float | None = None
        self.seconds: float | None = None

    def entered(self, phase: str) -> None:  # noqa: ARG002
        """Begin to count with the first run."""
        self._started = self._started or time.perf_counter()

    def found(self, freed: int, upper_bound: int) -> None:
        """Note the first time that the plan reaches the bound."""
        if freed == upper_bound and self.seconds is None and self._started is not None:
            self.seconds = round(time.perf_counter() - self._started, 3)


def row(case: str, runs: int) -> Row:
    """Measure one case in this process."""
    kind, nodes, *limit = case.split(":")
    snapshot = cluster(kind, int(nodes))
    run = spec(snapshot, limit[0] if limit else "")
    drained, drain_seconds = _planned(snapshot, run, PlannerOptions(strategy="Drain"), runs)
    proof = _Proof()
    found, seconds = _planned(snapshot, run, PlannerOptions(strategy="Optimal"), runs, proof)
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
        "proof_s": proof.seconds,
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


def _planned(
    snapshot: ClusterSnapshot, run: RunTemplateSpec, options: PlannerOptions, runs: int, watch: Watch | None = None
) -> tuple[Evaluation, float]:
    found: list[Evaluation] = []
    seconds = timed(lambda: found.append(evaluate(snapshot, run, options, watch)), runs).seconds
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
