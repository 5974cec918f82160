"""A snapshot and a spec as arrays: providing nodes by index, pod classes, victims, budgets.

Amounts in arrays are 64-bit integers. A resource whose thousandths would not fit is scaled down, requests rounded up
and idle amounts rounded down, so that a fit in the arrays is always a fit in truth; ``verify`` judges with exact numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from repack_gitops.model.cluster import Amounts, ClusterSnapshot, Key, Node, Pod
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Reason
from repack_gitops.model.quantity import whole
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner.attachments import attachable_amounts, attached_amounts, is_attachable
from repack_gitops.planner.candidacy import Candidacy, budget_of, idle_amounts
from repack_gitops.planner.disruption import GroupFacts, Share, group_facts
from repack_gitops.planner.feasibility import node_resources_fit
from repack_gitops.planner.feasibility.static import NodeDemands
from repack_gitops.planner.movability import Movability
from repack_gitops.planner.node_profiles import NodeProfiles
from repack_gitops.planner.quota_rules import quota_rules
from repack_gitops.planner.scope import ScopeFilter

Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
_LIMIT = 2**55


@dataclass(frozen=True, slots=True)
class Victim:
    """A pod that would leave its node: its class, its PodGroup's index, its whole cards."""

    pod: Pod
    pod_class: int
    group: int
    cards: int


@dataclass(frozen=True, slots=True)
class PodClass:
    """Pods that ask for the same and, as far as other pods do not matter, may go to the same nodes.

    ``template`` holds what they ask for, and how many volumes of each CSI driver they attach.
    """

    template: Amounts
    demands: NodeDemands


class Problem:
    """Everything a search needs, and nothing it may change."""

    def __init__(self, snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions) -> None:
        self.snapshot, self.options = snapshot, options
        self.resource = spec.goals[0].resource
        self.scope = ScopeFilter(spec.scope)
        self.movability = Movability(snapshot, self.scope, options)
        self.budget = budget_of(spec, options)
        self.quota_rules = quota_rules(snapshot, self.movability, options)
        self.nodes: tuple[Node, ...] = tuple(n for n in snapshot.nodes if n.allocatable.get(self.resource, 0) > 0)
        self.index: Mapping[str, int] = {n.name: i for i, n in enumerate(self.nodes)}
        self.blocked: dict[int, Reason] = {}
        self.victims: list[tuple[Victim, ...]] = [()] * len(self.nodes)
        self.classes: list[PodClass] = []
        self.groups: list[GroupFacts] = []
        self._class_index: dict[object, int] = {}
        self._group_index: dict[Key, int] = {}
        self.occupied: Flags = np.zeros(len(self.nodes), dtype=bool)
        self._read_nodes()
        self.columns: tuple[str, ...] = self._columns()
        self.idle, self.requests = self._amounts()
        self.profiles = NodeProfiles(self.nodes)
        self._static: dict[NodeDemands, Flags] = {}

    # ---- candidates and victims ----
    def _read_nodes(self) -> None:
        candidacy = Candidacy(self.resource, self.scope, self.movability, self.options)
        for i, node in enumerate(self.nodes):
            pods = [p for p in self.snapshot.pods_by_node[node.name] if p.requests.get(self.resource, 0) > 0]
            self.occupied[i] = bool(pods)
            if not pods:
                continue
            residents = self.snapshot.pods_by_node[node.name]
            reason = candidacy.why_not(node, residents)
            if reason is None:
                self.victims[i] = tuple(sorted((self._victim(p) for p in pods), key=self._size))
            else:
                self.blocked[i] = reason

    def _victim(self, pod: Pod) -> Victim:
        group = (pod.namespace, pod.pod_group or "")
        return Victim(pod, self._class(pod), self._group(group), whole(pod.requests.get(self.resource, 0)))

    def _class(self, pod: Pod) -> int:
        demands = self.movability.demands(pod)
        volumes = attached_amounts(pod, self.snapshot.storage)
        key = (id(pod.template), id(demands), volumes)  # both are shared objects: see model.decode_pod
        if key not in self._class_index:
            template = {**pod.template, **dict(volumes)}
            exact = (tuple(sorted(template.items())), demands)
            if exact not in self._class_index:
                self._class_index[exact] = len(self.classes)
                self.classes.append(PodClass(template, demands))
            self._class_index[key] = self._class_index[exact]
        return self._class_index[key]

    def _group(self, key: Key) -> int:
        if key not in self._group_index:
            self._group_index[key] = len(self.groups)
            self.groups.append(group_facts(self.snapshot, key, self.resource))
        return self._group_index[key]

    def _size(self, victim: Victim) -> tuple[bool, int, int, int, Key]:
        """Largest request first; ties by cpu, memory, then name. A pod that wants to join others comes after them."""
        template = victim.pod.template
        amounts = (self.resource, "cpu", "memory")
        large, cpu, memory = (-template.get(name, 0) for name in amounts)
        return (bool(victim.pod.relations.affinity), large, cpu, memory, victim.pod.key)

    @cached_property
    def shares(self) -> list[tuple[Share, ...]]:
        """Every node's victims by PodGroup."""
        found = []
        for victims in self.victims:
            by_group: dict[int, tuple[int, int]] = {}
            for v in victims:
                pods, cards = by_group.get(v.group, (0, 0))
                by_group[v.group] = (pods + 1, cards + v.cards)
            found.append(tuple(Share(g, pods, cards) for g, (pods, cards) in by_group.items()))
        return found

    # ---- amounts ----
    def _columns(self) -> tuple[str, ...]:
        names = {name for c in self.classes for name in c.template} | node_resources_fit.ALWAYS
        return (self.resource, *sorted(names - {self.resource}))

    def _amounts(self) -> tuple[Whole, Whole]:
        """Return idle, shape (columns, nodes), and requests, shape (classes, columns)."""
        idle = idle_amounts(self.snapshot)
        drivers = [c for c in self.columns if is_attachable(c)]
        for name, amounts in attachable_amounts(self.snapshot, drivers).items():
            idle[name].update(amounts)
        exact_idle = [[idle[n.name].get(c, 0) for n in self.nodes] for c in self.columns]
        exact_requests = [[c.template.get(name, 0) for c in self.classes] for name in self.columns]
        #: By column: how many thousandths one unit of the arrays stands for.
        self.scales: list[int] = []
        rows, columns = [], []
        for have, want in zip(exact_idle, exact_requests, strict=True):
            scale = _scale(have, want)
            self.scales.append(scale)
            rows.append([v // scale for v in have])
            columns.append([-(-v // scale) for v in want])
        shape = (len(self.columns), len(self.nodes))
        requests = np.array(columns, dtype=np.int64).reshape(len(self.columns), len(self.classes)).T
        return np.array(rows, dtype=np.int64).reshape(shape), np.ascontiguousarray(requests)

    # ---- static filters ----
    def may_host(self, pod_class: int) -> Flags:
        """Return which nodes pass every filter that does not depend on the plan; cached by demands."""
        demands = self.classes[pod_class].demands
        if demands not in self._static:
            self._static[demands] = self.profiles.passing(demands)
        return self._static[demands]


def _scale(have: Sequence[int], want: Sequence[int]) -> int:
    scale, largest = 1, max((abs(v) for v in (*have, *want)), default=0)
    while largest // scale > _LIMIT:
        scale *= 1000
    return scale
