"""What would change each reason: every Code has a rule, and each rule is seen at work once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.model.affinity import AffinityTerm
from repack_gitops.model.change import _WORDS, Action, Change
from repack_gitops.model.cluster import (
    ClusterSnapshot,
    Constraints,
    HostPort,
    JobPolicy,
    Owner,
    PodGroup,
    Relations,
    Taint,
    VolcanoJob,
)
from repack_gitops.model.labels import LabelSelector
from repack_gitops.model.options import Envelope
from repack_gitops.model.plan import Code, Reason, Refusal, Stay
from repack_gitops.planner import PlannerOptions
from repack_gitops.planner.nearest import FILTER_ACTIONS
from repack_gitops.planner.remedies import POD_RULES
from tests.unit.planner.build import GPU, cluster, layout, node, only_nodes, plan, pod, spec, without_groups

ROOM = {GPU: 8_000, "cpu": 64_000, "pods": 110_000}
PORT = HostPort(80, "TCP", "0.0.0.0")  # noqa: S104
#: Reasons of a node itself; ``planner.explain`` answers them one by one.
NODE_CODES = {
    Code.NODE_OUT_OF_SCOPE,
    Code.NODE_NOT_READY,
    Code.NO_RECEIVER,
    Code.BUDGET_EXCEEDED,
    Code.RECEIVES,
    Code.BELOW_THRESHOLD,
    Code.SEARCH_STOPPED,
    Code.NAMESPACE_CAP_EXCEEDED,
    Code.OWNER_CAP_EXCEEDED,
    Code.DISRUPTION_BUDGET_EXCEEDED,
}
#: Reasons of a pod and of a node, or of a pod and of a receiver.
BOTH = {Code.VOLUME_BINDING, Code.INTER_POD_AFFINITY}


def test_every_code_has_a_rule() -> None:
    assert NODE_CODES | set(POD_RULES) | set(FILTER_ACTIONS) == set(Code)
    assert set(POD_RULES) & (NODE_CODES | set(FILTER_ACTIONS)) == BOTH


def test_every_action_has_words() -> None:
    assert set(_WORDS) == set(Action)


class TestPods:
    """Node a holds a pod that may not move; b has room for it."""

    def stay(self, options: PlannerOptions | None = None, run: Any = None, **changes: Any) -> Stay:
        pods = [pod("subject", "a", 1, **changes), pod("other", "b", 4)]
        return self.of(cluster([node("a"), node("b")], pods), options, run)

    def of(self, snapshot: ClusterSnapshot, options: PlannerOptions | None = None, run: Any = None) -> Stay:
        # b stays for good, so that it is a that has to explain itself
        run = run or spec(scope=only_nodes("a"))
        return plan(snapshot, run, options).stays["a"]

    def words(self, stay: Stay, code: Code) -> str:
        assert stay.code is code
        return stay.remedy

    def test_other_scheduler(self) -> None:
        stay = self.stay(scheduler_name="default-scheduler")
        assert self.words(stay, Code.OTHER_SCHEDULER) == "schedulerName volcano for pod team/subject"

    def test_no_pod_group(self) -> None:
        assert self.words(self.stay(pod_group=None), Code.NO_POD_GROUP) == "a PodGroup for pod team/subject"

    def test_pod_group_not_found(self) -> None:
        snapshot = layout((1, 4))
        lost = replace(snapshot, pod_groups={k: g for k, g in snapshot.pod_groups.items() if k[1] != "pg-p0"})
        stay = plan(lost, spec(scope=only_nodes("n0"))).stays["n0"]
        assert self.words(stay, Code.POD_GROUP_NOT_FOUND) == "a snapshot that holds PodGroup team/pg-p0"

    def test_pod_group_on_its_way_out(self) -> None:
        snapshot = layout((1, 4))
        groups = {k: replace(g, deleting=True) for k, g in snapshot.pod_groups.items()}
        stay = plan(replace(snapshot, pod_groups=groups), spec(scope=only_nodes("n0"))).stays["n0"]
        assert self.words(stay, Code.POD_GROUP_NOT_FOUND) == "waiting until PodGroup team/pg-p0 is gone"

    def test_pod_group_out_of_scope(self) -> None:
        stay = self.stay(run=spec(scope=without_groups("pg-subject")))
        assert self.words(stay, Code.POD_GROUP_OUT_OF_SCOPE) == "scope.podGroups that includes PodGroup team/pg-subject"

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (PlannerOptions(forbidden_namespaces=frozenset({"team"})), "a guardrail that allows namespace team"),
            (PlannerOptions(forbidden_owner_kinds=frozenset({"Job"})), "a guardrail that allows owners of kind Job"),
            (
                PlannerOptions(envelope=Envelope(pod_groups=frozenset())),
                "an approved plan that covers PodGroup team/pg-subject",
            ),
        ],
    )
    def test_guardrails_and_approval(self, options: PlannerOptions, words: str) -> None:
        assert self.words(self.stay(options), Code.POD_GROUP_OUT_OF_SCOPE) == words

    def test_controllers(self) -> None:
        words = "a controller that recreates pod team/subject"
        assert self.words(self.stay(owner=None), Code.NO_CONTROLLER) == words
        assert self.words(self.stay(owner=Owner("argoproj.io/v1alpha1", "Workflow", "x")), Code.UNKNOWN_CONTROLLER) == words

    @pytest.mark.parametrize(
        ("job", "code", "words"),
        [
            (None, Code.OWNER_NOT_FOUND, "a snapshot that holds Job.batch.volcano.sh team/subject"),
            ("deleting", Code.OWNER_NOT_FOUND, "waiting until Job.batch.volcano.sh team/subject is gone"),
            ("AbortJob", Code.FATAL_POLICY, "removing policy PodEvicted -> AbortJob of Job.batch.volcano.sh team/subject"),
            (
                "RestartJob",
                Code.CASCADING_POLICY,
                "safety.cascades Allow, or removing policy PodEvicted -> RestartJob of Job.batch.volcano.sh team/subject",
            ),
        ],
    )
    def test_volcano_jobs(self, job: str | None, code: Code, words: str) -> None:
        policies = (JobPolicy(frozenset({"PodEvicted"}), job),) if job and job != "deleting" else ()
        jobs = {("team", "unrelated"): VolcanoJob("team", "unrelated", (), {}, 3, 0)}
        if job is not None:
            jobs["team", "subject"] = VolcanoJob("team", "subject", policies, {}, 3, 0, deleting=job == "deleting")
        mate = replace(pod("mate", "b", 1), owner=pod("subject", "a", 1).owner)
        pods = [pod("subject", "a", 1), pod("o", "b", 4), mate]
        snapshot = replace(cluster([node("a"), node("b")], pods), volcano_jobs=jobs)
        assert self.words(self.of(snapshot), code) == words

    def test_nothing_changes_pods_that_belong_to_their_node(self) -> None:
        assert self.words(self.stay(owner=Owner("apps/v1", "DaemonSet", "agent")), Code.DAEMON_SET) == ""
        assert self.words(self.stay(mirror=True), Code.MIRROR_POD) == ""

    def test_terminating(self) -> None:
        assert self.words(self.stay(terminating=True), Code.TERMINATING) == "waiting until pod team/subject is gone"

    def test_unsupported_constraints_of_pod_and_pod_group(self) -> None:
        stay = self.stay(unsupported=("topologySpreadConstraints",))
        assert self.words(stay, Code.UNSUPPORTED_CONSTRAINT) == "pod team/subject without topologySpreadConstraints"
        snapshot = layout((1, 4))
        groups = {k: replace(g, unsupported=("networkTopology",)) for k, g in snapshot.pod_groups.items()}
        stay = plan(replace(snapshot, pod_groups=groups), spec(scope=only_nodes("n0"))).stays["n0"]
        assert self.words(stay, Code.UNSUPPORTED_CONSTRAINT) == "PodGroup team/pg-p0 without networkTopology"

    def test_every_pod_in_the_way_is_named(self) -> None:
        pods = [pod("p", "a", 1, owner=None), pod("q", "a", 1, terminating=True), pod("r", "a", 1), pod("s", "b", 4)]
        stay = self.of(cluster([node("a"), node("b")], pods))
        assert stay.reason == Reason(Code.NO_CONTROLLER, "pod team/p has no controller; evicted, it would be lost")
        assert stay.nearest == (Change(Action.USE_CONTROLLER, "pod team/p"), Change(Action.WAIT, "pod team/q"))

    def test_one_pod_that_can_never_move_settles_it(self) -> None:
        pods = [pod("p", "a", 1, owner=None), pod("q", "a", 1, mirror=True), pod("s", "b", 4)]
        assert self.of(cluster([node("a"), node("b")], pods)).nearest == ()

    def test_many_pods_are_counted(self) -> None:
        pods = [pod(f"p{i}", "a", 1, owner=None) for i in range(5)]
        stay = self.of(cluster([node("a"), node("b")], [*pods, pod("s", "b", 2)]))
        assert stay.remedy == ("a controller that recreates pod team/p0 and a controller that recreates pod team/p1 and 3 more")


class TestNodes:
    def test_out_of_scope_and_not_approved(self) -> None:
        (change,) = plan(layout((1, 4)), spec(scope=only_nodes("n1"))).stays["n0"].nearest
        assert str(change) == "scope.nodes that includes node n0"
        options = PlannerOptions(envelope=Envelope(nodes=frozenset({"n1"})))
        assert plan(layout((1, 4)), None, options).stays["n0"].remedy == "an approved plan that covers node n0"

    def test_not_ready(self) -> None:
        snapshot = cluster([node("a", ready=False), node("b")], [pod("p", "a", 1), pod("q", "b", 1)])
        assert plan(snapshot).stays["a"].remedy == "node a being Ready"

    def test_receivers_are_what_a_plan_needs(self) -> None:
        assert plan(layout((1, 5))).stays["n1"].nearest == ()

    def test_threshold(self) -> None:
        # two nodes of four would do with one: 25 points
        stay = plan(layout((1, 5, 0, 0)), spec(50)).stays["n0"]
        assert stay.remedy == "minFragImprovementPercent 25 instead of 50"

    def test_budgets(self) -> None:
        # n0 (1 card) is moved; n1 would make it 2 PodGroups and 3 cards
        snapshot = cluster(
            [node("n0"), node("n1"), node("r")], [pod("p", "n0", 1), pod("q", "n1", 2), pod("r", "r", 3, owner=None)]
        )
        both = plan(snapshot, spec(pod_groups=1, cards=2)).stays["n1"]
        assert both.remedy == f"maxPerRun.podGroups 2 instead of 1 and maxPerRun.resources of {GPU} 3 instead of 2"
        assert plan(snapshot, spec(pod_groups=2, cards=2)).stays["n1"].remedy == f"maxPerRun.resources of {GPU} 3 instead of 2"
        approved = PlannerOptions(envelope=Envelope(cards=1))
        assert plan(snapshot, None, approved).stays["n1"].remedy == "an approved plan that covers 3 cards"


class TestReceivers:
    """a's pod of 2 cards fits nowhere; 1 node less would do."""

    def stay(self, *others: Any, victim: Any = None, **changes: Any) -> Stay:
        """Return why a stays beside node b, which has ``changes`` and 2 of 8 cards in use by a pod that stays."""
        pods = [victim or pod("v", "a", 2), *others, pod("b", "b", 2, owner=None)]
        stay = plan(cluster([node("a"), node("b", **changes)], pods)).stays["a"]
        assert stay.code is Code.NO_RECEIVER
        return stay

    def test_cards(self) -> None:
        # 2 + 7 + 7 cards would do with two nodes
        pods = [pod("v", "a", 2), pod("b", "b", 7, owner=None), pod("c", "c", 7, owner=None)]
        stay = plan(cluster([node(n) for n in "abc"], pods)).stays["a"]
        assert (stay.receivers, stay.refusals) == (2, (Refusal(Code.NODE_RESOURCES, GPU, 2),))
        assert stay.nearest == (Change(Action.FREE_RESOURCE, "b", GPU, 1000, 2000),)
        assert stay.remedy == f"1 more {GPU} idle on node b"

    def test_cpu_that_is_not_there(self) -> None:
        stay = self.stay(allocatable={**ROOM, "cpu": 1_500})
        assert stay.refusals == (Refusal(Code.NODE_RESOURCES, "cpu", 1),)
        assert stay.remedy == "500m more cpu idle on node b"

    def test_two_things_at_once_are_no_single_change(self) -> None:
        # b has 1 card and half a cpu idle
        assert self.stay(allocatable={**ROOM, GPU: 3_000, "cpu": 1_500}).nearest == ()
        assert self.stay(ready=False, allocatable={**ROOM, "cpu": 1_500}).nearest == ()
        assert self.stay(unschedulable=True, taints=(Taint("x", "", "NoSchedule"),)).nearest == ()

    def test_cordon_with_its_taint(self) -> None:
        taint = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
        assert self.stay(unschedulable=True, taints=(taint,)).remedy == "uncordoning node b"

    def test_not_ready_with_its_taint(self) -> None:
        taint = Taint("node.kubernetes.io/not-ready", "", "NoExecute")
        assert self.stay(ready=False, taints=(taint,)).remedy == "node b being Ready"

    def test_taint(self) -> None:
        stay = self.stay(taints=(Taint("dedicated", "ml", "NoSchedule"),))
        assert stay.refusals == (Refusal(Code.TAINT_TOLERATION, "dedicated=ml:NoSchedule", 1),)
        assert stay.remedy == "tolerating taint dedicated=ml:NoSchedule of node b"

    def test_node_affinity(self) -> None:
        victim = pod("v", "a", 2, constraints=Constraints(node_selector=(("pool", "x"),)))
        assert self.stay(victim=victim).remedy == "a node selector or affinity that node b matches"

    def test_host_port(self) -> None:
        port = Constraints(host_ports=(PORT,))
        stay = self.stay(pod("holder", "b", 0, constraints=port), victim=pod("v", "a", 2, constraints=port))
        assert stay.refusals == (Refusal(Code.NODE_PORTS, "", 1),)
        assert stay.remedy == "host port 80/TCP free on node b"

    def test_relations_between_pods(self) -> None:
        """What other pods would have to change is not looked for; which filter closes how many nodes is shown."""
        term = AffinityTerm("kubernetes.io/hostname", LabelSelector(), frozenset({"team"}))
        stay = self.stay(pod("hermit", "b", 0, relations=Relations(anti_affinity=(term,))))
        assert (stay.code, stay.nearest) == (Code.NO_RECEIVER, ())
        assert stay.refusals == (Refusal(Code.INTER_POD_AFFINITY, "", 1),)

    def test_what_is_nearest(self) -> None:
        """Uncordoning goes before waiting for cards, that before a toleration; of cards, the smallest lack counts."""
        nodes = [
            node("a"),
            node("b"),
            node("c", taints=(Taint("t", "", "NoSchedule"),)),
            node("d"),
            node("e", unschedulable=True),
        ]
        pods = [pod("v", "a", 4), pod("b", "b", 7, owner=None), pod("c", "c", 4, owner=None), pod("d", "d", 6, owner=None)]
        stay = plan(cluster(nodes, [*pods, pod("e", "e", 1, owner=None)])).stays["a"]
        assert stay.detail == (
            "no room for a pod of 4 cards on the 4 other occupied nodes "
            f"(2 lack {GPU}, 1 NodeUnschedulable, 1 TaintToleration (t:NoSchedule))"
        )
        assert stay.remedy == "uncordoning node e"
        full = [*pods, pod("e", "e", 8, owner=None)]
        assert plan(cluster(nodes, full)).stays["a"].remedy == f"2 more {GPU} idle on node d"

    def test_several_pods_that_fit_one_by_one(self) -> None:
        # two pods of 2 cards; b has 3 idle: after the first, 1 of the 2 for the second is missing
        pods = [pod("p", "a", 2, "g"), pod("q", "a", 2, "g"), pod("b", "b", 5, owner=None), pod("c", "c", 7, owner=None)]
        stay = plan(cluster([node(n) for n in "abc"], pods)).stays["a"]
        assert stay.detail == "each of its pods fits somewhere, but not all together"
        assert stay.nearest == (Change(Action.FREE_RESOURCE, "b", GPU, 1000, 2000),)
        assert (stay.receivers, stay.refusals) == (0, ())

    def test_the_node_itself_is_no_help(self) -> None:
        # a and b are each other's only receivers, and twins
        pods = [pod("p", "a", 5), pod("q", "b", 5), pod("c", "c", 6, owner=None)]
        stays = plan(cluster([node(n) for n in "abc"], pods)).stays
        assert stays["a"].remedy == f"2 more {GPU} idle on node b"
        assert stays["b"].remedy == f"2 more {GPU} idle on node a"

    def test_pod_groups_with_a_deleted_pod_do_not_matter(self) -> None:
        snapshot = layout((1, 4))
        group = PodGroup("team", "unrelated", "uid", {}, 1, deleting=True)
        more = replace(snapshot, pod_groups={**snapshot.pod_groups, group.key: group})
        assert plan(more).stays == plan(snapshot).stays
