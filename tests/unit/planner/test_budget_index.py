"""The quick way to a pod's budgets against asking each of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.model.cluster import Pod, PodDisruptionBudget
from repack_gitops.model.labels import LabelSelector, Requirement
from repack_gitops.planner.disruption_budgets.index import BudgetIndex
from tests.unit.planner.budgets import pdb
from tests.unit.planner.build import pod

KEYS, VALUES, NAMESPACES = ("a", "b", "c"), ("1", "2", "3"), ("team", "other")
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement,
        st.sampled_from(KEYS),
        st.sampled_from(("In", "NotIn")),
        st.lists(st.sampled_from(VALUES), max_size=3).map(tuple),
    ),
    st.builds(Requirement, st.sampled_from(KEYS), st.sampled_from(("Exists", "DoesNotExist"))),
)
SELECTORS = st.one_of(st.none(), st.builds(LabelSelector.of, LABELS, st.lists(REQUIREMENTS, max_size=2).map(tuple)))


@st.composite
def budgets(draw: st.DrawFn) -> tuple[PodDisruptionBudget, ...]:
    found = draw(st.lists(st.tuples(st.sampled_from(NAMESPACES), SELECTORS), max_size=8))
    return tuple(pdb(f"b{i}", 0, namespace=namespace, selector=s) for i, (namespace, s) in enumerate(found))


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    return replace(pod("p", "n", 1), namespace=draw(st.sampled_from((*NAMESPACES, "third"))), labels=draw(LABELS))


@given(budgets(), pods())
def test_the_index_finds_exactly_the_budgets_that_select_a_pod(found: tuple[PodDisruptionBudget, ...], subject: Pod) -> None:
    expected = sorted((b for b in found if b.selects(subject)), key=lambda b: b.name)
    assert list(BudgetIndex(found).of(subject)) == expected


def test_a_selector_that_demands_a_common_and_a_rare_label_is_tried_on_the_rare_one_only() -> None:
    """5,000 budgets that share one label cost a pod no more than the one that is about it."""
    found = [pdb(f"b{i}", 0, selector=LabelSelector.of({"app": f"{i}", "tier": "gpu"})) for i in range(5_000)]
    tried = []

    class Spy(LabelSelector):
        def matches(self, labels: object) -> bool:
            tried.append(self)
            return LabelSelector.matches(self, labels)  # type: ignore[arg-type]

    spied = [replace(b, selector=Spy(b.selector.requirements)) for b in found if b.selector is not None]
    subject = replace(pod("p", "n", 1), labels={"app": "7", "tier": "gpu"})
    assert [b.name for b in BudgetIndex(spied).of(subject)] == ["b7"]
    assert len(tried) == 1
