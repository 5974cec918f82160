"""What both schedulers make of many cases at once.

One round: nodes, residents and volumes; then a pending probe for Volcano, refused on every node, which shows where Volcano
would let it go; then one for kube-scheduler. Volcano is asked first because kube-scheduler really binds the probe of every
other case. The other cases are bound by Volcano. So half of the cases show that a node let through is also a node that
the scheduler places the pod on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from repack_gitops.model.cluster import ClusterSnapshot
from tests.real.agreement.api import Api
from tests.real.agreement.case import Case
from tests.real.agreement.extender import Key, Notes
from tests.real.agreement.oracle import take_snapshot
from tests.real.agreement.universe import KUBE, VOLCANO, Placed, Universe
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for

#: Sessions of Volcano that begin after everything it has to look at was there; the first may have begun before.
FRESH = 2
PATIENCE = 60


@dataclass
class Observed:
    """A case and what the schedulers made of it.

    Attributes
    ----------
    lets
        By scheduler: the nodes that its filters let through, as placed.
    bound
        By scheduler that was allowed to bind: the node asked for, and whether the probe got there.
    """

    placed: Placed
    lets: dict[str, frozenset[str]] = field(default_factory=dict)
    bound: dict[str, tuple[str, bool]] = field(default_factory=dict)


@dataclass
class Round:
    """Cases that were looked at together, and the cluster as we see it at that moment."""

    snapshot: ClusterSnapshot
    observed: list[Observed]


class Runner:
    """Runs cases on one control plane, ``universe.slots`` at a time."""

    def __init__(self, api: Api, universe: Universe, notes: Notes) -> None:
        self._api = api
        self._universe = universe
        self._notes = notes

    def run(self, cases: Iterable[Case]) -> Iterator[Round]:
        """Yield rounds until every case was looked at; cases that the API server refuses say so."""
        rest = iter(cases)
        while batch := list(islice(rest, self._universe.slots)):
            yield self._round(batch)

    def _round(self, cases: Sequence[Case]) -> Round:
        observed = [Observed(placed) for placed in self._universe.settle(cases)]
        self._look_with_volcano(observed)
        self._place_among_leaving(observed)
        snapshot = take_snapshot(self._api)
        self._look_with_kube(observed)
        self._bind_with_volcano(observed[::2])
        self._universe.clear(len(cases))
        return Round(snapshot, observed)

    def _look_with_volcano(self, observed: Sequence[Observed]) -> None:
        self._universe.probe([o.placed for o in observed], VOLCANO)
        self._await_answers(VOLCANO, observed)
        self._notes.wait_for_sessions(FRESH)
        seen = self._notes.volcano
        for o in _taken(observed):
            o.lets[VOLCANO] = seen.get(o.placed.probe_key(VOLCANO), frozenset())

    def _place_among_leaving(self, observed: Sequence[Observed]) -> None:
        """Find out for nodes with a leaving pod whether Volcano would bind now, or only wait there for the pod to go."""
        open_ = {}
        for o in _taken(observed):
            key = o.placed.probe_key(VOLCANO)
            nodes = sorted(o.lets[VOLCANO] & self._notes.releasing.get(key, set()))
            if nodes and o.placed.case.binds:
                open_[key] = (o, nodes)
        while open_:
            placed = self._allow({key: (o, nodes.pop()) for key, (o, nodes) in open_.items()})
            again = [o.placed for o in placed]
            self._universe.forget(again, VOLCANO)
            self._universe.probe(again, VOLCANO)
            open_ = {key: (o, nodes) for key, (o, nodes) in open_.items() if nodes}

    def _allow(self, wanted: Mapping[Key, tuple[Observed, str]]) -> list[Observed]:
        """Let Volcano place probes, each on one node, and return the cases in which it did.

        A probe that Volcano has placed is not asked about in later sessions; one that waits for room still is. What was
        let through but is not placed at once is no node for the probe.
        """
        for key, (_, node) in wanted.items():
            self._notes.allow(key, node)
        self._notes.wait_for_sessions(FRESH + 1)
        asked = self._notes.volcano
        placed = {key: node for key, (_, node) in wanted.items() if key not in asked}
        self._await_binding(placed)
        for key, (o, node) in wanted.items():
            o.bound[VOLCANO] = (node, key in placed)
            if key not in placed:
                o.lets[VOLCANO] -= {node}
        return [o for key, (o, _) in wanted.items() if key in placed]

    def _await_binding(self, placed: Mapping[Key, str]) -> None:
        def bound() -> bool:
            probes = self._universe.probes(VOLCANO)
            return all(probes[key]["spec"].get("nodeName") == node for key, node in placed.items())

        wait_for("bindings that Volcano decided on", bound, 20)

    def _look_with_kube(self, observed: Sequence[Observed]) -> None:
        chosen = {o.placed.probe_key(KUBE): o.placed.case.seed for o in _taken(observed[1::2]) if o.placed.case.binds}
        self._notes.kube_may_bind = chosen
        self._universe.probe([o.placed for o in observed], KUBE)
        probes = self._await_answers(KUBE, observed)
        for o in _taken(observed):
            key = o.placed.probe_key(KUBE)
            o.lets[KUBE] = self._notes.kube.get(key, frozenset())
            if key in chosen and o.lets[KUBE]:
                wanted = sorted(o.lets[KUBE])[chosen[key] % len(o.lets[KUBE])]
                o.bound[KUBE] = (wanted, probes[key]["spec"].get("nodeName") == wanted)
                if not o.bound[KUBE][1]:
                    o.lets[KUBE] -= {wanted}

    def _bind_with_volcano(self, observed: Sequence[Observed]) -> None:
        """Let Volcano place one probe per case for real."""
        wanted = {}
        for o in _taken(observed):
            lets = sorted(o.lets[VOLCANO])
            if lets and o.placed.case.binds:
                wanted[o.placed.probe_key(VOLCANO)] = (o, lets[o.placed.case.seed % len(lets)])
        self._allow(wanted)

    def _await_answers(self, scheduler: str, observed: Sequence[Observed]) -> dict[Key, Object]:
        """Wait until the scheduler has placed or refused every probe; return the probes."""
        keys = [o.placed.probe_key(scheduler) for o in _taken(observed)]
        found: dict[Key, Object] = {}

        def answered() -> bool:
            found.update(self._universe.probes(scheduler))
            return all(key in found and _answered(found[key]) for key in keys)

        try:
            wait_for(f"{scheduler}'s answers", answered, PATIENCE)
        except TimeoutError as error:
            silent = [key for key in keys if not _answered(found.get(key, {}))]
            raise TimeoutError(f"{error}: no answer for {silent[:5]} ({len(silent)})") from error
        return found


def _taken(observed: Iterable[Observed]) -> list[Observed]:
    return [o for o in observed if o.placed.refused is None]


def _answered(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return bool(pod.get("spec", {}).get("nodeName")) or any(
        c["type"] == "PodScheduled" and c["status"] == "False" for c in conditions
    )
