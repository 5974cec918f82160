"""The CustomResourceDefinition of RepackRun, from the same structs as the JSON Schema.

The API server prunes unknown fields where the JSON Schema refuses them, and speaks CEL where the schema speaks
``format`` and ``if``. Costs of CEL rules are bounded by the lengths and counts that the structs set.
"""

from __future__ import annotations

from typing import Final

from repack_gitops.model.schema import Schema, inlined

GROUP: Final = "repack.volcano.sh"
VERSION: Final = "v1alpha1"
FILE_NAME: Final = f"{GROUP}_repackruns.yaml"

_COLUMNS: Final = (
    ("MODE", "string", ".spec.mode", 0),
    ("RESOURCE", "string", ".spec.goals[0].resource", 0),
    ("PHASE", "string", ".status.phase", 0),
    ("PLAN-FREED", "integer", ".status.plan.summary.freedNodeCount", 0),
    ("ACTUAL-FREED", "integer", ".status.result.freedNodeCount", 0),
    ("AGE", "date", ".metadata.creationTimestamp", 0),
    ("MESSAGE", "string", ".status.message", 1),
)
_CORE: Final = "['cpu', 'memory', 'ephemeral-storage', 'storage', 'pods']"
_NATIVE: Final = "'^(([^/]+[.])?kubernetes[.]io/|requests[.])'"
# Keys of structural schemas; everything else of JSON Schema has no meaning to the API server, or is refused by it.
_KEPT: Final = frozenset(
    {
        *("type", "description", "enum", "pattern", "properties", "required", "items", "additionalProperties"),
        *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"),
    }
)
_RULES: Final[dict[str, list[Schema]]] = {
    "RunSpec": [{"rule": "self == oldSelf", "message": "spec is immutable; create a new RepackRun under another name"}],
    "Goal": [
        {
            "rule": f"!(self.resource in {_CORE} || self.resource.startsWith('hugepages-'))",
            "message": "is a core resource; only devices such as GPUs and NPUs are rearranged",
            "fieldPath": ".resource",
        },
        {
            "rule": "self.resource.contains('/')",
            "message": "must be fully qualified, such as nvidia.com/gpu",
            "fieldPath": ".resource",
        },
        {
            "rule": f"!self.resource.matches({_NATIVE})",
            "message": "belongs to Kubernetes itself or to a quota; name it as nodes report it",
            "fieldPath": ".resource",
        },
    ],
    "MaxPerRun": [
        {
            "rule": f"!has(self.resources) || self.resources.all(name, name.contains('/') && !name.matches({_NATIVE}))",
            "message": "names must be extended resources, fully qualified, such as nvidia.com/gpu",
            "fieldPath": ".resources",
        }
    ],
    "SelectorRequirement": [
        {
            "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
            "message": "In and NotIn need at least one value",
        },
        {
            "rule": "self.operator in ['In', 'NotIn'] || !has(self.values) || size(self.values) == 0",
            "message": "Exists and DoesNotExist take no values",
        },
    ],
}


def custom_resource_definition() -> Schema:
    """Return the CRD as plain data, ready to be written or applied."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"repackruns.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {
                "plural": "repackruns",
                "singular": "repackrun",
                "kind": "RepackRun",
                "listKind": "RepackRunList",
                "shortNames": ["rpr"],
                "categories": ["volcano"],
            },
            "scope": "Cluster",
            "versions": [_version()],
        },
    }


def _version() -> Schema:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [_column(*column) for column in _COLUMNS],
        "schema": {"openAPIV3Schema": _root()},
    }


def _column(name: str, type_: str, path: str, priority: int) -> Schema:
    return {"name": name, "type": type_, "jsonPath": path, **({"priority": priority} if priority else {})}


def _root() -> Schema:
    whole = inlined("RepackRun")
    root = _structural({**whole, "properties": {name: whole["properties"][name] for name in ("spec", "status")}})
    # The API server has its own rules for these three, and allows no others.
    own: Schema = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return {**root, "required": ["metadata", "spec"], "properties": {**own, **root["properties"]}}


def _structural(schema: Schema) -> Schema:
    kept: Schema = {name: part for name, part in schema.items() if name in _KEPT}
    if schema.get("format") == "extended-resource":
        del kept["pattern"]  # the rules of Goal say it in words
    for name in ("items", "additionalProperties"):
        if isinstance(kept.get(name), dict):
            kept[name] = _structural(kept[name])
        elif name in kept:
            del kept[name]  # additionalProperties: false; pruning says the same, and both are not allowed
    if "properties" in kept:
        kept["properties"] = {name: _structural(part) for name, part in kept["properties"].items()}
    kept.setdefault("type", "string")  # an enum of ours is always one of words
    return {**kept, **_formatted(schema), **_listed(schema), **_ruled(schema)}


def _formatted(schema: Schema) -> Schema:
    if schema.get("format") == "date-time":
        return {"format": "date-time"}
    if schema.get("type") == "integer":
        return {"format": "int32" if "maximum" in schema else "int64"}
    return {}


def _listed(schema: Schema) -> Schema:
    """Say how server-side apply merges a list."""
    if schema.get("uniqueItems"):
        return {"x-kubernetes-list-type": "set"}
    if schema.get("items", {}).get("title") == "Condition":
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    return {}


def _ruled(schema: Schema) -> Schema:
    rules = _RULES.get(str(schema.get("title")))
    return {"x-kubernetes-validations": rules} if rules else {}
