from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import msgspec
import pytest

from repack_gitops.model.budget_forecast import BudgetForecast, BudgetVerdict
from repack_gitops.model.change import Action, Change
from repack_gitops.model.cluster import Owner
from repack_gitops.model.code_words import explain
from repack_gitops.model.impact import Disruption, GroupImpact
from repack_gitops.model.plan import Code, Evaluation, Fragmentation, PodMove, Reason, Stay, Step, Verdict
from repack_gitops.model.run import Condition, RunStatus
from repack_gitops.model.status import (
    LISTED_NODES,
    advance,
    complete,
    counted,
    dry_run_status,
    failed,
    pending,
    phase_of,
    plan_status,
    points,
    progressing,
    verdict_message,
)

NOW, LATER = "2026-07-30T10:00:00Z", "2026-07-30T10:05:00Z"
JOB = Owner("batch.volcano.sh/v1alpha1", "Job", "train")


def move(pod: str, group: str, to: str, cards: int = 1, node: str = "n1") -> PodMove:
    return PodMove("demo", pod, f"uid-{pod}", group, JOB, node, to, cards)


def evaluation(**changes: object) -> Evaluation:
    """A plan that frees n2 and then n1, with two PodGroups whose moves are interleaved."""
    before = Fragmentation(providing=6, occupied=5, optimal=3, exact=True)
    base = Evaluation(
        resource="nvidia.com/gpu",
        strategy="Drain",
        verdict=Verdict.RECOMMENDED,
        before=before,
        after=replace(before, occupied=3),
        steps=(
            Step("n2", (move("b-0", "b", "n3", 2, "n2"), move("a-0", "a", "n4", 1, "n2"))),
            Step("n1", (move("b-1", "b", "n3", 2),)),
        ),
        disruption=Disruption(2, 1, 9, 5, 3),
        impacts=(
            GroupImpact(("demo", "a"), JOB, 4, 2, 1, 1, 4),
            GroupImpact(("demo", "b"), JOB, 2, 1, 2, 4, 8),
        ),
        stays={"n3": Stay(Reason(Code.RECEIVES, "")), "n5": Stay(Reason(Code.NO_CONTROLLER, "pod demo/x has no controller"))},
        scope_pod_groups=7,
        scope_nodes=6,
        warnings=("look here",),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_moves_are_grouped_by_pod_group_in_the_order_of_their_first_move() -> None:
    status = plan_status(evaluation())
    assert [(m.pod_group_name, m.cards, [p.name for p in m.pods]) for m in status.moves] == [
        ("b", 4, ["b-0", "b-1"]),
        ("a", 1, ["a-0"]),
    ]
    assert status.moves[0].owner is not None
    assert status.moves[0].owner.name == "train"
    assert status.moves[0].pods[1].from_node == "n1"


def test_freed_nodes_keep_the_order_of_execution() -> None:
    assert plan_status(evaluation()).freed_nodes == ["n2", "n1"]


def test_the_summary_holds_the_plan_in_numbers() -> None:
    summary = plan_status(evaluation()).summary
    assert msgspec.to_builtins(summary) == {
        "fragBeforePercent": 33,
        "fragAfterPercent": 0,
        "freedNodeCount": 2,
        "movedCardCount": 5,
        "resolvedScope": {"podGroupCount": 7, "nodeCount": 6},
    }


def test_every_budget_that_selects_a_moved_pod_is_listed() -> None:
    waits = BudgetForecast("demo", "web", 4, 3, 1, BudgetVerdict.WAITS, "runs dry at step 2", "n1")
    (found,) = plan_status(evaluation(disruption_budgets=(waits,))).disruption_budgets
    assert (found.namespace, found.name, found.allowed, found.needed) == ("demo", "web", 1, 3)
    assert (found.verdict, found.message) == ("Waits", "runs dry at step 2")


def test_staying_nodes_are_grouped_largest_first_and_their_names_are_capped() -> None:
    many = {f"m{i:03}": Stay(Reason(Code.NO_RECEIVER, f"why {i}")) for i in range(50)}
    groups = plan_status(evaluation(stays={"a": Stay(Reason(Code.RECEIVES, "")), **many})).staying_nodes
    assert [(g.reason, g.node_count, len(g.nodes)) for g in groups] == [("NoReceiver", 50, LISTED_NODES), ("Receives", 1, 1)]
    assert groups[0].message == "no other occupied node can take all of its pods; m000: why 0"
    assert groups[1].message == "receives pods of freed nodes"


def test_a_reason_is_shown_with_the_node_that_the_least_would_change() -> None:
    def over(*needed: int) -> Stay:
        changes = tuple(Change(Action.RAISE_BUDGET, "", "maxPerRun.podGroups", 4, n) for n in needed)
        return Stay(Reason(Code.BUDGET_EXCEEDED, "too much"), nearest=changes)

    stays = {"a": over(), "b": over(5, 5), "c": over(7), "d": over(6), "e": over(6)}
    (group,) = plan_status(evaluation(stays=stays)).staying_nodes
    assert group.message.endswith("; d: too much; nearest change: maxPerRun.podGroups 6 instead of 4")
    (hopeless,) = plan_status(evaluation(stays={"a": over(), "b": over()})).staying_nodes
    assert hopeless.message.endswith("; a: too much")


def test_the_order_of_stays_does_not_matter() -> None:
    found = evaluation()
    turned = replace(found, stays=dict(reversed(found.stays.items())))
    assert plan_status(found) == plan_status(turned)


def test_a_dry_run_ends_succeeded_whatever_the_verdict() -> None:
    for verdict in Verdict:
        status = dry_run_status(evaluation(verdict=verdict, steps=()), NOW)
        assert status.phase == "Succeeded"
        assert [(c.type, c.status, c.reason) for c in status.conditions] == [
            ("Progressing", "False", verdict.value),
            ("Complete", "True", verdict.value),
        ]
        assert {c.message for c in status.conditions} == {status.message}
        assert {c.observed_generation for c in status.conditions} == {1}
        assert {c.last_transition_time for c in status.conditions} == {NOW}
        assert status.start_time == status.completion_time == NOW


def test_a_status_survives_writing_and_reading() -> None:
    status = dry_run_status(evaluation(), NOW)
    assert msgspec.json.decode(msgspec.json.encode(status), type=RunStatus) == status


@pytest.mark.parametrize(
    ("changes", "threshold", "message"),
    [
        (
            {},
            0,
            "Freeing 2 nodes by moving 3 pods (5 cards) of 2 PodGroups; fragmentation 33% -> 0%. "
            "1 PodGroup falls below minAvailable meanwhile.",
        ),
        (
            {"impacts": (), "steps": (Step("n1", ()),), "disruption": Disruption(1, 0, 1, 1, 1)},
            0,
            "Freeing 1 node by moving 1 pod (1 card) of 1 PodGroup; fragmentation 33% -> 0%.",
        ),
        (
            {"verdict": Verdict.NO_FRAGMENTATION},
            0,
            "nvidia.com/gpu occupies 5 of 6 nodes and its requests need no fewer: the layout is as compact as it can be "
            "(scope: 7 PodGroups, 6 nodes).",
        ),
        (
            {"verdict": Verdict.NO_FRAGMENTATION, "before": Fragmentation(0, 0, 0, exact=True)},
            0,
            "No node provides nvidia.com/gpu; there is nothing to defragment.",
        ),
        (
            {"verdict": Verdict.INSUFFICIENT, "improvement": Fraction(50, 3)},
            20,
            "Fragmentation is 33% (5 nodes occupied, 3 would do); the best plan found gains 16.6 points, the goal asks for 20.",
        ),
        (
            {"verdict": Verdict.INSUFFICIENT, "improvement": Fraction(5)},
            0,
            "Fragmentation is 33% (5 nodes occupied, 3 would do); the best plan found gains 5 points, less than the goal asks.",
        ),
        (
            {"verdict": Verdict.INSUFFICIENT},
            0,
            "Fragmentation is 33% (5 nodes occupied, 3 would do), but no node can be emptied; most often (1 of 2): "
            "a pod on it has no controller that would recreate it (scope: 7 PodGroups, 6 nodes).",
        ),
        (
            {"verdict": Verdict.INSUFFICIENT, "stays": {}},
            0,
            "Fragmentation is 33% (5 nodes occupied, 3 would do), but no node can be emptied (scope: 7 PodGroups, 6 nodes).",
        ),
    ],
)
def test_the_verdict_is_told_with_its_numbers(changes: dict[str, object], threshold: int, message: str) -> None:
    assert verdict_message(evaluation(**changes), threshold=threshold) == message


def test_every_code_has_words() -> None:
    words = [explain(code) for code in Code]
    assert all(words)
    assert len(set(words)) == len(words)


def test_numbers_are_told_with_their_noun() -> None:
    assert [counted(n, "node") for n in (0, 1, 2, 3000)] == ["0 nodes", "1 node", "2 nodes", "3,000 nodes"]


@pytest.mark.parametrize(
    ("gain", "text"),
    [
        (Fraction(0), "0 points"),
        (Fraction(1), "1 point"),
        (Fraction(11, 10), "1.1 points"),
        (Fraction(29999, 3000), "9.9 points"),
        (Fraction(10), "10 points"),
    ],
)
def test_points_round_down_so_that_a_miss_never_looks_like_a_hit(gain: Fraction, text: str) -> None:
    assert points(gain) == text


@pytest.mark.parametrize(
    ("conditions", "phase"),
    [
        ([], "Pending"),
        (pending("AnotherRunActive", "", NOW), "Pending"),
        (progressing("Planning", "", NOW), "Running"),
        (complete("ExecutionCompleted", "", NOW), "Succeeded"),
        (failed("EvictionFailed", "", NOW), "Failed"),
        ([*progressing("Evicting", "", NOW), *complete("ExecutionCompleted", "", NOW)[1:]], "Succeeded"),
        ([*complete("ExecutionCompleted", "", NOW), *failed("ReconcileFailed", "", NOW)[1:]], "Failed"),
    ],
)
def test_the_phase_follows_from_the_conditions(conditions: list[Condition], phase: str) -> None:
    assert phase_of(conditions) == phase


def test_a_transition_time_moves_only_with_the_status() -> None:
    planning = progressing("Planning", "planning", NOW)
    evicting = progressing("Evicting", "evicting", LATER, planning)
    assert (evicting[0].reason, evicting[0].last_transition_time) == ("Evicting", NOW)
    ended = complete("ExecutionCompleted", "done", LATER, evicting)
    assert [c.last_transition_time for c in ended] == [LATER, LATER]


def test_start_and_completion_are_written_once() -> None:
    waiting = advance(None, pending("AnotherRunActive", "waits", NOW), NOW)
    assert (waiting.phase, waiting.start_time, waiting.completion_time) == ("Pending", "", "")
    running = advance(waiting, progressing("Planning", "plans", LATER), LATER)
    assert (running.phase, running.message, running.start_time) == ("Running", "plans", LATER)
    ended = advance(running, failed("EvictionFailed", "failed", "2026-07-30T11:00:00Z"), "2026-07-30T11:00:00Z")
    again = advance(ended, ended.conditions, "2026-07-30T12:00:00Z")
    assert (again.start_time, again.completion_time) == (LATER, "2026-07-30T11:00:00Z")
