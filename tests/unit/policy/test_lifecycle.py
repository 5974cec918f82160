"""What to do about a policy's pull request: every combination has exactly one answer, and the rules that no answer breaks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from repack_gitops.policy.lifecycle import Close, Keep, Leave, Nothing, Open, OpenRequest, Situation, Update, decide

FLAGS = (False, True)


def requests() -> Iterator[OpenRequest | None]:
    yield None
    for digest, human, held, queue, expired in product(("d1", "old", ""), FLAGS, FLAGS, FLAGS, FLAGS):
        yield OpenRequest(7, digest, human_commits=human, held=held, in_merge_queue=queue, expired=expired)


def situations() -> Iterator[Situation]:
    """Every combination of what the decision looks at: 2 x 2 x 2 x 2 x 2 x 49."""
    for digest, blocked, flight, rejected, recorded, request in product(
        (None, "d1"), ("", "cards"), ("", "run-1"), FLAGS, FLAGS, list(requests())
    ):
        verdict = "RepackRecommended" if digest else "NoFragmentation"
        yield Situation(digest, verdict, blocked, flight, rejected, request, recorded)


ALL = list(situations())


def test_every_situation_has_an_answer_of_the_right_kind() -> None:
    assert len(ALL) == 2 * 2 * 2 * 2 * 2 * 49
    for now in ALL:
        action = decide(now)
        assert isinstance(action, Open | Nothing | Update | Keep | Leave | Close)
        if now.open is None:
            assert isinstance(action, Open | Nothing), now
        else:
            assert not isinstance(action, Open), now
        if isinstance(action, Update | Keep | Leave | Close):
            assert action.number == 7


def test_the_same_question_has_the_same_answer() -> None:
    assert [decide(now) for now in ALL] == [decide(now) for now in situations()]


def test_what_belongs_to_humans_is_left_alone() -> None:
    for now in ALL:
        if now.open is not None and (now.open.human_commits or now.open.held or now.open.in_merge_queue):
            assert isinstance(decide(now), Leave | Nothing), now


def test_nothing_is_pushed_while_the_plan_is_the_same() -> None:
    for now in ALL:
        if now.open is not None and now.open.digest == now.digest:
            assert not isinstance(decide(now), Update | Open), now


def test_nothing_that_guardrails_forbid_is_proposed() -> None:
    for now in ALL:
        if now.blocked:
            assert not isinstance(decide(now), Open | Update | Keep), now


def test_nothing_is_proposed_beside_a_run_in_flight() -> None:
    for now in ALL:
        if now.in_flight:
            assert not isinstance(decide(now), Open | Update | Keep), now


def test_a_rejected_plan_is_not_proposed_again() -> None:
    """Neither as a new pull request nor by updating one that stands for another plan, nor in the place of an expired one."""
    for now in ALL:
        action = decide(now)
        if now.rejected and (now.open is None or now.open.digest != now.digest):
            assert not isinstance(action, Open | Update), now
        if now.rejected:
            assert not (isinstance(action, Close) and action.reopen), now


def test_nothing_recommended_is_never_proposed() -> None:
    for now in ALL:
        if now.digest is None:
            assert isinstance(decide(now), Nothing | Leave | Close), now


def test_reopened_only_where_a_new_one_could_be_opened() -> None:
    for now in ALL:
        action = decide(now)
        if isinstance(action, Close) and action.reopen:
            alone = Situation(now.digest, now.verdict, now.blocked, now.in_flight, now.rejected)
            assert isinstance(decide(alone), Open), now


OURS = OpenRequest(7, "old", human_commits=False, held=False, in_merge_queue=False, expired=False)
SAME = OpenRequest(7, "d1", human_commits=False, held=False, in_merge_queue=False, expired=False)
EXPIRED = OpenRequest(7, "d1", human_commits=False, held=False, in_merge_queue=False, expired=True)


def test_a_request_whose_run_is_merged_already_is_closed() -> None:
    for now in ALL:
        if now.recorded and now.open is not None:
            assert isinstance(decide(now), Close | Leave | Nothing), now


@pytest.mark.parametrize(
    ("now", "action"),
    [
        (Situation("d1", "v"), Open()),
        (Situation(None, "compact already"), Nothing("compact already")),
        (Situation("d1", "v", in_flight="r"), Nothing("run r is approved and not finished")),
        (Situation("d1", "v", blocked="9 cards"), Nothing("guardrails forbid it: 9 cards")),
        (
            Situation("d1", "v", rejected=True),
            Nothing("this plan was rejected: its pull request was closed unmerged"),
        ),
        (Situation("d1", "v", open=OURS), Update(7)),
        (Situation("d1", "v", open=SAME), Keep(7)),
        (Situation("d1", "v", open=EXPIRED), Close(7, "expired: its plan is older than maxPlanAge", reopen=True)),
        (Situation(None, "compact", open=OURS), Close(7, "no longer recommended: compact")),
        (Situation("d1", "v", blocked="9 cards", open=SAME), Close(7, "guardrails forbid it: 9 cards")),
        (Situation("d1", "v", in_flight="r", open=SAME), Close(7, "superseded: run r is approved and not finished")),
        (Situation("d1", "v", rejected=True, open=SAME), Keep(7)),
        (
            Situation("d1", "v", rejected=True, open=OURS),
            Close(7, "superseded: what the planner finds now is a plan that was rejected"),
        ),
    ],
)
def test_answers(now: Situation, action: object) -> None:
    assert decide(now) == action
