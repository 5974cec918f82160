"""The CRD as data; what the API server makes of it is tested in tests/real/test_crd.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from repack_gitops.model.crd import custom_resource_definition
from repack_gitops.model.run import RepackRun, RunSpec, RunStatus

VERSION = custom_resource_definition()["spec"]["versions"][0]
ROOT = VERSION["schema"]["openAPIV3Schema"]


def test_names() -> None:
    names = custom_resource_definition()["spec"]["names"]
    assert (names["plural"], names["singular"], names["shortNames"]) == ("repackruns", "repackrun", ["rpr"])


def test_columns_are_those_of_the_contract() -> None:
    columns = [c["name"] for c in VERSION["additionalPrinterColumns"] if not c.get("priority")]
    assert columns == ["MODE", "RESOURCE", "PHASE", "PLAN-FREED", "ACTUAL-FREED", "AGE"]


@pytest.mark.parametrize(("field", "struct"), [("spec", RunSpec), ("status", RunStatus)])
def test_every_field_of_the_struct_is_a_field_of_the_crd(field: str, struct: type[msgspec.Struct]) -> None:
    assert set(ROOT["properties"][field]["properties"]) == set(struct.__struct_encode_fields__)


def test_the_root_has_what_a_run_has() -> None:
    assert set(ROOT["properties"]) == set(RepackRun.__struct_encode_fields__)
    assert ROOT["required"] == ["metadata", "spec"]


def test_the_schema_is_structural() -> None:
    for part in _parts(ROOT):
        assert part["type"] in ("object", "array", "string", "integer", "boolean")
        assert not {"$ref", "$defs", "title", "default", "allOf", "anyOf", "if", "uniqueItems", "propertyNames"} & set(part)
        assert part.get("additionalProperties") is not False
        assert not ("properties" in part and "additionalProperties" in part)


def test_lists_under_a_rule_are_bounded() -> None:
    spec = ROOT["properties"]["spec"]
    assert all("maxItems" in part for part in _parts(spec) if part["type"] == "array")
    assert all("maxProperties" in part for part in _parts(spec) if part["type"] == "object" and "additionalProperties" in part)


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [
        *schema.get("properties", {}).values(),
        *(schema[name] for name in ("items", "additionalProperties") if name in schema),
    ]
    for part in inner:
        yield from _parts(part)
