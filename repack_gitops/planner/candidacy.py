"""The rules every strategy and the judge share: who may be emptied, who receives, what is idle, what a run may spend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repack_gitops.model.cluster import ClusterSnapshot, HostPort, Node, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.feasibility import sibling_devices
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.scope import ScopeFilter


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard limits of a run; None is no cap."""

    pod_groups: int | None
    cards: int | None


@dataclass(frozen=True, slots=True)
class Candidacy:
    """The rules for nodes to be emptied of ``resource``."""

    resource: str
    scope: ScopeFilter
    movability: Movability
    options: PlannerOptions

    def why_not(self, node: Node, residents: Sequence[Pod]) -> Reason | None:
        """Return why ``node``, on which the active pods ``residents`` run, may not be emptied, or None."""
        allowed = self.options.envelope.nodes
        if allowed is not None and node.name not in allowed:
            return Reason(Code.NODE_OUT_OF_SCOPE, "the approved plan does not free it")
        if not self.scope.node(node):
            return Reason(Code.NODE_OUT_OF_SCOPE, "scope.nodes leaves it out")
        if not node.ready:
            return Reason(Code.NODE_NOT_READY, "not Ready, so emptying it frees nothing that can be used")
        if node.do_not_disrupt:
            return Reason(Code.DO_NOT_DISRUPT, f"the node has the annotation {node.do_not_disrupt}")
        return sibling_devices.why_not(node, residents) or self._stuck(residents)

    def _stuck(self, residents: Sequence[Pod]) -> Reason | None:
        victims = (pod for pod in residents if pod.requests.get(self.resource, 0) > 0)
        return next((reason for pod in victims if (reason := self.movability.why_not(pod)) is not None), None)


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
    """Tell whether ``node``, with active ``pods`` bound to it, is a receiver at all.

    It keeps a pod with the resource that is not on its way out, and none with shares of its cards.
    """
    stays = any(p.requests.get(resource, 0) > 0 and not p.terminating for p in pods)
    return stays and node.allocatable.get(resource, 0) > 0 and sibling_devices.why_not(node, pods) is None


def host_ports(pods: Sequence[Pod]) -> frozenset[HostPort]:
    """Return the host ports that ``pods`` hold."""
    return frozenset(port for p in pods for port in p.constraints.host_ports)
