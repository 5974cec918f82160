"""How a run ended: the guide's order of decisions, and messages that say it all."""

from __future__ import annotations

from itertools import product

import pytest

from repack_gitops.model.run import EvictionPhase, EvictionStatus, PlacementPhase, PlacementStatus, Relocation
from repack_gitops.policy.ending import (
    LEFT,
    NOT_ATTEMPTED,
    Ending,
    Observed,
    attempted,
    ending_of,
    half_drained,
    left_by_itself,
    refused,
)

GPU = "nvidia.com/gpu"
E, P = EvictionPhase, PlacementPhase


def moved(
    name: str = "a",
    eviction: EvictionPhase = E.ACCEPTED,
    placement: PlacementPhase = P.PLACED,
    *,
    actual: str = "n5",
    planned: str = "n5",
    message: str = "",
) -> Relocation:
    return Relocation(
        namespace="team",
        pod_group_name=f"pg-{name}",
        victim_pod_name=name,
        planned_node_name=planned,
        eviction=EvictionStatus(phase=eviction, message=message),
        placement=PlacementStatus(phase=placement, actual_node_name=actual),
    )


def end(
    *relocations: Relocation, freed: tuple[str, ...] = ("n0",), planned: tuple[str, ...] = ("n0",), **seen: object
) -> Ending:
    observed = Observed(freed, seen.pop("verified", True), seen.pop("newly", ()), seen.pop("aborted", ""))  # type: ignore[arg-type]
    return ending_of(GPU, planned, relocations, observed, (38, 13))


def rejected(name: str = "a", message: str = "budget") -> Relocation:
    return moved(name, E.REJECTED, P.WAITING_FOR_REPLACEMENT, message=message)


def test_completed() -> None:
    assert end(moved(), moved("b")) == Ending(
        "Complete",
        "ExecutionCompleted",
        "Repack of nvidia.com/gpu completed: 2 replacement pods run, 1 planned node is verified free [n0]; "
        "fragmentation went from 38% to 13%.",
    )


def test_alternative_placement() -> None:
    found = end(moved(), moved("b", actual="n6"))
    assert (found.type, found.reason) == ("Complete", "ExecutionCompletedWithAlternativePlacement")
    assert "2 replacement pods run, 1 of them on another node than planned" in found.message


@pytest.mark.parametrize("aborted", ["", "stopped at node n0"])
def test_nothing_evicted(aborted: str) -> None:
    found = end(rejected(), rejected("b", "other"), aborted=aborted)
    assert found.reason == ("Aborted" if aborted else "EvictionFailed")
    assert "team/a: budget" in found.message
    assert found.message.startswith("Repack of nvidia.com/gpu failed: no eviction was accepted; ")


def test_a_refusal_explains_more_than_a_node_that_was_skipped() -> None:
    found = end(rejected("a", f"{NOT_ATTEMPTED}: node n0 was skipped"), rejected("b", "forbidden (HTTP 403)"))
    assert "team/b: forbidden (HTTP 403)" in found.message


def test_nothing_to_evict() -> None:
    assert "nothing was left to evict" in end().message


def test_stopped_before_the_first_node() -> None:
    message = end(moved(eviction=E.PENDING), aborted="stopped before node n0: none of windows.allow is open").message
    assert message.endswith("no eviction was accepted; stopped before node n0: none of windows.allow is open.")


def test_timed_out_comes_first() -> None:
    late = moved("late", placement=P.TIMED_OUT, actual="")
    found = end(late, moved(), freed=(), verified=False, newly=("n9",))
    assert found.reason == "PlacementTimedOut"
    assert "team/late" in found.message
    assert "team/a" not in found.message


def test_unverified_comes_before_the_benefit() -> None:
    assert end(moved(), freed=(), verified=False).reason == "ResultVerificationFailed"


@pytest.mark.parametrize(
    ("freed", "newly", "aborted", "reason"),
    [
        ((), (), "", "BenefitNotRealized"),
        (("n0",), ("n9",), "", "BenefitNotRealized"),
        (("n0", "n1"), ("n8", "n9"), "", "BenefitNotRealized"),
        (("n0",), ("n8", "n9"), "", "BenefitNotRealized"),
        ((), (), "stopped at node n1", "Aborted"),
        (("n0",), ("n9",), "stopped at node n1", "Aborted"),
        (("n0",), (), "", "PartiallyRealized"),
        (("n0",), (), "stopped at node n1", "PartiallyRealized"),
        (("n0", "n1"), ("n9",), "", "PartiallyRealized"),
        (("n0", "n1"), (), "", "ExecutionCompleted"),
    ],
)
def test_benefit(freed: tuple[str, ...], newly: tuple[str, ...], aborted: str, reason: str) -> None:
    found = end(moved(), freed=freed, planned=("n0", "n1"), newly=newly, aborted=aborted)
    assert found.reason == reason
    for name in newly:
        assert name in found.message
    if found.type == "Failed":
        assert all(name in found.message for name in ("n0", "n1") if name not in freed)
        assert aborted in found.message


def test_every_combination_has_one_ending() -> None:
    """Complete only where everything that was evicted runs, was verified, and every planned node was gained."""
    for placement, verified, freed, newly, aborted in product(
        (P.PLACED, P.TIMED_OUT, P.WAITING_FOR_REPLACEMENT, P.NOMINATED),
        (False, True),
        ((), ("n0",), ("n0", "n1")),
        ((), ("n9",)),
        ("", "stopped at node n1"),
    ):
        found = end(
            moved(placement=placement), freed=freed, planned=("n0", "n1"), verified=verified, newly=newly, aborted=aborted
        )
        good = placement is P.PLACED and verified and len(freed) == 2 and not newly
        assert (found.type == "Complete") == good
        assert found.message.endswith(".")
        assert ".." not in found.message


def test_many_names_are_cut() -> None:
    nodes = tuple(f"n{i}" for i in range(20))
    message = end(moved(), freed=(), planned=nodes).message
    assert "n7 and 12 more" in message
    assert "n8" not in message


@pytest.mark.parametrize(
    ("relocation", "expected"),
    [
        (moved(), (False, False, True)),
        (moved(eviction=E.INDIRECTLY_REMOVED), (False, False, True)),
        (moved(eviction=E.PENDING), (False, False, False)),
        (moved(eviction=E.IN_PROGRESS), (False, False, False)),
        (rejected(), (True, False, True)),
        (rejected(message=f"{NOT_ATTEMPTED}: node n0 was skipped, nothing evicted: budget"), (False, False, False)),
        (rejected(message=LEFT), (False, True, False)),
    ],
)
def test_kinds_of_rejection(relocation: Relocation, expected: tuple[bool, bool, bool]) -> None:
    assert (refused(relocation), left_by_itself(relocation), attempted(relocation)) == expected


@pytest.mark.parametrize(
    ("relocations", "half"),
    [
        ([], False),
        ([moved()], False),
        ([rejected()], False),
        ([moved(), rejected()], True),
        ([moved(eviction=E.INDIRECTLY_REMOVED), rejected()], True),
        ([moved(), rejected(message=LEFT)], False),
        ([rejected(), rejected(message=f"{NOT_ATTEMPTED}: node n0 can no longer be freed")], False),
    ],
)
def test_half_drained(relocations: list[Relocation], half: bool) -> None:
    assert half_drained(relocations) is half
