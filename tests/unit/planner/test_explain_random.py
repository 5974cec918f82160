"""Explanations of random clusters hold: counts add up, and a change that is shown, once made, removes the reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from msgspec import structs

from repack_gitops.model.change import Action
from repack_gitops.model.plan import Code, Stay, Verdict
from repack_gitops.planner import PlannerOptions
from repack_gitops.planner.drain import drain
from repack_gitops.planner.evaluate import Study, study
from repack_gitops.planner.problem import Problem
from tests.unit.planner.build import GPU
from tests.unit.planner.changes import after, only, with_change, with_larger_budget, with_wider_scope
from tests.unit.planner.random_clusters import Case, crowded_case, random_case

CHUNK = 60


def studied(case: Case) -> Study:
    return study(case.snapshot, case.spec)


def check(case: Case, found: Study, name: str, stay: Stay) -> str:
    """Check one node's explanation and return what was checked."""
    if stay.code is Code.NO_RECEIVER:
        return no_receiver(case, found, name, stay)
    if stay.code is Code.BUDGET_EXCEEDED:
        return over_budget(case, found, name, stay)
    if stay.code is Code.BELOW_THRESHOLD:
        return below_threshold(case, stay)
    if stay.code is Code.RECEIVES:
        assert stay.nearest == ()
        return "receives"
    return blocked(case, found, name, stay)


def no_receiver(case: Case, found: Study, name: str, stay: Stay) -> str:
    assert found.result is not None
    freed = {s.node for s in found.result.steps}
    receivers = [
        n.name
        for n in found.problem.nodes
        if n.name not in (*freed, name)
        and any(p.requests.get(GPU, 0) and not p.terminating for p in case.snapshot.pods_by_node[n.name])
    ]
    if stay.refusals:
        assert sum(r.count for r in stay.refusals) == stay.receivers == len(receivers)
        assert all(r.count > 0 for r in stay.refusals)
    if not stay.nearest:
        return "no single change"
    (change,) = stay.nearest
    assert change.subject in receivers
    # Where nothing else may be emptied, and the plan's moves are made, the node is stuck before the change and not after.
    end = after(case.snapshot, found.result.steps)
    assert drain(Problem(end, only(name), PlannerOptions())).steps == ()
    changed = with_change(end, change, name)
    assert [s.node for s in drain(Problem(changed, only(name), PlannerOptions())).steps] == [name]
    if change.action is Action.FREE_RESOURCE and len(found.problem.victims[found.problem.index[name]]) == 1:
        less = with_change(end, replace(change, needed=(change.needed or 0) - 1), name)
        assert drain(Problem(less, only(name), PlannerOptions())).steps == ()  # and nothing smaller would do on that node
    return change.action.value


def over_budget(case: Case, found: Study, name: str, stay: Stay) -> str:
    """The new caps are exactly what the plan that was found and this node need together."""
    assert stay.nearest
    assert found.result is not None
    emptied = [found.problem.index[n] for n in (*(s.node for s in found.result.steps), name)]
    victims = [v for i in emptied for v in found.problem.victims[i]]
    limits = with_larger_budget(case.spec, stay.nearest).max_per_run
    assert limits is not None
    groups, cards = len({v.group for v in victims}), sum(v.cards for v in victims)
    assert limits.pod_groups is None or groups <= limits.pod_groups
    assert GPU not in limits.resources or cards <= limits.resources[GPU]
    assert {c.needed for c in stay.nearest} <= {groups, cards}
    assert all((c.needed or 0) > (c.now or 0) for c in stay.nearest)
    return "budget"


def below_threshold(case: Case, stay: Stay) -> str:
    (change,) = stay.nearest
    goal = structs.replace(case.spec.goals[0], min_frag_improvement_percent=change.needed or 0)
    again = study(case.snapshot, structs.replace(case.spec, goals=[goal])).evaluation
    assert again.verdict is Verdict.RECOMMENDED
    return "threshold"


def blocked(case: Case, found: Study, name: str, stay: Stay) -> str:
    snapshot, spec, index = case.snapshot, case.spec, found.problem.index[name]
    if stay.code in (Code.DAEMON_SET, Code.MIRROR_POD):
        assert stay.nearest == ()
    for change in stay.nearest:
        if change.action is Action.WIDEN_SCOPE:
            spec = with_wider_scope(spec, change)
        else:
            snapshot = with_change(snapshot, change, name)
    again = Problem(snapshot, spec, PlannerOptions()).blocked.get(index)
    assert (again == stay.reason) == (not stay.nearest)
    return stay.code.value


@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("draw", [random_case, crowded_case])
def test_every_explanation_of_random_clusters(draw: object, chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        case: Case = draw(seed)  # type: ignore[operator]
        found = studied(case)
        for name, stay in found.evaluation.stays.items():
            seen[check(case, found, name, stay)] += 1
    assert len(seen) >= 5, seen  # the clusters are varied enough to mean something
