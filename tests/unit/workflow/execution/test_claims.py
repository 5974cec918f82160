"""Which pod is claimed as whose replacement, for how long, and when a claim is given up (spec 4.4)."""

from __future__ import annotations

import pytest

from repack_gitops.errors import ClusterUnavailable, Forbidden, InvalidInput, RepackError, TryAgain
from repack_gitops.kube.interface import Nominated, NotNominated
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import Pod
from repack_gitops.model.run import PlacementPhase
from tests.unit.workflow.execution.fakes import answer, fail, meanwhile, then
from tests.unit.workflow.execution.invariants import nominations
from tests.unit.workflow.execution.scenarios import (
    Bed,
    bed,
    node,
    one_node,
    pod,
    prefer,
    reason,
    relocation,
    several,
    status_of,
)


def test_replacement_never_comes() -> None:
    made = one_node()
    made.world.behaviour.dead_owners.add("a")
    run = made.execute()
    assert reason(run) == "PlacementTimedOut"
    assert "team/a-0" in status_of(made.world).message
    assert relocation(made.world, "a-0").placement.phase is PlacementPhase.TIMED_OUT
    assert 120 < made.clock.monotonic() < 150


def test_replacement_that_is_never_bound_loses_our_nomination() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 10_000.0
    port = made.process()
    run = made.execute(port)
    assert reason(run) == "PlacementTimedOut"
    assert nominations(port.calls) == [("a-0", "n1"), ("a-0", None)]
    waiting = made.world.pod("a-0")
    assert waiting is not None
    assert waiting.nominated_node is None


def test_nomination_whose_answer_was_lost_is_cleared_too() -> None:
    """The journal says it waits for a node; the pod carries the nomination all the same."""
    made = one_node()
    made.world.behaviour.bind_delay = 10_000.0
    port = made.process()
    original = port.nominate

    def broken(namespace: str, name: str, uid: str, node: str | None) -> Nominated | NotNominated:
        found = original(namespace, name, uid, node)
        return NotNominated("connection reset", transient=True) if node else found

    port.nominate = broken  # type: ignore[method-assign]
    made.execute(port)
    waiting = made.world.pod("a-0")
    assert waiting is not None
    assert waiting.nominated_node is None


def test_refused_nomination_is_not_repeated_for_ever() -> None:
    """Nominations are hints: a missing permission must not become a request every second."""
    made = one_node()
    made.world.behaviour.bind_delay = 100.0
    made.world.behaviour.choose = prefer("n1")
    port = made.process()
    port.always("nominate", answer(NotNominated("forbidden (HTTP 403)")))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert len(port.named("nominate")) <= 2


def test_passing_trouble_with_a_nomination_is_tried_again_with_patience() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 40.0
    port = made.process()
    port.script("nominate", *[answer(NotNominated("HTTP 503", transient=True))] * 3)
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    times = [c.at for c in port.named("nominate")]
    assert len(times) == 4
    assert times[-1] - times[0] > 5


def test_scale_out_before_the_eviction_is_not_claimed() -> None:
    """A pod of the same ReplicaSet, made while the run was on its way but before this eviction, replaces nobody."""
    made = several()
    made.world.behaviour.bind_delay = 20.0
    port = made.process()
    extra: list[Pod] = []
    port.script("evict", meanwhile(lambda: extra.append(made.world.add_pod(pod("web-more", None, 1, "ReplicaSet", "web")))))
    made.world.behaviour.choose = prefer("n8", "n9")
    made.execute(port)
    assert relocation(made.world, "web-x1").placement.replacement_pod_uid != extra[0].uid
    assert extra[0].name not in [name for name, _ in nominations(port.calls)]


def test_other_workloads_pods_are_not_claimed() -> None:
    made = one_node("ReplicaSet")
    port = made.process()
    port.script("evict", meanwhile(lambda: made.world.add_pod(pod("other-1", None, 2, "ReplicaSet", "other"))))
    made.execute(port)
    assert [name for name, _ in nominations(port.calls)] == [relocation(made.world, "a-0").placement.replacement_pod_name]


def test_owner_of_the_pod_decides_where_the_pod_group_has_none() -> None:
    """A Deployment whose pods name a PodGroup that somebody made by hand: the PodGroup has no owner, or another one."""
    made = one_node("ReplicaSet")
    made.world.groups[("team", "pg-a")] = wire.PodGroup(
        metadata=wire.ObjectMeta(
            name="pg-a",
            namespace="team",
            owner_references=[wire.OwnerReference(api_version="x/v1", kind="Train", name="t", uid="t", controller=True)],
        ),
        spec=wire.PodGroupSpec(min_member=1),
    )
    assert reason(made.execute()) == "ExecutionCompleted"


