"""How long planning takes: ``python -m bench.planner [KIND:NODES[:STRATEGY] ...]``.

Kinds are in ``bench.clusters``; the strategy is Drain unless given. Seconds cover ``evaluate``; the judge is timed by
itself; memory is the process's peak, the cluster included.
"""

from __future__ import annotations

import json
import sys

from bench.clusters import GPU, KINDS
from bench.measure import Row, arguments, measured, peak_mib, save, show, timed
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import Goal, RunTemplateSpec
from repack_gitops.planner import PlannerOptions, evaluate
from repack_gitops.planner.verify import verify

CASES = [f"{kind}:{nodes}" for kind in KINDS for nodes in (1_000, 4_000, 10_000)]
COLUMNS = ("case", "pods", "seconds", "cpu_seconds", "freed", "bound", "proven", "groups", "moves", "verified", "peak_mib")


def row(case: str, runs: int) -> Row:
    """Measure one case in this process."""
    kind, nodes, *strategy = case.split(":")
    snapshot, spec = KINDS[kind](int(nodes)), RunTemplateSpec(goals=[Goal(resource=GPU)])
    options = PlannerOptions(strategy=strategy[0]) if strategy else PlannerOptions()
    found: list[Evaluation] = []
    planning = timed(lambda: found.append(evaluate(snapshot, spec, options)), runs)
    evaluation, optimality = found[-1], found[-1].optimality
    judging = timed(lambda: verify(snapshot, spec, evaluation, options), 1)
    return {
        "case": case,
        "pods": len(snapshot.pods),
        "seconds": planning.seconds,
        "cpu_seconds": planning.cpu_seconds,
        "freed": len(evaluation.steps),
        "bound": optimality.upper_bound if optimality else "",
        "proven": ("yes" if optimality.proven else "no") if optimality else "",
        "groups": evaluation.disruption.pod_groups,
        "moves": len(evaluation.moves),
        "verified": "yes" if verify(snapshot, spec, evaluation, options) == () else "NO",
        "verify_cpu": judging.cpu_seconds,
        "peak_mib": peak_mib(),
    }


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
