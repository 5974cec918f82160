"""What both schedulers make of many cases at once.

One round: nodes, residents and volumes; then a pending probe for Volcano, refused on every node, which shows where Volcano
would let it go; then one for kube-scheduler. Volcano is asked first because kube-scheduler really binds the probe of every
other case. The other cases are bound by Volcano. So half of the cases show that a node let through is also a node that
the scheduler places the pod on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from repack_gitops.model.cluster import ClusterSnapshot
from tests.real.agreement.case import Case
from tests.real.agreement.extender import Key, Notes
from tests.real.agreement.oracle import take_snapshot
from tests.real.agreement.universe import KUBE, VOLCANO, Placed, Universe
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for

#: Sessions of Volcano to wait for: until one has begun and ended after all probes were seen; and until one has begun after
#: a node was allowed, and another has shown who still waits.
LOOK, PLACE = 1, 3
#: Seconds until a scheduler has said something about every probe, and until what it decided is done.
PATIENCE, BINDING = 60, 8


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

    def __init__(self, kubeconfig: Path, universe: Universe, notes: Notes) -> None:
        self._kubeconfig = kubeconfig
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
        self._place_where_doubtful(observed)
        snapshot = take_snapshot(self._kubeconfig)
        to_bind = [o for o in _taken(observed[::2]) if o.lets[VOLCANO] and o.placed.case.binds]
        self._universe.forget([o.placed for o in _taken(observed) if o not in to_bind], VOLCANO)  # sessions get shorter
        self._look_with_kube(observed)
        self._bind_with_volcano(to_bind)
        self._universe.clear(len(cases))
        return Round(snapshot, observed)

    def _look_with_volcano(self, observed: Sequence[Observed]) -> None:
        self._universe.probe([o.placed for o in observed], VOLCANO)
        self._await_answers(VOLCANO, observed)
        self._notes.wait_for_sessions(LOOK)
        seen = self._notes.volcano
        for o in _taken(observed):
            o.lets[VOLCANO] = seen.get(o.placed.probe_key(VOLCANO), frozenset())

    def _place_where_doubtful(self, observed: Sequence[Observed]) -> None:
        """Find out by placing where Volcano's filters do not tell: it may wait for a leaving pod, or fail to bind."""
        open_ = {}
        for o in _taken(observed):
            key = o.placed.probe_key(VOLCANO)
            nodes = sorted(o.lets[VOLCANO] & self._notes.doubtful.get(key, set()))
            if nodes and o.placed.case.binds:
                open_[key] = (o, nodes)
        while open_:
            placed = self._allow({key: (o, nodes.pop()) for key, (o, nodes) in open_.items()})
            for key in open_:
                self._notes.allow_nothing(key)
            again = [o.placed for o in placed]
            self._universe.forget(again, VOLCANO)
            self._universe.probe(again, VOLCANO)
            open_ = {key: (o, nodes) for key, (o, nodes) in open_.items() if nodes}

    def _allow(self, wanted: Mapping[Key, tuple[Observed, str]]) -> list[Observed]:
        """Let Volcano place probes, each on one node, and return the cases in which it did.

        A probe that Volcano has placed is not asked about in later sessions; one that waits for room still is. What was
        let through but is not bound is no node for the probe.
        """
        for key, (_, node) in wanted.items():
            self._notes.allow(key, node)
        self._notes.wait_for_sessions(PLACE)
        asked = self._notes.volcano
        there = self._bound(VOLCANO, {key: node for key, (_, node) in wanted.items() if key not in asked})
        for key, (o, node) in wanted.items():
            o.bound[VOLCANO] = (node, key in there)
            if key not in there:
                o.lets[VOLCANO] -= {node}
        return [o for key, (o, _) in wanted.items() if key in there]

    def _bound(self, scheduler: str, placed: Mapping[Key, str]) -> set[Key]:
        """Wait for probes to be on the nodes that a scheduler decided on, and return those that are; both bind later."""
        there: set[Key] = set()

        def all_there() -> bool:
            probes = self._universe.probes(scheduler)
            there.update(key for key, node in placed.items() if probes[key]["spec"].get("nodeName") == node)
            return len(there) == len(placed)

        with suppress(TimeoutError):
            wait_for("bindings", all_there, BINDING)
        return there

    def _look_with_kube(self, observed: Sequence[Observed]) -> None:
        numbers = {o.placed.probe_key(KUBE): o.placed.case.seed for o in _taken(observed[1::2]) if o.placed.case.binds}
        self._notes.kube_may_bind = numbers
        self._universe.probe([o.placed for o in observed], KUBE)
        self._await_answers(KUBE, observed)
        wanted = {}
        for o in _taken(observed):
            key = o.placed.probe_key(KUBE)
            lets = o.lets[KUBE] = self._notes.kube.get(key, frozenset())
            if key in numbers and lets:
                wanted[key] = sorted(lets)[numbers[key] % len(lets)]
        there = self._bound(KUBE, wanted)
        for o in _taken(observed):
            key = o.placed.probe_key(KUBE)
            if key in wanted:
                o.bound[KUBE] = (wanted[key], key in there)
                o.lets[KUBE] -= frozenset() if key in there else {wanted[key]}

    def _bind_with_volcano(self, observed: Sequence[Observed]) -> None:
        """Let Volcano place one probe per case for real."""
        chosen = {o.placed.probe_key(VOLCANO): sorted(o.lets[VOLCANO]) for o in observed}
        self._allow(
            {key: (o, nodes[o.placed.case.seed % len(nodes)]) for o, (key, nodes) in zip(observed, chosen.items(), strict=True)}
        )

    def _await_answers(self, scheduler: str, observed: Sequence[Observed]) -> None:
        """Wait until the scheduler has placed or refused every probe."""
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


def _taken(observed: Iterable[Observed]) -> list[Observed]:
    return [o for o in observed if o.placed.refused is None]


def _answered(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return bool(pod.get("spec", {}).get("nodeName")) or any(
        c["type"] == "PodScheduled" and c["status"] == "False" and c.get("reason") != "SchedulerError" for c in conditions
    )
