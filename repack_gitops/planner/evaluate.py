"""The planner's door: snapshot and spec in, Evaluation out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from repack_gitops.errors import InvalidInput
from repack_gitops.model.cluster import ClusterSnapshot, Key
from repack_gitops.model.impact import Disruption
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Evaluation, Fragmentation, PodMove, Stay, Step, Verdict
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.cascade.restarts import restarts, victims_of
from repack_gitops.planner.disruption import impacts, total
from repack_gitops.planner.disruption_budgets.forecast import forecast
from repack_gitops.planner.drain import DrainResult
from repack_gitops.planner.explain import below_threshold, why_nodes_stay
from repack_gitops.planner.fragmentation import fragmentation
from repack_gitops.planner.preferences import pulled_back
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.strategies import search
from repack_gitops.planner.warnings import STOPPED, before_planning, rollouts, waiting_pods
from repack_gitops.planner.watch import Latch, Watch


@dataclass(frozen=True, slots=True)
class Study:
    """An evaluation with what it was made from; ``result`` is None where there was nothing to search for."""

    evaluation: Evaluation
    problem: Problem
    result: DrainResult | None


def evaluate(
    snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions | None = None, watch: Watch | None = None
) -> Evaluation:
    """Plan for ``spec`` on ``snapshot``; a pure function, the same to the byte for the same input unless ``watch`` says stop.

    Raises
    ------
    InvalidInput
        When no node provides the goal's resource (a typing error, most often).
    """
    return study(snapshot, spec, options, watch).evaluation


def study(
    snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions | None = None, watch: Watch | None = None
) -> Study:
    """Evaluate, and keep what later questions are answered from.

    Raises
    ------
    InvalidInput
        When no node provides the goal's resource (a typing error, most often).
    """
    options = options or PlannerOptions()
    resource = spec.goals[0].resource
    before = fragmentation(snapshot, resource)
    if not before.providing:
        raise InvalidInput(
            f"no node provides {resource}",
            hint="Compare the goal's resource with status.allocatable of your nodes: " + _provided(snapshot),
        )
    problem = Problem(snapshot, spec, options)
    base = Evaluation(
        resource=resource,
        strategy=options.strategy,
        verdict=Verdict.NO_FRAGMENTATION,
        before=before,
        after=before,
        steps=(),
        disruption=Disruption(),
        impacts=(),
        stays={},
        scope_pod_groups=_groups_in_scope(problem),
        scope_nodes=sum(1 for n in problem.nodes if problem.scope.node(n)),
        warnings=tuple(before_planning(problem)),
    )
    if before.occupied == before.optimal:
        return Study(base, problem, None)
    latch = Latch(watch or Watch())
    answer = search(problem, latch)
    base, result = replace(base, optimality=answer.optimality, frontier=answer.frontier), answer.result
    if latch.stopped:
        base = _stopped(base)
    return Study(_judge(base, problem, result.steps, why_nodes_stay(problem, result), spec), problem, result)


def _stopped(base: Evaluation) -> Evaluation:
    """Return ``base`` with the mark that when the search was stopped decided what it found."""
    optimality = replace(base.optimality, reproducible=False) if base.optimality else None
    return replace(base, reproducible=False, optimality=optimality, warnings=(STOPPED, *base.warnings))


def _judge(
    base: Evaluation, problem: Problem, steps: tuple[Step, ...], stays: dict[str, Stay], spec: RunTemplateSpec
) -> Evaluation:
    after = replace(base.before, occupied=base.before.occupied - len(steps))
    gain = improvement(base.before, after)
    wanted = spec.goals[0].min_frag_improvement_percent
    if not steps or gain < wanted:
        below = below_threshold(wanted, int(gain))
        receivers = [name for name, stay in stays.items() if stay.code is Code.RECEIVES]
        stays = stays | dict.fromkeys((*receivers, *(s.node for s in steps)), below)
        return replace(base, verdict=Verdict.INSUFFICIENT, stays=dict(sorted(stays.items())), improvement=gain)
    moves = [m for s in steps for m in s.moves]
    found = impacts(problem.snapshot, problem.resource, moved_by_group(moves))
    return replace(
        base,
        verdict=Verdict.RECOMMENDED,
        after=after,
        steps=steps,
        disruption=total(found),
        impacts=found,
        stays=stays,
        improvement=gain,
        disruption_budgets=forecast(problem.snapshot, problem.movability.budgets, steps).budgets,
        warnings=(
            *base.warnings,
            *waiting_pods(problem.snapshot, problem.resource),
            *rollouts(problem.snapshot, moves),
            *pulled_back(problem.snapshot, moves),
        ),
        restarts=restarts(problem.movability.cascades, victims_of(problem.snapshot, moves)),
    )


def improvement(before: Fragmentation, after: Fragmentation) -> Fraction:
    """Return the gain in percentage points, exactly."""
    return (before.rate - after.rate) * 100


def moved_by_group(moves: Iterable[PodMove]) -> dict[Key, tuple[int, int]]:
    """Return (pods, cards) moved per PodGroup."""
    moved: dict[Key, tuple[int, int]] = {}
    for move in moves:
        pods, cards = moved.get(move.group_key, (0, 0))
        moved[move.group_key] = (pods + 1, cards + move.cards)
    return moved


def _provided(snapshot: ClusterSnapshot) -> str:
    names = sorted({name for n in snapshot.nodes for name in n.allocatable if "/" in name})
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(names[:20]) + more if names else "no extended resource at all"


def _groups_in_scope(problem: Problem) -> int:
    """Count in-scope PodGroups that use the target resource now."""
    groups = problem.snapshot.pod_groups
    using = {
        (p.namespace, p.pod_group)
        for n in problem.nodes
        for p in problem.snapshot.pods_by_node[n.name]
        if p.pod_group is not None and p.requests.get(problem.resource, 0) > 0
    }
    return sum(1 for key in using if key in groups and problem.scope.pod_group(groups[key]))
