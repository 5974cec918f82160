"""From what the model chooses to a plan: places for everybody, an order, and whatever else still fits."""

from __future__ import annotations

from repack_gitops.planner.drain import DrainResult, drain
from repack_gitops.planner.optimal.aggregation import Aggregation
from repack_gitops.planner.optimal.joint_room import JointRoom
from repack_gitops.planner.optimal.objective import score
from repack_gitops.planner.optimal.packing import Packing
from repack_gitops.planner.optimal.relaxation import Relaxed
from repack_gitops.planner.optimal.sequence import carry_out
from repack_gitops.planner.plan_state import PlanState
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.watch import Watch


class Attempt:
    """A plan; ``given_up`` are nodes whose pods other pods left no place."""

    def __init__(self, problem: Problem, result: DrainResult, given_up: tuple[int, ...] = ()) -> None:
        self.result, self.given_up = result, given_up
        self.score = score(problem.groups, problem.shares, nodes_of(problem, result))


def attempt(problem: Problem, aggregation: Aggregation, relaxed: Relaxed, watch: Watch) -> Attempt:
    """Return the plan made from ``relaxed``."""
    state = PlanState(problem)
    given_up = carry_out(problem, reserve(problem, aggregation, state, relaxed, watch), state)
    return Attempt(problem, drain(problem, state, watch), given_up)


def nodes_of(problem: Problem, result: DrainResult) -> list[int]:
    """Return the nodes that a plan empties, in its order."""
    return [problem.index[step.node] for step in result.steps]


def reserve(problem: Problem, aggregation: Aggregation, state: PlanState, relaxed: Relaxed, watch: Watch) -> Packing:
    """Return places for the pods of the chosen nodes, of which some may have been dropped."""
    room = JointRoom(problem, state.occupancy, [column.name for column in aggregation.binding])
    packing = Packing(problem, aggregation, room, relaxed.chosen, watch)
    packing.run(relaxed.flows)
    return packing
