"""Filters that depend on who is there already: host ports, and anti-affinity of pods that run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repack_gitops.model.affinity import AffinityTerm
from repack_gitops.model.cluster import Constraints, HostPort, Pod, Relations
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.model.plan import Code
from repack_gitops.planner.feasibility.inter_pod_affinity import Guards
from tests.unit.planner.build import cluster, node, plan, pod, targets

ALL = "0.0.0.0"  # noqa: S104
HOST = "kubernetes.io/hostname"


def holding(*ports: HostPort) -> Constraints:
    return Constraints(host_ports=ports)


class TestHostPorts:
    def moves(self, wanted: HostPort, held: HostPort, **holder: object) -> bool:
        """Tell whether a pod that wants one port can join a node where a cpu-only pod holds the other."""
        pods = [
            pod("subject", "a", 1, constraints=holding(wanted)),
            pod("other", "b", 4, owner=None),
            pod("holder", **{"on": "b", "cards": 0, "constraints": holding(held), **holder}),  # type: ignore[arg-type]
        ]
        evaluation = plan(cluster([node("a"), node("b")], pods))
        if not evaluation.steps:
            assert "host ports" in evaluation.stays["a"].detail
        return bool(evaluation.steps)

    @pytest.mark.parametrize(
        ("wanted", "held", "fits"),
        [
            (HostPort(80, "TCP", ALL), HostPort(80, "TCP", ALL), False),
            (HostPort(80, "TCP", ALL), HostPort(81, "TCP", ALL), True),
            (HostPort(80, "TCP", ALL), HostPort(80, "UDP", ALL), True),
            (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", "10.0.0.2"), True),
            (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", "10.0.0.1"), False),
            (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", ALL), False),  # the wildcard holds every address
            (HostPort(80, "TCP", ALL), HostPort(80, "TCP", "10.0.0.1"), False),
            (HostPort(80, "TCP", ALL), HostPort(80, "SCTP", "10.0.0.1"), True),
        ],
    )
    def test_port_protocol_and_address(self, wanted: HostPort, held: HostPort, fits: bool) -> None:
        assert self.moves(wanted, held) is fits

    def test_a_finished_pod_holds_none(self) -> None:
        port = HostPort(80, "TCP", ALL)
        assert self.moves(port, port, phase="Succeeded")

    def test_a_terminating_pod_still_does(self) -> None:
        port = HostPort(80, "TCP", ALL)
        assert not self.moves(port, port, terminating=True)

    def test_a_nominated_pod_will(self) -> None:
        port = HostPort(80, "TCP", ALL)
        assert not self.moves(port, port, on=None, nominated_node="b")

    def test_two_victims_with_one_port_need_two_receivers(self) -> None:
        # p and q, on a node each, both want port 80; c has room for both, d for none. p goes to c, and q finds it taken.
        port = holding(HostPort(80, "TCP", ALL))
        pods = [pod("p", "a", 1, constraints=port), pod("q", "b", 1, constraints=port)]
        pods += [pod("big", "c", 6, owner=None), pod("full", "d", 8, owner=None)]
        snapshot = cluster([node(n) for n in "abcd"], pods)
        assert targets(snapshot) == {"p": "c"}
        assert "host ports" in plan(snapshot).stays["b"].detail

    def test_a_port_of_the_pods_own_node_does_not_matter(self) -> None:
        port = holding(HostPort(80, "TCP", ALL))
        pods = [pod("p", "a", 1, constraints=port), pod("other", "b", 4)]
        assert targets(cluster([node("a"), node("b")], pods)) == {"p": "b"}


def term(selector: LabelSelector | None, namespaces: frozenset[str] = frozenset({"team"}), key: str = HOST) -> AffinityTerm:
    return AffinityTerm(key, selector, namespaces)


APP_X = LabelSelector.of({"app": "x"})


class TestAntiAffinityOfRunningPods:
    def moves(self, *terms: AffinityTerm, labels: dict[str, str] | None = None, **hermit: object) -> bool:
        """Tell whether a pod labelled app=x can join node b (zone z), where a cpu-only pod has anti-affinity ``terms``."""
        pods = [
            pod("subject", "a", 1, labels={"app": "x"} if labels is None else labels),
            pod("other", "b", 4, owner=None),
            pod("hermit", **{"on": "b", "cards": 0, "relations": Relations(anti_affinity=terms), **hermit}),  # type: ignore[arg-type]
        ]
        nodes = [node("a", labels={HOST: "a", "zone": "z"}), node("b", labels={HOST: "b", "zone": "z"})]
        evaluation = plan(cluster(nodes, pods))
        if not evaluation.steps:
            assert evaluation.stays["a"].code is Code.NO_RECEIVER
        return bool(evaluation.steps)

    def test_it_repels_newcomers(self) -> None:
        assert not self.moves(term(APP_X))

    def test_only_those_it_selects(self) -> None:
        assert self.moves(term(LabelSelector.of({"app": "y"})))
        assert self.moves(term(APP_X), labels={})

    @pytest.mark.parametrize(
        ("operator", "values", "repels"),
        [
            ("In", ("w", "x"), True),
            ("NotIn", ("x",), False),
            ("NotIn", ("y",), True),
            ("Exists", (), True),
            ("DoesNotExist", (), False),
        ],
    )
    def test_expressions(self, operator: str, values: tuple[str, ...], repels: bool) -> None:
        selector = LabelSelector.of({}, (Requirement("app", operator, values),))  # type: ignore[arg-type]
        assert self.moves(term(selector)) is not repels

    def test_an_empty_selector_repels_everyone_and_none_nobody(self) -> None:
        assert not self.moves(term(LabelSelector()))
        assert self.moves(term(None))

    def test_namespaces(self) -> None:
        assert self.moves(term(APP_X, frozenset({"other"})))
        assert not self.moves(term(APP_X, frozenset({"other", "team"})))
        everywhere = AffinityTerm(HOST, APP_X, frozenset(), LabelSelector())
        assert not self.moves(everywhere)
        assert not self.moves(replace(everywhere, namespace_selector=LabelSelector.of({"a": "b"})))  # unknown: taken to match

    def test_it_reaches_as_far_as_its_topology(self) -> None:
        assert not self.moves(term(APP_X, key="zone"), on="a")  # another node of the same zone, even the pod's own
        assert self.moves(term(APP_X, key=HOST), on="a")
        assert self.moves(term(APP_X, key="rack"))  # the node has no such label: no domain to guard

    def test_finished_pods_repel_nobody_and_nominated_ones_do(self) -> None:
        assert self.moves(term(APP_X), phase="Failed")
        assert not self.moves(term(APP_X), on=None, nominated_node="b")
        assert not self.moves(term(APP_X), terminating=True)

    def test_any_of_several_terms(self) -> None:
        assert not self.moves(term(LabelSelector.of({"app": "y"})), term(APP_X))


LABELS = ({}, {"app": "x"}, {"app": "y"}, {"app": "x", "tier": "1"}, {"tier": "1"})
SELECTORS = (
    None,
    LabelSelector(),
    APP_X,
    LabelSelector.of({"app": "x", "tier": "1"}),
    LabelSelector.of({}, (Requirement("app", "In", ("x", "y")),)),
    LabelSelector.of({}, (Requirement("app", "In", ()),)),
    LabelSelector.of({}, (Requirement("app", "NotIn", ("x",)),)),
    LabelSelector.of({"tier": "1"}, (Requirement("app", "Exists"),)),
)


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("namespace", ["team", "other"])
def test_the_index_answers_like_asking_every_term(labels: dict[str, str], namespace: str) -> None:
    guards, terms = Guards(), []
    for selector in SELECTORS:
        for namespaces in (frozenset({"team"}), frozenset({"other", "third"})):
            terms.append(term(selector, namespaces))
            guards.add(terms[-1])
    subject: Pod = pod("subject", None, 1, labels=labels, namespace=namespace)
    assert set(guards.against(subject, {})) == {t for t in terms if t.matches(subject, {})}
    assert not list(Guards().against(subject, {}))
