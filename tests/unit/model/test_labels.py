"""Label selectors match as Kubernetes' do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.model.labels import LabelSelector, Operator, Requirement

OPERATORS: list[Operator] = ["In", "NotIn", "Exists", "DoesNotExist"]
keys = st.sampled_from(["a", "b", "c"])
values = st.sampled_from(["", "x", "y"])
label_sets = st.dictionaries(keys, values, max_size=3)
requirements = st.builds(Requirement, keys, st.sampled_from(OPERATORS), st.lists(values, max_size=2).map(tuple))


@pytest.mark.parametrize(
    ("operator", "listed", "labels", "matches"),
    [
        ("In", ("x",), {"a": "x"}, True),
        ("In", ("x",), {"a": "y"}, False),
        ("In", ("x",), {}, False),
        ("In", ("",), {"a": ""}, True),
        ("In", ("",), {}, False),
        ("In", (), {"a": "x"}, False),
        ("NotIn", ("x",), {"a": "x"}, False),
        ("NotIn", ("x",), {"a": "y"}, True),
        ("NotIn", ("x",), {}, True),
        ("Exists", (), {"a": ""}, True),
        ("Exists", (), {"b": ""}, False),
        ("DoesNotExist", (), {"a": ""}, False),
        ("DoesNotExist", (), {}, True),
    ],
)
def test_one_requirement(operator: Operator, listed: tuple[str, ...], labels: dict[str, str], matches: bool) -> None:
    assert Requirement("a", operator, listed).matches(labels) is matches


def test_the_empty_selector_matches_everything() -> None:
    assert LabelSelector().matches({})
    assert LabelSelector.of({}).matches({"a": "x"})


@given(label_sets, st.lists(requirements, max_size=3), label_sets)
def test_both_halves_are_joined_by_and(
    match_labels: dict[str, str], expressions: list[Requirement], labels: dict[str, str]
) -> None:
    expected = all(labels.get(k) == v for k, v in match_labels.items()) and all(r.matches(labels) for r in expressions)
    assert LabelSelector.of(match_labels, tuple(expressions)).matches(labels) is expected


@given(label_sets, st.lists(requirements, max_size=3))
def test_equal_selectors_are_equal_objects(match_labels: dict[str, str], expressions: list[Requirement]) -> None:
    turned = dict(reversed(match_labels.items()))
    assert LabelSelector.of(match_labels, tuple(expressions)) == LabelSelector.of(turned, tuple(reversed(expressions)))


@given(requirements, label_sets)
def test_opposites(requirement: Requirement, labels: dict[str, str]) -> None:
    opposite: dict[Operator, Operator] = {"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}
    other = Requirement(requirement.key, opposite[requirement.operator], requirement.values)
    assert requirement.matches(labels) is not other.matches(labels)
