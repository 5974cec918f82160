"""The rules every strategy and the judge share: who may be emptied, who receives, what is idle, what a run may spend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repack_gitops.model.cluster import ClusterSnapshot, HostPort, Node, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.scope import ScopeFilter


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard limits of a run; None is no cap."""

    pod_groups: int | None
    cards: int | None


def why_not_candidate(
    node: Node, pods: Sequence[Pod], scope: ScopeFilter, movability: Movability, options: PlannerOptions
) -> Reason | None:
    """Return why ``node``, whose pods with the target resource are ``pods``, may not be emptied, or None."""
    allowed = options.envelope.nodes
    if allowed is not None and node.name not in allowed:
        return Reason(Code.NODE_OUT_OF_SCOPE, "the approved plan does not free it")
    if not scope.node(node):
        return Reason(Code.NODE_OUT_OF_SCOPE, "scope.nodes leaves it out")
    if not node.ready:
        return Reason(Code.NODE_NOT_READY, "not Ready, so emptying it frees nothing that can be used")
    if node.do_not_disrupt:
        return Reason(Code.DO_NOT_DISRUPT, f"the node has the annotation {node.do_not_disrupt}")
    for pod in pods:
        reason = movability.why_not(pod)
        if reason is not None:
            return reason
    return None


def budget_of(spec: RunTemplateSpec, options: PlannerOptions) -> Budget:
    """Return the run's budget, tightened by the envelope."""
    limits = spec.max_per_run
    cards = limits.resources.get(spec.goals[0].resource) if limits else None
    capped = [c for c in (cards, options.envelope.cards) if c is not None]
    return Budget(limits.pod_groups if limits else None, min(capped) if capped else None)


def room_holders(snapshot: ClusterSnapshot) -> dict[str, list[Pod]]:
    """Return the pods that hold room on every node: active ones that run there, or wait for it by nomination."""
    found: dict[str, list[Pod]] = {n.name: [] for n in snapshot.nodes}
    for pod in snapshot.pods:
        node = pod.node or pod.nominated_node
        if pod.active and node in found:
            found[node].append(pod)
    return found


def idle_amounts(snapshot: ClusterSnapshot) -> dict[str, dict[str, int]]:
    """Return what is idle per node, in thousandths: allocatable less what the pods that hold room there ask for.

    Negative where a node is charged more than it has (its allocatable shrank).
    """
    idle = {n.name: dict(n.allocatable) for n in snapshot.nodes}
    for name, pods in room_holders(snapshot).items():
        amounts = idle[name]
        for pod in pods:
            for resource, amount in pod.requests.items():
                amounts[resource] = amounts.get(resource, 0) - amount
    return idle


def receives_at_all(node: Node, pods: Sequence[Pod], resource: str) -> bool:
    """Tell whether ``node`` is a receiver at all: it keeps a pod with the resource that is not on its way out."""
    return node.allocatable.get(resource, 0) > 0 and any(p.requests.get(resource, 0) > 0 and not p.terminating for p in pods)


def host_ports(pods: Sequence[Pod]) -> frozenset[HostPort]:
    """Return the host ports that ``pods`` hold."""
    return frozenset(port for p in pods for port in p.constraints.host_ports)
