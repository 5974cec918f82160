"""The shrinker, on differences that are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.real.agreement.case import Case
from tests.real.agreement.generator import case_of
from tests.real.agreement.shrinker import removable, shrink, without


def batches(wrong: Callable[[Case], bool], seen: list[int]) -> Callable[[Sequence[Case]], list[bool]]:
    """Return an artificial scheduler that disagrees where ``wrong`` says so."""

    def persists(cases: Sequence[Case]) -> list[bool]:
        seen.append(len(cases))
        return [wrong(case) for case in cases]

    return persists


def has_gpu_resident(case: Case) -> bool:
    """Two things far apart: a resident on n1, and a toleration of the probe."""
    on_n1 = any(r["spec"].get("nodeName") == "n1-%" for r in case.residents)
    return on_n1 and "tolerations" in case.probe["spec"]


def test_only_the_cause_is_left() -> None:
    case = next(c for c in map(case_of, range(1000)) if has_gpu_resident(c) and len(c.residents) > 3)
    seen: list[int] = []
    small = shrink(case, batches(has_gpu_resident, seen))
    assert has_gpu_resident(small)
    assert [n["metadata"]["name"] for n in small.nodes] == ["n1-%"]
    assert len(small.residents) == 1
    assert set(small.residents[0]["spec"]) == {"nodeName"}
    assert small.probe["spec"] == {"tolerations": []}
    assert small.others == ()
    assert len(seen) < 30


def test_nothing_can_go_from_a_minimal_case() -> None:
    case = next(c for c in map(case_of, range(1000)) if has_gpu_resident(c))
    small = shrink(case, batches(has_gpu_resident, []))
    assert not any(has_gpu_resident(without(small, [path])) for path in removable(small.parts()))


def test_a_difference_that_does_not_come_again_leaves_the_case_alone() -> None:
    case = case_of(7)
    assert shrink(case, batches(lambda _: False, [])) == case


def test_rounds_are_limited() -> None:
    seen: list[int] = []
    shrink(case_of(7), batches(lambda _: True, seen), limit=2)
    assert len(seen) <= 4


def test_a_pod_goes_with_its_node() -> None:
    """Or the snapshot would hold a pod on a node that is not there."""
    case = next(c for c in map(case_of, range(100)) if any(r["spec"].get("nodeName") == "n0-%" for r in c.residents))
    assert not [r for r in without(case, [("nodes", 0)]).residents if r["spec"].get("nodeName") == "n0-%"]


@pytest.mark.parametrize(
    "paths", [[("nodes", 0), ("nodes", 2)], [("nodes", 2), ("nodes", 0), ("nodes", 0, "metadata", "labels")]]
)
def test_several_things_go_at_once_and_in_any_order(paths: list[tuple[str | int, ...]]) -> None:
    case = case_of(3)
    names = [n["metadata"]["name"] for n in case.nodes]
    left = [n["metadata"]["name"] for n in without(case, paths).nodes]
    assert left == [name for number, name in enumerate(names) if number not in {0, 2}]
    assert [n["metadata"]["name"] for n in case.nodes] == names  # the case itself is as it was
