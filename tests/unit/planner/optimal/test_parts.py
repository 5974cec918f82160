"""The parts that stand by themselves: knapsacks, units, the solver's rounding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.errors import InvalidInput
from repack_gitops.model.options import PlannerOptions
from repack_gitops.planner.optimal import amounts
from repack_gitops.planner.optimal.amounts import sound_columns
from repack_gitops.planner.optimal.knapsack import fullest, nested
from repack_gitops.planner.optimal.program import Program
from repack_gitops.planner.optimal.solver import Solver
from repack_gitops.planner.problem import Problem
from tests.unit.planner.build import GPU, cluster, node, plan, pod, spec


@given(st.sets(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 40))
def test_the_fullest_sum_is_what_trying_finds(sizes: set[int], limit: int) -> None:
    reached = {0}
    for total in range(1, limit + 1):
        if any(total - size in reached for size in sizes):
            reached.add(total)
    assert fullest(tuple(sorted(sizes)), limit) == max(reached)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((1, 2, 4, 8), True), ((2, 6), True), ((3,), True), ((2, 3), False), ((1, 3, 4), False), ((0, 1), False)],
)
def test_sizes_that_divide_each_other_nest(sizes: tuple[int, ...], expected: bool) -> None:
    assert nested(sizes) is expected


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=5), st.integers(1, 50), st.integers(0, 10**9))
def test_what_fits_in_truth_fits_in_units(requests: list[int], most: int, spare: int) -> None:
    asks = [{GPU: 1000, "memory": r} for r in requests]
    pods = [pod(f"p{i}", "a", 1, requests=a, template=a) for i, a in enumerate(asks)]
    held = pod("r", "r", 1, requests={GPU: 1000}, template={GPU: 1000}, owner=None)
    room = {GPU: 64_000, "cpu": 1000, "memory": sum(requests) + spare, "pods": 1000}
    snapshot = cluster([node("a", allocatable={**room, "memory": sum(requests)}), node("r", allocatable=room)], [*pods, held])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amounts, "MOST_UNITS", most)
        problem = Problem(snapshot, spec(), PlannerOptions())
        memory = next(c for c in sound_columns(problem) if c.name == "memory")
    assert int(memory.room.max()) <= most
    assert sum(int(memory.requests[v.pod_class]) for v in problem.victims[0]) <= memory.room[1]


def test_a_bound_is_the_next_whole_number_below_what_the_solver_is_sure_of() -> None:
    """Two of three columns at most, each worth one and a bit less than nothing: the optimum is -2."""
    program = Program()
    columns = [program.column(1) for _ in range(3)]
    program.at_most(dict.fromkeys(columns, 2), 5)
    found = Solver(program).minimise(dict.fromkeys(columns, -1))
    assert found.bound == -2
    assert found.values is not None
    assert round(float(found.values.sum())) == 2


def test_a_program_without_a_solution_has_none() -> None:
    program = Program()
    column = program.column(1)
    program.equal({column: 2}, 1)
    found = Solver(program).minimise({column: 1})
    assert found.values is None


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Magic"):
        plan(cluster([node("a"), node("b")], [pod("a", "a", 1), pod("b", "b", 1)]), options=PlannerOptions(strategy="Magic"))
