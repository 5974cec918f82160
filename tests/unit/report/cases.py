"""Named clusters with their plans, and variations of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from repack_gitops.model.budget_forecast import BudgetForecast, BudgetVerdict
from repack_gitops.model.change import Action, Change
from repack_gitops.model.cluster import Owner
from repack_gitops.model.impact import Disruption, GroupImpact, WorkloadRestart
from repack_gitops.model.plan import (
    BoundKind,
    Code,
    Found,
    Fragmentation,
    Frontier,
    FrontierPoint,
    Optimality,
    PodMove,
    Reason,
    Stay,
    Step,
    Verdict,
)
from tests.unit.report.build import JOB, KINDS, Case, node, plan, pod, random_cluster, snapshot


@cache
def three_nodes() -> Case:
    """Return the example of the user guide: one node freed, 33% to 0%."""
    batch, serving = KINDS[3], KINDS[1]
    nodes = [node(f"ascend-node-0{i}", 4) for i in (1, 2, 3)]
    pods = [
        pod("batch-eval-1-worker-0", "ascend-node-01", 1, batch, 1),
        pod("batch-eval-1-worker-1", "ascend-node-01", 1, batch, 1),
        pod("chat-1-entry-0", "ascend-node-02", 3, serving, 1, namespace="serving"),
        pod("chat-2-entry-0", "ascend-node-03", 3, serving, 2, namespace="serving"),
    ]
    case = plan(snapshot(nodes, pods))
    return Case(
        case.snapshot,
        replace(case.evaluation, before=Fragmentation(3, 3, 2, exact=True), after=Fragmentation(3, 2, 2, exact=True)),
    )


@cache
def cascading() -> Case:
    """Return the same with moves that restart other pods, and one that leaves a job without a retry."""
    case, (batch, serving) = three_nodes(), (KINDS[3], KINDS[1])
    restarts = (
        WorkloadRestart("serving", replace(serving, name="chat-1"), "Group", 1, 4, 3),
        WorkloadRestart("team-a", replace(batch, name="batch-eval-1"), "Job", 2, 8, 6, retries_left=0),
        WorkloadRestart("team-a", Owner("batch/v1", "Job", "nightly"), "Pod", 1, 1, 0, retries_left=5),
    )
    return replace(case, evaluation=replace(case.evaluation, restarts=restarts))


@cache
def twelve_nodes() -> Case:
    """Return a cluster that shows everything at a glance."""
    return plan(random_cluster(12, seed=20), slack=1)


#: Per node: (workload, number, cards) of its pods; see `readme_example`.
_README = (
    (("llm-pretrain", 1, 8),),
    (("llm-pretrain", 1, 8),),
    (("chat", 1, 4), ("chat", 2, 2)),
    (("batch-eval", 1, 1), ("batch-eval", 1, 1)),
    (("chat", 1, 4), ("embeddings", 1, 2), ("batch-eval", 2, 1)),
    (("embeddings", 1, 2),),
    (("llm-finetune", 1, 4), ("chat", 2, 1)),
    (("chat", 2, 2), ("batch-eval", 1, 1)),
    (("llm-finetune", 1, 4), ("embeddings", 2, 2)),
    (("batch-eval", 2, 1), ("llm-finetune", 2, 2)),
    (),
    (("chat", 3, 4), ("llm-finetune", 2, 2)),
)
_WORKLOADS = {
    "llm-pretrain": ("train", Owner("batch.volcano.sh/v1alpha1", "Job", "llm-pretrain")),
    "llm-finetune": ("train", Owner("batch.volcano.sh/v1alpha1", "Job", "llm-finetune")),
    "batch-eval": ("research", Owner("batch.volcano.sh/v1alpha1", "Job", "batch-eval")),
    "chat": ("serving", Owner("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")),
    "embeddings": ("serving", Owner("apps/v1", "ReplicaSet", "embeddings")),
}


@cache
def readme_example() -> Case:
    """Return the cluster of ``docs/images/layout.svg``."""
    nodes = [node(f"npu-node-{i:02}") for i in range(1, len(_README) + 1)]
    pods = [
        pod(f"{name}-{number}-{i}-{j}", nodes[i].name, cards, _WORKLOADS[name][1], number, namespace=_WORKLOADS[name][0])
        for i, found in enumerate(_README)
        for j, (name, number, cards) in enumerate(found)
    ]
    return plan(snapshot(nodes, pods), slack=3)


BUDGETS = (
    BudgetForecast("serving", "chat", 3, 3, 4, BudgetVerdict.ENOUGH, "it allows all of them now"),
    BudgetForecast(
        "serving",
        "embeddings",
        4,
        3,
        1,
        BudgetVerdict.WAITS,
        "runs dry at step 2 (node ascend-node-13); the rest wait until replacements are Ready",
        "ascend-node-13",
    ),
    BudgetForecast(
        "team-b",
        "batch-eval",
        1,
        0,
        0,
        BudgetVerdict.EXEMPT,
        "the pods of the plan that it selects do not run or are not Ready, and go free of charge",
    ),
)


@cache
def sixty_nodes() -> Case:
    """Return the largest cluster that is drawn node by node."""
    found = plan(random_cluster(60), most=14, slack=1)
    warning = "2 candidate node(s) are cordoned; freeing them gives no room until they are uncordoned"
    return Case(found.snapshot, replace(found.evaluation, warnings=(warning,), disruption_budgets=BUDGETS))


def point(limit: int, freed: int, most: int, *numbers: int) -> FrontierPoint:
    """Return a point; ``numbers`` are its PodGroups, breaches, damaged cards, moved cards and moved pods."""
    return FrontierPoint(limit, freed, most, Disruption(*numbers))


@cache
def with_frontier() -> Case:
    """Return a plan of Optimal with what less disruption would free: most of it for half of the PodGroups."""
    found = sixty_nodes()
    e = found.evaluation
    freed, d = len(e.steps), e.disruption
    by_groups = (
        point(1, 1, 1, 1, 0, 1, 1, 1),
        point(2, 3, 3, 2, 0, 3, 3, 3),
        point(4, 7, 7, 4, 1, 9, 8, 7),
        point(6, 9, 9, 6, 1, 14, 13, 11),
        point(8, 11, 12, 8, 2, 20, 16, 14),
        point(10, 12, 13, 10, 2, 22, 18, 16),
        point(12, 13, 13, 12, 3, 35, 20, 17),
        FrontierPoint(d.pod_groups, freed, freed, d),
    )
    by_cards = (
        point(1, 1, 1, 1, 0, 1, 1, 1),
        point(4, 3, 3, 3, 0, 4, 4, 4),
        point(9, 7, 7, 7, 1, 11, 9, 9),
        point(12, 9, 9, 8, 1, 14, 12, 10),
        point(16, 11, 12, 9, 2, 20, 16, 14),
        point(d.moved_cards - 2, freed, freed, d.pod_groups + 1, 3, 40, d.moved_cards - 2, d.moved_pods),
    )
    known = Optimality(
        "Optimal",
        freed,
        freed,
        proven=False,
        bound_kind=BoundKind.MODEL,
        found=(Found("Optimal", freed, d), Found("Drain", freed - 2, Disruption(12, 3, 60, 21, 18))),
        settled=("freedNodes", "podGroups"),
    )
    return Case(
        found.snapshot,
        replace(e, strategy="Optimal", optimality=known, frontier=Frontier(pod_groups=by_groups, cards=by_cards)),
    )


@cache
def four_thousand_nodes() -> Case:
    """Return a cluster whose plan is far too long to show as it is."""
    return plan(random_cluster(4000))


def compact(nodes: int = 5) -> Case:
    """Return a cluster with nothing to gain."""
    made = [node(f"n{i}") for i in range(nodes)]
    found = plan(snapshot(made, [pod(f"p{i}", f"n{i}", 8, JOB, i) for i in range(nodes - 1)]))
    return Case(found.snapshot, replace(found.evaluation, stays={}))


def insufficient(gain: Fraction = Fraction(5)) -> Case:
    """Return a cluster whose best plan gains too little."""
    found = twelve_nodes()
    below = Stay(
        Reason(Code.BELOW_THRESHOLD, "could take part in a plan, but the whole plan gains less than 10 points"),
        nearest=(Change(Action.LOWER_THRESHOLD, "", "minFragImprovementPercent", 10, 5),),
    )
    touched = {name for m in found.evaluation.moves for name in (m.from_node, m.to_node)}
    stays = {**found.evaluation.stays, **dict.fromkeys(touched, below)}
    empty: dict[str, Any] = {"steps": (), "impacts": (), "disruption": Disruption(), "after": found.evaluation.before}
    verdict = Verdict.INSUFFICIENT
    stays = dict(sorted(stays.items()))
    return Case(found.snapshot, replace(found.evaluation, verdict=verdict, stays=stays, improvement=gain, **empty))


def inexact(case: Case) -> Case:
    """Return ``case`` with an optimum that is only a lower bound."""
    before = replace(case.evaluation.before, exact=False)
    return Case(case.snapshot, replace(case.evaluation, before=before, after=replace(case.evaluation.after, exact=False)))


def with_stay(case: Case, code: Code) -> Case:
    """Return ``case`` with every staying node held back by ``code``."""
    stays = {name: Stay(Reason(code, "because")) for name in case.evaluation.stays}
    return Case(case.snapshot, replace(case.evaluation, stays=stays))


def with_impacts(case: Case, impacts: Sequence[GroupImpact]) -> Case:
    """Return ``case`` with other impacts."""
    return Case(case.snapshot, replace(case.evaluation, impacts=tuple(impacts)))


def empty() -> Case:
    """Return a cluster in which nothing provides the resource."""
    return plan(snapshot([], []))


def renamed(case: Case, text: str) -> Case:
    """Return ``case`` with ``text`` worked into every name and message that comes from outside."""
    e = case.evaluation

    def owner(found: Owner | None) -> Owner | None:
        return replace(found, kind=found.kind + text, name=found.name + text) if found else None

    def move(m: PodMove) -> PodMove:
        names = {f: getattr(m, f) + text for f in ("namespace", "pod", "pod_group", "from_node", "to_node")}
        return replace(m, owner=owner(m.owner), **names)

    evaluation = replace(
        e,
        strategy=e.strategy + text,
        steps=tuple(Step(s.node + text, tuple(move(m) for m in s.moves)) for s in e.steps),
        impacts=tuple(replace(i, key=(i.key[0] + text, i.key[1] + text), owner=owner(i.owner)) for i in e.impacts),
        stays={
            name + text: replace(
                r,
                reason=Reason(r.code, r.detail + text),
                nearest=tuple(replace(c, subject=c.subject + text, what=c.what + text) for c in r.nearest),
            )
            for name, r in e.stays.items()
        },
        warnings=(text, f"a warning {text}"),
        disruption_budgets=tuple(
            replace(b, namespace=b.namespace + text, name=b.name + text, message=b.message + text) for b in BUDGETS
        ),
    )
    nodes = tuple(replace(n, name=n.name + text) for n in case.snapshot.nodes)
    pods = tuple(
        replace(
            p,
            namespace=p.namespace + text,
            name=p.name + text,
            node=(p.node or "") + text,
            pod_group=(p.pod_group or "") + text,
            owner=owner(p.owner),
        )
        for p in case.snapshot.pods
    )
    return Case(replace(case.snapshot, nodes=nodes, pods=pods), evaluation)
