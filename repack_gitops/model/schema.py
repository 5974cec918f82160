"""The published JSON Schemas (Draft 2020-12), generated from the structs: one definition for editors and for us.

``null`` is no value in them: an empty ``include:`` is a line somebody forgot to finish, not a wish to include everything.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from repack_gitops.model.run import RepackRun

Schema = dict[str, Any]
Kind = type[RepackRun] | type[RepackPolicy] | type[Guardrails] | type[RepositoryConfig]

#: Every kind of document, in the order in which they are published.
KINDS: Final[dict[str, Kind]] = {
    "RepackRun": RepackRun,
    "RepackPolicy": RepackPolicy,
    "Guardrails": Guardrails,
    "RepositoryConfig": RepositoryConfig,
}
BASE_URL: Final = "https://raw.githubusercontent.com/repack-gitops/repack-gitops/main/schemas"

# What one field's type cannot say. errorMessage stands beside the keyword it explains, as VS Code reads it.
_RULES: Final[dict[str, list[Schema]]] = {
    "SelectorRequirement": [
        {
            "if": {"properties": {"operator": {"enum": ["In", "NotIn"]}}},
            "then": {
                "required": ["values"],
                "errorMessage": "In and NotIn need at least one value",
                "properties": {"values": {"minItems": 1, "errorMessage": "In and NotIn need at least one value"}},
            },
        },
        {
            "if": {"properties": {"operator": {"enum": ["Exists", "DoesNotExist"]}}},
            "then": {"properties": {"values": {"maxItems": 0, "errorMessage": "Exists and DoesNotExist take no values"}}},
        },
    ],
    "Trigger": [
        {
            "anyOf": [{"required": ["cronSchedule"]}, {"required": ["onFragAbovePercent"]}],
            "errorMessage": "needs cronSchedule, onFragAbovePercent or both; without them the policy is never due",
        }
    ],
    "ForgeConfig": [
        {
            "if": {"properties": {"kind": {"const": "none"}}},
            "else": {
                "required": ["url", "repository"],
                "errorMessage": "a forge needs url and repository",
                "properties": {
                    "url": {"minLength": 1, "errorMessage": "a forge needs its url"},
                    "repository": {"minLength": 1, "errorMessage": "a forge needs its repository"},
                },
            },
        }
    ],
}


@cache
def json_schema(kind: str) -> Schema:
    """Return the published schema of ``kind``, one of ``KINDS``; callers must not change it."""
    root, definitions = _components(kind)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE_URL}/{file_name(kind)}",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def file_name(kind: str) -> str:
    """Return the name of the file in ``schemas/`` that holds the schema of ``kind``."""
    return f"{kind.lower()}.schema.json"


def inlined(kind: str) -> Schema:
    """Return the schema of ``kind`` with every reference replaced by what it stands for."""
    root, definitions = _components(kind)
    schema: Schema = _resolve(root, definitions)
    return schema


def _components(kind: str) -> tuple[Schema, dict[str, Schema]]:
    _, definitions = msgspec.json.schema_components([KINDS[kind]], ref_template="#/$defs/{name}")
    tidied = {name: _with_rules(name, _tidy(schema)) for name, schema in definitions.items()}
    return tidied.pop(kind), tidied


def _with_rules(name: str, schema: Schema) -> Schema:
    return {**schema, "allOf": _RULES[name]} if name in _RULES else schema


def _tidy(schema: Any) -> Any:
    """Drop null as a value, and defaults and lists that say nothing."""
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {name: _tidy(part) for name, part in schema.items() if not _says_nothing(name, part)}
    options = [part for part in tidied.pop("anyOf", []) if part != {"type": "null"}]
    return {**options[0], **tidied} if options else tidied


def _says_nothing(name: str, part: Any) -> bool:
    return name in ("default", "required") and part in (None, "", [], {}, False)


def _resolve(schema: Any, definitions: dict[str, Schema]) -> Any:
    if isinstance(schema, list):
        return [_resolve(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = dict(schema)
    reference = schema.pop("$ref", None)
    if reference:
        schema = {**definitions[reference.removeprefix("#/$defs/")], **schema}
    return {name: _resolve(part, definitions) for name, part in schema.items()}
