"""Documents are written for people, and read back as they were."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repack_gitops.model.documents import parse, read_any
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.model.schema import KINDS
from repack_gitops.model.writing import _SPEC_ORDER, to_yaml
from tests.unit.model.large import large_run
from tests.unit.model.strategies import TEXT, documents, runs

slow_to_generate = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], max_examples=60, deadline=None
)
plain_data = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("kind", KINDS)
@slow_to_generate
@given(data=st.data())
def test_what_is_written_reads_back_equal(kind: str, data: st.DataObject) -> None:
    document = data.draw(documents(kind))
    text = to_yaml(document)
    assert read_any(text, "a.yaml") == document
    assert to_yaml(read_any(text, "a.yaml")) == text


@slow_to_generate
@given(run=runs)
def test_json_of_a_document_reads_back_equal(run: Any) -> None:
    data = msgspec.to_builtins(run)
    assert read_any(json.dumps(data), "a.json") == run
    assert read_any(json.dumps(data, indent="\t").encode(), "a.yaml") == run


@given(data=st.dictionaries(TEXT, plain_data, min_size=1, max_size=4))
@settings(max_examples=300)
def test_every_reader_of_yaml_reads_the_same(data: dict[str, Any]) -> None:
    text = to_yaml(data)
    assert yaml.safe_load(text) == data
    assert yaml.load(text, Loader=yaml.CSafeLoader) == data
    assert parse(text, "a.yaml").data == data


@given(data=st.dictionaries(TEXT, plain_data, min_size=1, max_size=4))
def test_lines_are_never_folded(data: dict[str, Any]) -> None:
    text = to_yaml(data)
    assert text.endswith("\n")
    assert all(line == line.rstrip() and (":" in line or line.lstrip().startswith("- ")) for line in text.split("\n")[:-1])


def test_the_order_of_a_spec_names_all_of_its_fields() -> None:
    assert set(_SPEC_ORDER) == {"mode", *RunTemplateSpec.__struct_encode_fields__}


def test_free_mappings_are_sorted_and_empty_ones_stay_on_the_line() -> None:
    run = read_any(
        "{apiVersion: repack.volcano.sh/v1alpha1, kind: RepackRun, metadata: {name: a, labels: {z: '1', b: '2'}},"
        " spec: {goals: [{resource: a.b/c}], mode: DryRun, scope: {nodes: {}}}}",
        "a.yaml",
    )
    assert to_yaml(run) == (
        "apiVersion: repack.volcano.sh/v1alpha1\nkind: RepackRun\nmetadata:\n  name: a\n  labels:\n"
        '    b: "2"\n    z: "1"\nspec:\n  mode: DryRun\n  scope:\n    nodes: {}\n  goals:\n    - resource: a.b/c\n'
    )


def test_a_plan_of_three_thousand_moves_is_written_and_read_quickly() -> None:
    run = large_run(nodes=750, pods_per_node=4)
    started = time.process_time()
    text = to_yaml(run)
    written = time.process_time()
    assert read_any(text, "plan.yaml") == run
    assert written - started < 2
    assert time.process_time() - written < 4
