"""Why occupied nodes stay: the same values that decided, in words."""

from __future__ import annotations

import numpy as np

from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.quantity import format_quantity
from repack_gitops.planner.drain import DrainResult
from repack_gitops.planner.problem import Problem


def why_nodes_stay(problem: Problem, result: DrainResult) -> dict[str, Reason]:
    """Return the reason of every occupied node that ``result`` does not free, by name, sorted."""
    freed = {s.node for s in result.steps}
    receiving = {m.to_node for s in result.steps for m in s.moves}
    stays = {}
    for i, node in enumerate(problem.nodes):
        if not problem.occupied[i] or node.name in freed:
            continue
        if i in problem.blocked:
            stays[node.name] = problem.blocked[i]
        elif node.name in receiving:
            stays[node.name] = Reason(Code.RECEIVES, "it takes pods of this plan")
        elif i in result.over_budget:
            stays[node.name] = Reason(Code.BUDGET_EXCEEDED, _budget(problem))
        elif i in result.over_quota:
            stays[node.name] = result.over_quota[i]
        else:
            stays[node.name] = _no_receiver(problem, result, i)
    return stays


def _budget(problem: Problem) -> str:
    caps = []
    if problem.budget.pod_groups is not None:
        caps.append(f"{problem.budget.pod_groups} PodGroups")
    if problem.budget.cards is not None:
        caps.append(f"{problem.budget.cards} cards")
    return f"emptying it would exceed maxPerRun ({', '.join(caps)})"


def _no_receiver(problem: Problem, result: DrainResult, node: int) -> Reason:
    for victim in problem.victims[node]:
        flags = result.occupancy.fits(victim.pod_class)
        flags[node] = False
        if not flags.any():
            return _refusals(problem, result, victim.pod_class, node)
    return Reason(Code.NO_RECEIVER, "each of its pods fits somewhere, but not all together")


def _refusals(problem: Problem, result: DrainResult, pod_class: int, node: int) -> Reason:
    """Say, filter by filter, what closes every receiver but the node itself to a class."""
    occupancy, found = result.occupancy, []
    asked = format_quantity(problem.classes[pod_class].template.get(problem.resource, 0))
    open_nodes = occupancy.receives.copy()
    open_nodes[node] = False
    total = int(open_nodes.sum())
    static = open_nodes & ~problem.may_host(pod_class)
    if static.any():
        found.append(f"{int(static.sum())} by node constraints")
    open_nodes &= ~static
    for column, name in enumerate(problem.columns):
        short = open_nodes & (occupancy.idle[column] < problem.requests[pod_class][column])
        if short.any():
            found.append(f"{int(short.sum())} lack {name}")
        open_nodes &= ~short
    if open_nodes.any() and problem.classes[pod_class].demands.constraints.host_ports:
        found.append(f"{int(np.count_nonzero(open_nodes))} by host ports")
    why = f" ({', '.join(found)})" if found else ""
    detail = f"no room for a pod of {asked} cards on the {total} other occupied nodes{why}"
    return Reason(Code.NO_RECEIVER, detail)
