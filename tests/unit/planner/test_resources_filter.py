"""NodeResourcesFit as Volcano compares: every resource the pod asks for, on the state after the moves planned so far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.plan import Code, Verdict
from repack_gitops.planner.feasibility import node_resources_fit
from tests.unit.planner.build import CPU_AND_PODS, GPU, cluster, freed, node, plan, pod, targets
from tests.unit.planner.objects import node_object, pod_object, snapshot_of

GIB = 2**30 * 1000


def moves(request: dict[str, int], allocatable: dict[str, int], **other: object) -> bool:
    """Tell whether a pod with ``request`` can join node b with ``allocatable``, where a pod of 4 cards and 1 cpu runs."""
    subject = pod("subject", "a", 1, requests=request, template=request)
    nodes = [node("a"), node("b", allocatable=allocatable)]
    evaluation = plan(cluster(nodes, [subject, pod("other", "b", 4, owner=None, **other)]))
    if not evaluation.steps:
        assert evaluation.stays["a"].code is Code.NO_RECEIVER
    return bool(evaluation.steps)


ROOM = {GPU: 8_000, **CPU_AND_PODS}
ASKED = {GPU: 1_000, "cpu": 1_000, "pods": 1_000}


class TestOneReceiver:
    def test_it_fits_exactly(self) -> None:
        assert moves(ASKED, {GPU: 5_000, "cpu": 2_000, "pods": 2_000})

    @pytest.mark.parametrize("name", [GPU, "cpu", "pods"])
    def test_one_thousandth_short(self, name: str) -> None:
        exact = {GPU: 5_000, "cpu": 2_000, "pods": 2_000}
        assert not moves(ASKED, {**exact, name: exact[name] - 1})

    def test_memory_short_by_a_byte(self) -> None:
        asked = {**ASKED, "memory": 8 * GIB}
        assert moves(asked, {**ROOM, "memory": 8 * GIB})
        assert not moves(asked, {**ROOM, "memory": 8 * GIB - 1000})

    def test_a_resource_the_node_does_not_have_counts_as_zero(self) -> None:
        assert not moves({**ASKED, "example.com/ib": 1_000}, ROOM)
        assert moves({**ASKED, "example.com/ib": 1_000}, {**ROOM, "example.com/ib": 1_000})

    def test_only_what_is_asked_for_matters(self) -> None:
        """The node is out of huge pages, even overdrawn; a pod that asks for none does not care (row 107)."""
        overdrawn = {"requests": {GPU: 4_000, "cpu": 1_000, "pods": 1_000, "hugepages-2Mi": GIB}}
        assert moves(ASKED, ROOM, **overdrawn)
        assert not moves({**ASKED, "hugepages-2Mi": 1}, ROOM, **overdrawn)

    def test_volcano_compares_cpu_and_memory_whether_asked_for_or_not(self) -> None:
        full = {"requests": {GPU: 4_000, "cpu": 1_000, "pods": 1_000, "memory": ROOM["memory"]}}
        overdrawn = {"requests": {**full["requests"], "memory": ROOM["memory"] + 1}}
        assert moves(ASKED, ROOM, **full)
        assert not moves(ASKED, ROOM, **overdrawn)

    def test_idle_below_zero_never_fits(self) -> None:
        """Its device plugin now reports 2 cards while 4 are in use."""
        assert not moves(ASKED, {**ROOM, GPU: 2_000})

    def test_the_number_of_pods_is_a_resource(self) -> None:
        assert not moves(ASKED, {**ROOM, "pods": 1_000})
        assert moves(ASKED, {**ROOM, "pods": 1_000}, phase="Running", requests={GPU: 4_000})

    def test_amounts_beyond_64_bits(self) -> None:
        """100P bytes are 10^20 thousandths; Volcano's own conversion overflows there (row 91)."""
        huge = 100 * 10**15 * 1000
        assert huge > 2**63
        asked = {**ASKED, "ephemeral-storage": huge}
        assert moves(asked, {**ROOM, "ephemeral-storage": huge})
        assert not moves(asked, {**ROOM, "ephemeral-storage": huge - 1})
        assert not moves(asked, {**ROOM, "ephemeral-storage": huge // 2})
        assert moves(ASKED, {**ROOM, "ephemeral-storage": huge})

    def test_a_huge_amount_elsewhere_does_not_blur_small_ones(self) -> None:
        nodes = [node("a"), node("b"), node("giant", 0, allocatable={GPU: 1_000, "memory": 10**22, "pods": 110_000})]
        request = {GPU: 1_000, "memory": 8 * GIB, "pods": 1_000}
        pods = [pod("subject", "a", 1, requests=request, template=request), pod("other", "b", 4, owner=None)]
        assert freed(cluster(nodes, pods)) == ("a",)


class TestWhoHoldsRoom:
    """Node b has 8 cards and a pod of 4; the subject wants 4 more. c keeps the layout from ever being compact."""

    def moves(self, **holder: object) -> bool:
        pods = [pod("subject", "a", 4), pod("other", "b", 4, owner=None), pod("third", "c", 6, owner=None)]
        pods.append(pod("holder", **{"on": "b", "cards": 1, "owner": None, **holder}))  # type: ignore[arg-type]
        evaluation = plan(cluster([node(n) for n in "abc"], pods))
        assert evaluation.verdict is not Verdict.NO_FRAGMENTATION
        return bool(evaluation.steps)

    def test_a_running_pod_of_any_scheduler(self) -> None:
        assert not self.moves()
        assert not self.moves(scheduler_name="default-scheduler", pod_group=None)

    def test_a_terminating_pod_still_does(self) -> None:
        assert not self.moves(terminating=True)

    @pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
    def test_a_finished_pod_does_not(self, phase: str) -> None:
        assert self.moves(phase=phase)

    def test_a_pending_pod_nominated_to_the_node_does(self) -> None:
        assert not self.moves(on=None, nominated_node="b")
        assert self.moves(on=None, nominated_node="elsewhere")
        assert self.moves(on=None)

    def test_a_bound_pods_stale_nomination_does_not_count_twice(self) -> None:
        assert self.moves(on="a", cards=0, nominated_node="b")

    def test_a_finished_pods_nomination_does_not_count(self) -> None:
        assert self.moves(on=None, nominated_node="b", phase="Failed")


class TestMovesAddUp:
    def test_ten_pods_do_not_share_one_hole(self) -> None:
        """Each of them fits alone (row 110)."""
        nodes = [node(f"n{i}") for i in range(10)] + [node("hole"), *(node(f"full{i}") for i in range(2))]
        pods = [pod(f"p{i}", f"n{i}", 5) for i in range(10)]
        pods += [pod("big", "hole", 3, owner=None), *(pod(f"full{i}", f"full{i}", 8, owner=None) for i in range(2))]
        evaluation = plan(cluster(nodes, pods))
        assert len(evaluation.steps) == 1
        assert evaluation.moves[0].to_node == "hole"

    def test_cpu_taken_by_the_first_is_missing_for_the_second(self) -> None:
        nodes = [node("a"), node("b"), node("c", allocatable={**ROOM, "cpu": 3_000})]
        request = {GPU: 1_000, "cpu": 2_000, "pods": 1_000}
        pods = [pod(n, n, 1, requests=request, template=request) for n in "ab"] + [pod("c", "c", 1, owner=None)]
        # a and b could also share one of them; the first to move goes to c, where 1 cpu is left for nobody
        assert targets(cluster(nodes, pods))["a"] == "c"
        assert len(freed(cluster(nodes, pods))) == 1

    def test_the_source_is_charged_what_it_holds_and_the_receiver_what_the_template_asks(self) -> None:
        """An in-place resize: the pod holds 4 cpu, its replacement will ask for 2."""
        subject = pod("subject", "a", 1)
        subject = replace(subject, requests={**ASKED, "cpu": 4_000}, template={**ASKED, "cpu": 2_000})
        nodes = [node("a"), node("b", allocatable={**ROOM, "cpu": 3_000})]
        assert freed(cluster(nodes, [subject, pod("other", "b", 4, owner=None)])) == ("a",)

    def test_init_containers_are_charged_for_the_pods_whole_life(self) -> None:
        init = {"name": "warm-up", "resources": {"requests": {GPU: "4"}, "limits": {GPU: "4"}}}
        nodes = [node_object(n) for n in "abc"]
        pods = [pod_object("p", "a", 1, {"initContainers": [init]}), pod_object("q", "b", 5), pod_object("r", "c", 5)]
        evaluation = plan(snapshot_of([*nodes, *pods]))
        # 4 + 5 > 8, though the containers that run need only 1 + 5; 14 cards would do with two nodes
        assert evaluation.steps == ()
        assert (evaluation.before.occupied, evaluation.before.optimal) == (3, 2)
        assert "a pod of 4 cards" in evaluation.stays["a"].detail


class TestReason:
    def test_names_the_resource_and_what_is_there(self) -> None:
        reason = node_resources_fit.why_not({GPU: 2_000, "cpu": 500}, {GPU: 1_000, "cpu": 500})
        assert str(reason) == f"NodeResourcesFit: {GPU}: needs 2, idle 1"
        assert node_resources_fit.why_not({"cpu": 500}, {"cpu": 500}) is None

    def test_shows_what_is_overcommitted(self) -> None:
        assert "needs 500m, idle 0" in str(node_resources_fit.why_not({"cpu": 500}, {"cpu": 0}))
        assert "needs 0, overcommitted by 500m" in str(node_resources_fit.why_not({GPU: 1000}, {GPU: 1000, "cpu": -500}))

    def test_a_nodes_reason_counts_what_its_receivers_lack(self) -> None:
        nodes = [node("a"), node("b", allocatable={**ROOM, "cpu": 1_000}), node("c"), node("d", unschedulable=True), node("e")]
        pods = [
            pod("subject", "a", 4),
            pod("b", "b", 2, owner=None),
            pod("c", "c", 6, owner=None),
            pod("d", "d", 1, owner=None),
        ]
        evaluation = plan(cluster(nodes, [*pods, pod("e", "e", 8, owner=None)]))
        assert evaluation.stays["a"].detail == (
            "no room for a pod of 4 cards on the 4 other occupied nodes "
            "(1 by node constraints, 2 lack nvidia.com/gpu, 1 lack cpu)"
        )