def test_claim_follows_a_replacement_that_is_made_anew() -> None:
    made = one_node()
    made.world.behaviour.bind_delay = 3.0
    port = made.process()
    port.script("nominate", then(lambda: made.world.kill("a-0")))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert len(nominations(port.calls)) == 2
    found = made.world.pod("a-0")
    assert found is not None
    assert relocation(made.world, "a-0").placement.replacement_pod_uid == found.uid


def test_claim_follows_through_a_gap_of_the_watch() -> None:
    """410: the deletion of the claimed pod is never reported, it is only missing from the next list."""
    made = one_node()
    made.world.behaviour.bind_delay = 3.0
    port = made.process()

    def lose() -> None:
        made.world.kill("a-0")
        made.clock.advance(1)
        assert made.feed is not None
        made.feed.gap()

    port.script("nominate", then(lose))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert len(nominations(port.calls)) == 2


def test_replacement_that_fails_before_it_is_bound_frees_its_claim() -> None:
    made = one_node("ReplicaSet")
    made.world.behaviour.bind_delay = 3.0
    port = made.process()

    def fail_it() -> None:
        made.world.finish(nominee(made))
        made.world.add_pod(pod("a-next", None, 2, "ReplicaSet", "a"))

    port.script("nominate", then(fail_it))
    run = made.execute(port)
    assert reason(run) == "ExecutionCompleted"
    assert relocation(made.world, "a-0").placement.replacement_pod_name == "a-next"


def nominee(made: Bed) -> str:
    return next(p.metadata.name for p in made.world.pods.values() if p.status.nominated_node_name)


def test_slow_controller() -> None:
    made = one_node()
    made.world.behaviour.recreate_delay = 80.0
    assert reason(made.execute()) == "ExecutionCompleted"


@pytest.mark.parametrize("jump", [7_200.0, -7_200.0])
def test_wall_clock_that_jumps(jump: float) -> None:
    """NTP sets the clock while a replacement is on its way: it is neither given up early nor waited for two hours."""
    made = one_node()
    made.world.behaviour.recreate_delay = 60.0
    made.clock.at(20, lambda: made.clock.jump(jump))
    assert reason(made.execute()) == "ExecutionCompleted"
    late = one_node()
    late.world.behaviour.dead_owners.add("a")
    late.clock.at(20, lambda: late.clock.jump(jump))
    assert reason(late.execute()) == "PlacementTimedOut"
    assert late.clock.monotonic() < 150


def test_one_stuck_replacement_does_not_hold_up_another() -> None:
    """Head of line: the first victim's replacement never comes, the second's is nominated at once."""
    made = bed(
        [node(n) for n in ("n0", "n1", "n8")],
        [pod("a", "n0", 2), pod("b", "n0", 1), pod("stay", "n1", 4, None)],
    )
    made.world.behaviour.dead_owners.add("a")
    port = made.process()
    run = made.execute(port)
    assert reason(run) == "PlacementTimedOut"
    placed = relocation(made.world, "b").placement
    assert (placed.phase, placed.actual_node_name) == (PlacementPhase.PLACED, "n1")
    assert port.named("nominate")[0].at < 15


def test_unreachable_server_at_a_nomination_ends_the_process_not_the_run() -> None:
    made = one_node()
    port = made.process()
    port.script("nominate", fail(ClusterUnavailable("no route")))
    with pytest.raises(ClusterUnavailable):
        made.execute(port)
    assert made.execute().status is not None
    assert status_of(made.world).phase in ("Succeeded", "Failed")


@pytest.mark.parametrize("error", [Forbidden("cannot patch pods/status (HTTP 401)"), InvalidInput("Pod team/x: request of -1")])
def test_errors_that_are_final_elsewhere_do_not_abandon_a_run_on_its_way(error: RepackError) -> None:
    """Their exit codes end a Job for good; a run that has evicted must be gone on with."""
    made = one_node()
    port = made.process()
    port.script("nominate", fail(error))
    with pytest.raises(TryAgain, match="interrupted"):
        made.execute(port)
    for name in ("get_lease", "list_objects", "list_nodes"):
        port = made.process()
        port.always(name, fail(error))
        with pytest.raises(TryAgain):
            made.execute(port)
    assert made.execute().status is not None
    assert status_of(made.world).phase in ("Succeeded", "Failed")
