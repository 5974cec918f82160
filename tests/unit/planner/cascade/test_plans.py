"""What forecasts mean for plans: options, limits over the whole plan, and the facts that a plan shows."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from repack_gitops.model.cluster import ClusterSnapshot, JobPolicy, Owner, VolcanoJob
from repack_gitops.model.impact import WorkloadRestart
from repack_gitops.model.owners import BatchJob, Owners
from repack_gitops.model.plan import Code, Evaluation
from repack_gitops.planner import PlannerOptions, evaluate
from repack_gitops.planner.cascade.cascades import Cascades
from repack_gitops.planner.drain import drain
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.verify import verify
from tests.unit.planner.brute_force import most_freed
from tests.unit.planner.build import cluster, node, plan, pod, spec
from tests.unit.planner.cascade.workloads import BATCH, member, policy
from tests.unit.planner.random_clusters import Case, random_case, tiny_case
from tests.unit.planner.reference_drain import Reference

ALLOWED = PlannerOptions(allow_cascades=True)


def gang(*on: str, policies: tuple[JobPolicy, ...], max_retry: int = 3, retry_count: int = 0) -> ClusterSnapshot:
    """Return a gang of one pod on each node of ``on``, and on node ``z`` a pod that stays, with room for all."""
    pods = [pod(f"gang-{i}", name, 1, "gang") for i, name in enumerate(on)]
    pods.append(pod("stays", "z", 1, owner=None))
    jobs = {("team", "gang"): VolcanoJob("team", "gang", policies, {}, max_retry, retry_count)}
    return cluster([node(n) for n in sorted({*on, "z"})], pods, volcano_jobs=jobs)


RESTART_JOB = (policy("PodEvicted", "RestartJob"),)
RESTART_POD = (policy("PodEvicted", "RestartPod"),)


class TestAllowCascades:
    def test_a_cascade_needs_the_option(self) -> None:
        snapshot = gang("a", "b", policies=RESTART_JOB)
        assert plan(snapshot).stays["a"].code is Code.CASCADING_POLICY
        assert plan(snapshot, options=ALLOWED).freed_nodes == ("a", "b")

    def test_one_pod_that_is_created_again_does_not(self) -> None:
        assert plan(gang("a", "b", policies=RESTART_POD)).freed_nodes == ("a", "b")

    def test_a_fatal_policy_stays_fatal(self) -> None:
        snapshot = gang("a", policies=(policy("PodEvicted", "AbortJob"),))
        assert plan(snapshot, options=ALLOWED).stays["a"].code is Code.FATAL_POLICY

    def test_guardrails_read_the_owner_that_decides_too(self) -> None:
        labels = {f"leaderworkerset.sigs.k8s.io/{k}": "0" for k in ("name", "group-index", "worker-index")}
        leader = member("leader", Owner("apps/v1", "StatefulSet", "0"), labels)
        snapshot = cluster([node("a"), node("z")], [leader, pod("stays", "z", 1, owner=None)])
        forbidden = PlannerOptions(forbidden_owner_kinds=frozenset({"LeaderWorkerSet"}))
        assert plan(snapshot, options=forbidden).stays["a"].code is Code.POD_GROUP_OUT_OF_SCOPE


class TestRetriesOverThePlan:
    """maxRetry 3: the third eviction ends the job, so two are the most, whatever the nodes."""

    def test_no_plan_takes_the_last_retry(self) -> None:
        evaluation = plan(gang("a", "b", "c", "d", policies=RESTART_POD))
        assert evaluation.freed_nodes == ("a", "b")
        assert [evaluation.stays[n].code for n in "cd"] == [Code.LAST_RETRY] * 2
        assert "team/gang survives: 2 left, 2 taken by nodes before it, 1 needed here" in evaluation.stays["c"].detail

    def test_retries_of_the_past_count(self) -> None:
        evaluation = plan(gang("a", "b", "c", policies=RESTART_POD, retry_count=1))
        assert evaluation.freed_nodes == ("a",)

    def test_a_job_without_a_retry_left_is_immovable(self) -> None:
        evaluation = plan(gang("a", "b", policies=RESTART_POD, retry_count=2))
        assert evaluation.steps == ()
        assert {r.code for name, r in evaluation.stays.items() if name != "z"} == {Code.LAST_RETRY}

    def test_a_node_whose_pods_cost_more_than_is_left_is_none(self) -> None:
        evaluation = plan(gang("a", "a", "a", policies=RESTART_POD))
        assert evaluation.steps == ()
        assert evaluation.stays["a"].code is Code.LAST_RETRY

    def test_batch_jobs_share_their_back_off_limit(self) -> None:
        pods = [member(f"p{i}", BATCH, {}, on=name) for i, name in enumerate("abc")]
        job = BatchJob("team", "once", 2, None, (), 0)
        snapshot = cluster(
            [node(n) for n in "abcz"],
            [*pods, pod("stays", "z", 1, owner=None)],
            owners=Owners(batch_jobs={("team", "once"): job}),
        )
        evaluation = plan(snapshot)
        assert evaluation.freed_nodes == ("a", "b")
        assert evaluation.stays["c"].code is Code.LAST_RETRY

    def test_the_judge_counts_for_itself(self) -> None:
        snapshot = gang("a", "b", policies=RESTART_POD, max_retry=3)
        good = evaluate(snapshot, spec())
        fewer = {("team", "gang"): replace(snapshot.volcano_jobs["team", "gang"], max_retry=2)}
        problems = verify(replace(snapshot, volcano_jobs=fewer), spec(), good)
        assert "Job team/gang would not survive the plan: it counts its retries" in problems

    def test_the_judge_reads_the_facts(self) -> None:
        snapshot = gang("a", "b", policies=RESTART_POD)
        good = evaluate(snapshot, spec())
        assert verify(snapshot, spec(), replace(good, restarts=())) == ("what restarts does not follow from the moves",)


class TestFacts:
    def restarts(self, evaluation: Evaluation) -> WorkloadRestart:
        (found,) = evaluation.restarts
        return found

    def test_a_cascade_beyond_the_moves(self) -> None:
        snapshot = gang("a", "z", "z", policies=RESTART_JOB)
        found = self.restarts(plan(snapshot, options=ALLOWED))
        assert (found.unit, found.moved_pods, found.restarting_pods, found.outside_moves) == ("Job", 1, 3, 2)
        assert (found.retries_left, found.last_retry) == (1, False)

    def test_a_plan_that_leaves_no_retry_says_so(self) -> None:
        found = self.restarts(plan(gang("a", "b", policies=RESTART_POD)))
        assert (found.moved_pods, found.restarting_pods, found.outside_moves) == (2, 2, 0)
        assert (found.retries_left, found.last_retry) == (0, True)

    def test_moves_that_count_nothing_and_restart_nobody_are_no_fact(self) -> None:
        assert plan(gang("a", "b", policies=())).restarts == ()


def test_p62_a_deployment_in_the_middle_of_a_rollout_is_warned_about() -> None:
    def replica(name: str, template: str, on: str) -> object:
        owner = Owner("apps/v1", "ReplicaSet", f"web-{template}")
        return pod(name, on, 1, f"podgroup-{template}", owner=owner, labels={"pod-template-hash": template})

    stays = pod("stays", "z", 1, owner=None)
    both = cluster([node(n) for n in "abz"], [replica("old", "old", "a"), replica("new", "new", "b"), stays])  # type: ignore[list-item]
    assert any("Deployment team/web is in the middle of a rollout: 2 ReplicaSets" in w for w in plan(both).warnings)
    one = cluster([node(n) for n in "abz"], [replica("o1", "old", "a"), replica("o2", "old", "b"), stays])  # type: ignore[list-item]
    assert not [w for w in plan(one).warnings if "rollout" in w]


@pytest.mark.parametrize(("kind", "group"), [("Cluster", "postgresql.cnpg.io/v1"), ("PyTorchJob", "kubeflow.org/v1")])
def test_p76_pods_of_operators_that_are_not_known_stay(kind: str, group: str) -> None:
    snapshot = cluster([node("a"), node("z")], [member("db", Owner(group, kind, "db"), {}), pod("stays", "z", 1, owner=None)])
    assert plan(snapshot, options=ALLOWED).stays["a"].code is Code.UNKNOWN_CONTROLLER


def test_p80_daemons_mirrors_and_bare_pods_each_block_their_node() -> None:
    pods = [
        pod("daemon", "a", 1, owner=Owner("apps/v1", "DaemonSet", "agent")),
        pod("mirror", "b", 1, owner=Owner("v1", "Node", "b"), mirror=True),
        pod("bare", "c", 1, owner=None),
    ]
    evaluation = plan(cluster([node(n) for n in "abc"], pods), options=ALLOWED)
    assert {n: r.code for n, r in evaluation.stays.items()} == {
        "a": Code.DAEMON_SET,
        "b": Code.MIRROR_POD,
        "c": Code.NO_CONTROLLER,
    }


# ---- random clusters ----
CHOICES = ((), RESTART_POD, RESTART_JOB, (policy("Unknown", "RestartJob"),), (policy("*", "RestartPod"),))


def counting(case: Case) -> Case:
    """Return ``case`` with a VCJob for every owner, most of which count what is evicted."""
    random = Random(case.seed * 7919)
    owners = sorted({(p.namespace, p.owner.name) for p in case.snapshot.pods if p.owner and p.owner.kind == "Job"})
    jobs = {(ns, name): VolcanoJob(ns, name, random.choice(CHOICES), {}, random.choice((2, 2, 3, 4)), 0) for ns, name in owners}
    return replace(case, snapshot=replace(case.snapshot, volcano_jobs=jobs))


@pytest.mark.parametrize("chunk", range(4))
def test_the_quick_search_and_the_slow_one_stop_at_the_same_retry(chunk: int) -> None:
    limited = 0
    for seed in range(500_000 + chunk * 150, 500_000 + (chunk + 1) * 150):
        case = counting(random_case(seed))
        result = drain(Problem(case.snapshot, case.spec, ALLOWED))
        moves = [(m.pod, m.from_node, m.to_node) for s in result.steps for m in s.moves]
        assert moves == Reference(case.snapshot, case.spec, options=ALLOWED).run(), f"random_case({seed})"
        limited += any(r.code is Code.LAST_RETRY for r in result.over_quota.values())
    assert limited


@pytest.mark.parametrize("chunk", range(4))
def test_every_plan_under_retries_passes_the_judge_and_frees_no_more_than_possible(chunk: int) -> None:
    for seed in range(600_000 + chunk * 50, 600_000 + (chunk + 1) * 50):
        case = counting(tiny_case(seed))
        evaluation = evaluate(case.snapshot, case.spec, ALLOWED)
        assert verify(case.snapshot, case.spec, evaluation, ALLOWED) == (), f"tiny_case({seed})"
        assert len(evaluation.steps) <= most_freed(case.snapshot, case.spec, ALLOWED), f"tiny_case({seed})"
        assert all(r.retries_left is None or r.retries_left >= 0 for r in evaluation.restarts)


@pytest.mark.parametrize("chunk", range(4))
def test_a_forecast_never_names_fewer_pods_than_the_victim(chunk: int) -> None:
    for seed in range(700_000 + chunk * 50, 700_000 + (chunk + 1) * 50):
        snapshot = counting(random_case(seed)).snapshot
        cascades = Cascades(snapshot)
        for victim in (p for p in snapshot.pods if p.owner is not None):
            forecast = cascades.forecast(victim)
            assert victim.key in forecast.restarts
            assert forecast.cascades == (forecast.restarts > {victim.key})
