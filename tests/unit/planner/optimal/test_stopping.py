"""A search that is stopped, at whatever question, gives a whole plan, true bounds, and says that it was stopped."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import msgspec
import pytest

from bench.shapes import shaped
from repack_gitops.model.plan import Code, Evaluation, Frontier, Verdict
from repack_gitops.model.status import plan_status
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from repack_gitops.planner.watch import Watch
from tests.unit.planner.brute_force import most_freed
from tests.unit.planner.build import DRAIN, layout, spec
from tests.unit.planner.optimal.cases import OPTIMAL, Question, fragmented
from tests.unit.planner.replay import replay_fits

SEEDS = range(7_000, 7_018)
STOPPED = "the search was stopped before its end"


class StopsAt(Watch):
    """Says stop once, at the ``number``-th question, and never again; None: never."""

    def __init__(self, number: int | None = None) -> None:
        self._number, self.asked, self.said = number, 0, False
        self.told: list[tuple[int, int]] = []
        self.phases: list[str] = []

    def entered(self, phase: str) -> None:
        self.phases.append(phase)

    def found(self, freed: int, upper_bound: int) -> None:
        self.told.append((freed, upper_bound))

    def stop(self) -> bool:
        self.asked += 1
        said = self.asked == self._number
        self.said |= said
        return said


class StopsIn(StopsAt):
    """Says stop at the ``number``-th question in a phase."""

    def __init__(self, phase: str, number: int) -> None:
        super().__init__(number)
        self._phase = phase

    def stop(self) -> bool:
        return self.phases[-1:] == [self._phase] and super().stop()


def with_frontier(question: Question) -> Question:
    return replace(question, options=replace(question.options, frontier=True))


def larger(shape: str) -> Question:
    return Question(shape, shaped(shape, 60), spec(), OPTIMAL)


def some(first: int, last: int) -> list[int]:
    """Return at most a few dozen of the numbers, the first and the last among them."""
    return sorted({*range(first, last, (last - first) // 24 + 1), last})


def asked(question: Question, watch: Watch) -> Evaluation:
    return evaluate(question.snapshot, question.spec, question.options, watch)


def questions_in(question: Question) -> int:
    """Return how often a search that is never stopped asks, after checking that asking changes nothing."""
    watch = StopsAt()
    assert repr(asked(question, watch)) == repr(question.answer())
    return watch.asked


def check(question: Question, number: int, most: int | None) -> Evaluation:
    """Check the evaluation of a search that is stopped at question ``number``; ``most`` nodes can be freed at best."""
    watch = StopsAt(number)
    evaluation = asked(question, watch)
    label = f"{question.label}, stopped at question {number}"
    assert watch.said, label
    assert verify(question.snapshot, question.spec, evaluation, question.options) == (), label
    assert replay_fits(question.snapshot, evaluation), label
    assert not evaluation.reproducible, label
    assert sum(STOPPED in warning for warning in plan_status(evaluation).warnings) == 1, label
    if evaluation.optimality is not None:
        known = evaluation.optimality
        assert not known.reproducible, label
        assert known.freed <= known.upper_bound, label
        assert most is None or known.upper_bound >= most, label
        assert not known.proven or most in (None, known.freed), label
    if evaluation.frontier is not None:
        check_frontier(evaluation.frontier, label)
    return evaluation


def check_frontier(frontier: Frontier, label: str) -> None:
    for axis in (frontier.pod_groups, frontier.cards):
        freed = [point.freed for point in axis]
        assert freed == sorted(freed), label
        assert all(point.freed <= point.upper_bound for point in axis), label


@pytest.mark.parametrize("seed", SEEDS)
def test_every_question_of_small_clusters(seed: int) -> None:
    question = with_frontier(fragmented(seed, related=0.1))
    most = most_freed(question.snapshot, question.spec, question.options)
    for number in range(1, questions_in(question) + 1):
        check(question, number, most)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_question_of_drain(seed: int) -> None:
    question = fragmented(seed).by("Drain")
    whole = question.answer()
    for number in range(1, questions_in(question) + 1):
        evaluation = check(question, number, None)
        # What was found until then is the beginning of the whole plan: no node is half empty.
        if evaluation.steps:
            assert evaluation.steps == whole.steps[: number - 1]


@pytest.mark.parametrize("shape", ["ample", "tight", "odd"])
def test_questions_of_larger_clusters(shape: str) -> None:
    question = larger(shape)
    known = question.answer().optimality
    assert known is not None
    for number in some(1, questions_in(question)):
        # No plan frees more than the bound of the whole search, and at least what it found is possible.
        found = check(question, number, known.freed).optimality
        assert found is not None
        assert found.freed <= known.upper_bound


def test_the_solver_interrupted_in_the_middle() -> None:
    question = Question("tight", shaped("tight", 100), spec(pod_groups=25), OPTIMAL)
    whole = question.answer()
    best = whole.optimality
    assert best is not None
    assert best.proven
    for phase, number in product(("Most nodes freed", "Fewest PodGroups", "Fewest breaches"), (1, 2, 4)):
        watch = StopsIn(phase, number)
        evaluation = asked(question, watch)
        assert watch.said is not evaluation.reproducible
        assert watch.said or number > 2
        assert verify(question.snapshot, question.spec, evaluation, question.options) == ()
        known = evaluation.optimality
        assert known is not None
        assert known.freed <= best.freed <= known.upper_bound
        if "podGroups" in known.settled:
            assert evaluation.disruption.pod_groups == whole.disruption.pod_groups


def test_questions_of_the_frontier() -> None:
    question = with_frontier(larger("ample"))
    whole, plan, total = larger("ample").answer(), questions_in(larger("ample")), questions_in(question)
    assert total > plan
    for number in some(plan + 1, total):
        evaluation = check(question, number, None)
        assert evaluation.steps == whole.steps
        assert evaluation.frontier is None  # with points missing it would tell the wrong story


@pytest.mark.parametrize("strategy", ["Drain", "Optimal"])
def test_one_who_never_says_stop_changes_nothing(strategy: str) -> None:
    for question in (larger("ample"), *map(fragmented, SEEDS)):
        own = question.by(strategy)
        evaluation = asked(own, StopsAt())
        assert repr(evaluation) == repr(own.answer())
        assert evaluation.reproducible
        assert evaluation.optimality is None or evaluation.optimality.reproducible
        assert not any(STOPPED in warning for warning in evaluation.warnings)
        assert msgspec.json.encode(plan_status(evaluation)) == msgspec.json.encode(plan_status(own.answer()))


def test_what_is_told_only_gets_better() -> None:
    watch = StopsAt()
    evaluation = asked(larger("ample"), watch)
    assert watch.phases[:2] == ["Strategy Drain", "Most nodes freed"]
    assert evaluation.optimality is not None
    assert watch.told[-1] == (evaluation.optimality.freed, evaluation.optimality.upper_bound)
    assert [freed for freed, _ in watch.told] == sorted(freed for freed, _ in watch.told)
    assert [bound for _, bound in watch.told] == sorted((bound for _, bound in watch.told), reverse=True)
    assert watch.told[0][0] > 0


def test_nodes_that_had_no_turn_say_so() -> None:
    """Nodes that could still be freed claim no reason that is not true of them."""
    snapshot = layout((2,) * 6)
    evaluation = evaluate(snapshot, spec(), DRAIN, StopsAt(2))
    assert (evaluation.verdict, len(evaluation.steps)) == (Verdict.RECOMMENDED, 1)
    stays = {node: stay.code for node, stay in evaluation.stays.items()}
    assert Code.SEARCH_STOPPED in stays.values()
    whole = evaluate(snapshot, spec(), DRAIN)
    for node, code in stays.items():
        assert (code is Code.SEARCH_STOPPED) or whole.stays[node].code is code
    assert Code.SEARCH_STOPPED not in {stay.code for stay in whole.stays.values()}


def test_stopped_at_once_there_is_no_plan_and_no_false_reason() -> None:
    evaluation = evaluate(layout((2,) * 6), spec(), DRAIN, StopsAt(1))
    assert (evaluation.verdict, evaluation.steps) == (Verdict.INSUFFICIENT, ())
    assert {stay.code for stay in evaluation.stays.values()} == {Code.SEARCH_STOPPED}


def test_what_needs_no_search_cannot_be_stopped() -> None:
    watch = StopsAt(1)
    evaluation = evaluate(layout((8,)), spec(), watch=watch)
    assert (evaluation.verdict, evaluation.reproducible, watch.asked) == (Verdict.NO_FRAGMENTATION, True, 0)
