"""Optimal against trying everything, on random clusters with limits of every kind, odd sizes and unequal nodes."""

from __future__ import annotations

import pytest

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Evaluation
from repack_gitops.planner.disruption import impacts, total
from repack_gitops.planner.drain import drain
from repack_gitops.planner.evaluate import moved_by_group
from repack_gitops.planner.optimal import aggregation, solver
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.verify import verify
from tests.unit.planner.brute_force import best_score, most_freed
from tests.unit.planner.build import GPU
from tests.unit.planner.optimal.cases import Question, fragmented
from tests.unit.planner.replay import replay_fits

CHUNK = 120
CHUNKS = range(25)


def asked(chunk: int, **more: float) -> list[Question]:
    return [fragmented(seed, **more) for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)]


def kept(evaluation: Evaluation) -> tuple[int, int, int, int, int, int]:
    """Return the score of the plan that was kept, as brute force counts it."""
    assert evaluation.optimality is not None
    found = next(f for f in evaluation.optimality.found if f.strategy == evaluation.optimality.strategy)
    return (-found.freed, *dimensions(found.disruption))


def dimensions(d: Disruption) -> tuple[int, int, int, int, int]:
    return d.pod_groups, d.breaches, d.damaged_cards, d.moved_cards, d.moved_pods


@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_bound_never_lies_and_a_proof_is_one(chunk: int) -> None:
    proven = 0
    for question in asked(chunk):
        evaluation = question.answer()
        optimality = evaluation.optimality
        assert optimality is not None
        most = most_freed(question.snapshot, question.spec, question.options)
        assert optimality.freed <= most <= optimality.upper_bound, question.label
        if optimality.proven:
            proven += 1
            assert kept(evaluation) == best_score(question.snapshot, question.spec, question.options), question.label
            assert optimality.gap == 0
    assert proven > 0.9 * CHUNK


@pytest.mark.parametrize("chunk", range(3))
def test_where_pods_do_not_mind_each_other_everything_is_proven(chunk: int) -> None:
    for question in asked(100 + chunk, related=0.0):
        if not any(p.relations for p in question.snapshot.pods):
            optimality = question.answer().optimality
            assert optimality is not None
            assert optimality.proven, question.label


@pytest.mark.parametrize("chunk", CHUNKS)
def test_every_plan_passes_the_judge_and_a_naive_replay(chunk: int) -> None:
    for question in asked(chunk, related=0.1):
        evaluation = question.answer()
        assert verify(question.snapshot, question.spec, evaluation, question.options) == (), question.label
        assert replay_fits(question.snapshot, evaluation), question.label


@pytest.mark.parametrize("chunk", CHUNKS)
def test_it_is_never_worse_than_drain(chunk: int) -> None:
    for question in asked(chunk, related=0.1):
        steps = drain(Problem(question.snapshot, question.spec, question.options)).steps
        moved = moved_by_group(m for s in steps for m in s.moves)
        drained = (-len(steps), *dimensions(total(impacts(question.snapshot, GPU, moved))))
        assert kept(question.answer()) <= drained, question.label


@pytest.mark.parametrize("chunk", range(4))
def test_the_bound_holds_where_nodes_at_risk_are_counted_together(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on large clusters: no node has rows of its own."""
    monkeypatch.setattr(aggregation, "MOST_SINGLE_FLOWS", 0)
    _bound_holds(chunk)


@pytest.mark.parametrize("chunk", range(4))
def test_the_bound_holds_where_work_is_cut_short(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "TREE_NODES", 0)
    monkeypatch.setattr(solver, "WORK", 0)
    _bound_holds(chunk)


def _bound_holds(chunk: int) -> None:
    for question in asked(200 + chunk, related=0.1):
        evaluation = question.answer()
        optimality = evaluation.optimality
        assert optimality is not None
        best = best_score(question.snapshot, question.spec, question.options)
        assert optimality.freed <= -best[0] <= optimality.upper_bound, question.label
        assert not optimality.proven or kept(evaluation) == best, question.label
        assert verify(question.snapshot, question.spec, evaluation, question.options) == (), question.label
