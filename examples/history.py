"""Some weeks of a cluster's life: workloads come, are scaled, and go; what they leave behind is the fragmentation.

Placement is that of a scheduler without bin packing: every pod goes to the machine with the most idle cards that takes
it, gangs as a whole or not at all, and what does not fit waits its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from examples.fleet import DEPLOYMENT, STATEFUL_SET, Hour, Machine, Replica, Task, Template, Workload


@dataclass
class _Room:
    cards: int
    cpu: int
    memory: int

    def holds(self, template: Template) -> bool:
        return self.cards >= template.cards and self.cpu >= template.cpu and self.memory >= template.memory

    def change(self, template: Template, sign: int) -> None:
        self.cards += sign * template.cards
        self.cpu += sign * template.cpu
        self.memory += sign * template.memory


@dataclass(frozen=True)
class _Event:
    hour: Hour
    workload: Workload
    replicas: int | None  # of the first task; None: the end


def live_through(
    machines: Sequence[Machine], workloads: Iterable[Workload], random: Random, taken: Mapping[str, int]
) -> list[Replica]:
    """Return the pods that exist when the snapshot is taken, in the order in which they came.

    ``taken`` tells, by machine, how many cards daemons hold.
    """
    history = _History(machines, random, taken)
    for event in _events(workloads):
        history.happen(event)
    return [*history.running, *history.finished, *history.waiting()]


def _events(workloads: Iterable[Workload]) -> list[_Event]:
    found = []
    for workload in workloads:
        found.append(_Event(workload.start, workload, workload.tasks[0].replicas))
        found.extend(_Event(hour, workload, replicas) for hour, replicas in workload.scaled)
        if workload.end is not None:
            found.append(_Event(workload.end, workload, None))
    return sorted(found, key=lambda e: (-e.hour, e.workload.name))


class _History:
    def __init__(self, machines: Sequence[Machine], random: Random, taken: Mapping[str, int]) -> None:
        self._machines, self._random = machines, random
        # Daemons and the machine itself take a little of everything.
        self._room = {m.name: _Room(m.cards - taken.get(m.name, 0), m.cpu - 4, m.memory - 16) for m in machines}
        self.running: list[Replica] = []
        self.finished: list[Replica] = []
        self._queue: list[Replica] = []

    def happen(self, event: _Event) -> None:
        workload = event.workload
        if event.replicas is None:
            self._end(workload)
        elif event.hour == workload.start:
            self._queue += [Replica(workload, t, i, None, event.hour) for t in workload.tasks for i in range(t.replicas)]
        else:
            self._scale(workload, event.replicas, event.hour)
        self._schedule(event.hour)

    def waiting(self) -> list[Replica]:
        return list(self._queue)

    def _end(self, workload: Workload) -> None:
        self._queue = [r for r in self._queue if r.workload is not workload]
        for replica in [r for r in self.running if r.workload is workload]:
            self._remove(replica)
            if workload.kept_when_done:
                self.finished.append(replace(replica, done=True))

    def _scale(self, workload: Workload, replicas: int, hour: Hour) -> None:
        """Replicas come and go at the end of the list, as StatefulSets do; Deployments lose random ones."""
        task = workload.tasks[0]
        present = [r for r in self.running if r.workload is workload]
        for _ in range(len(present) - replicas):
            gone = present.pop(self._random.randrange(len(present)) if workload.kind == DEPLOYMENT else -1)
            self._remove(gone)
        taken = {r.index for r in present}
        free = (i for i in range(replicas + len(taken)) if i not in taken)
        self._queue += [Replica(workload, task, next(free), None, hour) for _ in range(replicas - len(present))]

    def _remove(self, replica: Replica) -> None:
        self.running.remove(replica)
        self._room[replica.node or ""].change(replica.task.template, 1)

    def _schedule(self, hour: Hour) -> None:
        """Place what waits, in order: gangs whole, other pods one by one."""
        for workload in dict.fromkeys(r.workload for r in self._queue):
            mine = [r for r in self._queue if r.workload is workload]
            units = [[r] for r in mine] if workload.kind in (DEPLOYMENT, STATEFUL_SET) else [mine]
            for unit in units:
                placed = self._place(unit, hour)
                if placed:
                    self._queue = [r for r in self._queue if r not in unit]
                    self.running += placed

    def _place(self, unit: list[Replica], hour: Hour) -> list[Replica]:
        placed: list[Replica] = []
        for replica in sorted(unit, key=lambda r: (-r.task.template.cards, r.index)):
            machine = self._choose(replica.task, hour)
            if machine is None:
                for done in placed:
                    self._room[done.node or ""].change(done.task.template, 1)
                return []
            self._room[machine].change(replica.task.template, -1)
            placed.append(replace(replica, node=machine, since=hour))
        return placed

    def _choose(self, task: Task, hour: Hour) -> str | None:
        open_machines = [
            m.name
            for m in self._machines
            if m.pool in task.template.pools and not m.closed_at(hour) and self._room[m.name].holds(task.template)
        ]
        most = max((self._room[m].cards for m in open_machines), default=0)
        return self._random.choice([m for m in open_machines if self._room[m].cards == most]) if open_machines else None
