"""Random short histories: everything that can happen at once; the invariants hold and the end is true.

A failing seed is one line: ``play(SEED)``. The simulation of a later issue does this in earnest.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from repack_gitops.errors import RepackError
from repack_gitops.kube.interface import BudgetRefused, NotNominated, Throttled, TransientRefusal
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.policy import AbortOn
from repack_gitops.model.run import EvictionPhase
from tests.unit.workflow.execution.fakes import Action, FakeCluster, Killed, answer, lost, meanwhile
from tests.unit.workflow.execution.scenarios import GPU, LEASE, Bed, bed, node, pod, status_of
from tests.unit.workflow.execution.world import Budget

SEEDS = range(60)
KINDS = ("Job", "StatefulSet", "ReplicaSet")


def cluster(random: Random) -> Bed:
    """Up to five nodes to free, receivers with a little more room than needed, two empty nodes."""
    sources = [f"n{i}" for i in range(random.randint(1, 5))]
    pods: list[wire.Pod] = []
    for name in sources:
        for i in range(random.randint(1, 3)):
            kind, of = random.choice(KINDS), random.choice((f"w{name}{i}", "shared"))
            of = f"{of}-{kind.lower()}"
            named = f"{of}-{len(pods)}"
            pods.append(pod(named, name, random.choice((1, 1, 2)), kind, of, grace=random.choice((0, 1, 5, 40))))
    receivers = [f"r{i}" for i in range(len(sources) + 1)]
    stays = [pod(f"stay-{r}", r, random.randint(3, 7), None) for r in receivers]
    made = bed(
        [node(n) for n in (*sources, *receivers, "e0", "e1")],
        [*pods, *stays],
        abort_on=AbortOn(half_drained_nodes=random.randint(1, 3), rejections=random.randint(1, 5)),
    )
    behaviour = made.world.behaviour
    behaviour.bind_delay = random.choice((0.05, 0.3, 3.0, 100.0))
    behaviour.recreate_delay = random.choice((0.0, 0.05, 4.0))
    behaviour.ready_delay = random.choice((0.0, 0.0, 10.0))
    if random.random() < 0.4:
        kind = random.choice(KINDS).lower()
        members = sum(1 for p in pods if (p.metadata.labels or {})["app"] == f"shared-{kind}")
        made.world.budgets = [Budget("pdb", {"app": f"shared-{kind}"}, members, random.randint(0, 2))]
    return made


def troubles(random: Random, made: Bed, port: FakeCluster) -> None:
    """Script a few faults of the API and a few surprises in the cluster."""
    faults: dict[str, list[Action]] = {
        "evict": [
            answer(BudgetRefused("budget")),
            answer(Throttled("slow down", 3)),
            answer(TransientRefusal("reset")),
            lost(TransientRefusal("reset")),
        ],
        "dry_run": [answer(TransientRefusal("reset")), answer(Throttled("slow down", 2))],
        "nominate": [answer(NotNominated("503", transient=True)), lost(NotNominated("reset", transient=True))],
    }
    for name, actions in faults.items():
        port.script(name, *[random.choice([*actions, *[None] * 6]) for _ in range(20)])
    surprises: list[Callable[[], object]] = [
        lambda: gap(made),
        lambda: kill_one(random, made),
        lambda: finish_one(random, made),
        lambda: made.world.add_pod(pod(f"late-{random.random()}", None, 1, random.choice(KINDS), "shared-replicaset")),
        lambda: made.clock.advance(20),
    ]
    for name in ("get_pod", "update_run_status", "nominate"):
        if random.random() < 0.5:
            port.script(name, meanwhile(random.choice(surprises)), start=random.randint(1, 12))


def gap(made: Bed) -> None:
    if made.feed is not None:
        made.feed.gap()


def movable(made: Bed) -> list[str]:
    return sorted(name for (_, name), p in made.world.pods.items() if p.metadata.owner_references)


def kill_one(random: Random, made: Bed) -> None:
    if movable(made):
        made.world.kill(random.choice(movable(made)), grace=random.choice((0.0, 10.0)))


def finish_one(random: Random, made: Bed) -> None:
    bound = [name for name in movable(made) if (found := made.world.pod(name)) is not None and found.node]
    if bound:
        made.world.finish(random.choice(bound))


def play(seed: int) -> Bed:
    """Play one history to its end; every process is checked by `Bed.execute`."""
    random = Random(seed)
    made = cluster(random)
    made.approve()
    for life in range(8):
        port = made.process()
        troubles(random, made, port)
        if life < 3 and random.random() < 0.6:
            port.kill_at(random.randint(1, 60), after=random.random() < 0.5)
        try:
            made.execute(port)
        except Killed:
            made.clock.advance(random.choice((1, 20, 70)))
        except RepackError as error:
            made.said.append(f"!! {error.message}")
            made.clock.advance(10)
        else:
            return made
    raise AssertionError(f"seed {seed}: no end; {made.said[-5:]}")


@pytest.mark.parametrize("seed", SEEDS)
def test_history(seed: int) -> None:
    made = play(seed)
    status = status_of(made.world)
    planned = status.plan.freed_nodes if status.plan else []
    last_seen = build_snapshot(next(c.answer for c in reversed(made.world.calls) if c.name == "list_objects"))
    free = sorted(n for n in planned if not last_seen.used(n, GPU))
    if status.phase == "Succeeded":
        assert free == sorted(planned), made.said
    if status.result is not None and status.result.metrics_verified:
        assert sorted(status.result.freed_nodes) == free
    cards = {p.uid: p.requests.get(GPU, 0) // 1000 for e in made.world.events for p in [e.pod]}
    moved = sum(cards[uid] for uid in made.world.accepted)
    recorded = sum(r.cards for r in status.relocations if r.eviction.phase is EvictionPhase.ACCEPTED)
    assert recorded >= moved
    assert made.world.leases[LEASE].holder == ""
    assert made.clock.monotonic() < 3600
