"""Hypothesis strategies for our documents, derived from the structs themselves, so that no field is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from repack_gitops.model.policy import ForgeConfig, RepackPolicy, Trigger
from repack_gitops.model.run import RepackRun, RunTemplateSpec, SelectorRequirement
from repack_gitops.model.schema import KINDS

# Words that YAML readers disagree about, and what breaks careless writers.
NASTY = [
    *("yes", "No", "on", "y", "null", "~", "true", "012", "0o17", "1_000", "1e3", ".5", "0x1F", "12:30", "2026-07-30"),
    *("2026-07-30T10:00:00Z", "<<", "=", "-", "- a", "a: b", "a #b", "#a", ":", "?", "*a", "&a", "!a", "%a", "@a", "`a", "'"),
    *(
        '"',
        "\\",
        "\t",
        "a\nb",
        "\n",
        " a ",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202e",
        "\ufeff",
        "\U0001f600",
        "...",
        "---",
        "{a",
        "[a",
    ),
    *("x" * 300, "a, b", "a:b", "a::", "a:", "word " * 40),
]
TEXT = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
_FORMATS: dict[str, st.SearchStrategy[str]] = {
    "cron": st.sampled_from(["0 2 * * 1-5", "*/15 * * * *", "0 0 29 2 *"]),
    "date-time": st.datetimes().map(lambda moment: f"{moment:%Y-%m-%dT%H:%M:%SZ}".rjust(20, "0")),
    "duration": st.sampled_from(["90s", "1h30m", "7d", "500ms"]),
    "extended-resource": st.sampled_from(["nvidia.com/gpu", "huawei.com/ascend-1980", "volcano.sh/vgpu-number"]),
    "git-branch": st.sampled_from(["main", "release/1.0", "012"]),
    "pause": st.sampled_from(["0s", "10m"]),
    "regular-expression": st.sampled_from([".+", "CHG[0-9]{7}", r"\d+", "yes", "#[0-9]+"]),
    "time-zone": st.sampled_from(["UTC", "Europe/Berlin"]),
    "web-url": st.sampled_from(["https://git.example.com", "http://127.0.0.1:3000/x"]),
}


def documents(kind: str) -> st.SearchStrategy[Any]:
    """Return valid documents of ``kind``, every field sometimes present."""
    return _of(inspect.type_info(KINDS[kind]), {"filled": False})


def filled(struct: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Return valid instances of ``struct`` with a value in every field, all the way down."""
    return _of(inspect.type_info(struct), {"filled": True})


runs: st.SearchStrategy[RepackRun] = st.deferred(lambda: documents("RepackRun"))
policies: st.SearchStrategy[RepackPolicy] = st.deferred(lambda: documents("RepackPolicy"))


def _of(kind: inspect.Type, extra: dict[str, Any]) -> st.SearchStrategy[Any]:
    if isinstance(kind, inspect.Metadata):
        return _of(kind.type, {**extra, **(kind.extra_json_schema or {})})
    return _STRATEGIES[type(kind)](kind, extra)


def _within(extra: dict[str, Any]) -> dict[str, Any]:
    """What applies to the parts of a value, too."""
    return {"filled": extra["filled"]}


def _list(kind: inspect.ListType, extra: dict[str, Any]) -> st.SearchStrategy[Any]:
    entries = _of(kind.item_type, _within(extra))
    fewest = max(kind.min_length or 0, int(extra["filled"]))
    return st.lists(entries, min_size=fewest, max_size=min(kind.max_length or 2, 2), unique=bool(extra.get("uniqueItems")))


def _mapping(kind: inspect.DictType, extra: dict[str, Any]) -> st.SearchStrategy[Any]:
    keys, values = _of(kind.key_type, _within(extra)), _of(kind.value_type, _within(extra))
    return st.dictionaries(keys, values, min_size=int(extra["filled"]), max_size=2)


def _union(kind: inspect.UnionType, extra: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*(_of(part, extra) for part in kind.types if not (extra["filled"] and isinstance(part, inspect.NoneType))))


def _integer(kind: inspect.IntType, extra: dict[str, Any]) -> st.SearchStrategy[int]:
    return st.integers(max(kind.ge or 0, int(extra["filled"])), 2**31 - 1 if kind.le is None else kind.le)


def _text(kind: inspect.StrType, extra: dict[str, Any]) -> st.SearchStrategy[str]:
    if "format" in extra:
        return _FORMATS[extra["format"]]
    text = st.from_regex(kind.pattern, fullmatch=True) if kind.pattern else TEXT
    low, high = max(kind.min_length or 0, int(extra["filled"])), kind.max_length or 10_000
    return text.filter(lambda value: low <= len(value) <= high and not value.endswith("\n"))


def _struct(kind: inspect.StructType, extra: dict[str, Any]) -> st.SearchStrategy[Any]:
    always = [field for field in kind.fields if field.required or extra["filled"]]
    required = {field.name: _of(field.type, _within(extra)) for field in always}
    optional = {field.name: _of(field.type, _within(extra)) for field in kind.fields if field.name not in required}
    fields = st.fixed_dictionaries(required, optional=optional)
    return fields.map(lambda found: _with_goals_budget(kind.cls(**found))).filter(_keeps_rules)


def _with_goals_budget(struct: Any) -> Any:
    """A budget may only name the goal's resource."""
    if not isinstance(struct, RunTemplateSpec) or struct.max_per_run is None or not struct.max_per_run.resources:
        return struct
    count = next(iter(struct.max_per_run.resources.values()))
    limits = msgspec.structs.replace(struct.max_per_run, resources={struct.goals[0].resource: count})
    return msgspec.structs.replace(struct, max_per_run=limits)


def _keeps_rules(struct: msgspec.Struct) -> bool:
    match struct:
        case SelectorRequirement():
            return bool(struct.values) == (struct.operator in ("In", "NotIn"))
        case Trigger():
            return struct.cron_schedule is not None or struct.on_frag_above_percent is not None
        case ForgeConfig():
            return struct.kind == "none" or bool(struct.url and struct.repository)
    return True


_STRATEGIES: dict[type[inspect.Type], Callable[[Any, dict[str, Any]], st.SearchStrategy[Any]]] = {
    inspect.StrType: _text,
    inspect.IntType: _integer,
    inspect.BoolType: lambda _kind, extra: st.just(True) if extra["filled"] else st.booleans(),
    inspect.LiteralType: lambda kind, _: st.sampled_from(kind.values),
    inspect.EnumType: lambda kind, _: st.sampled_from(list(kind.cls)),
    inspect.ListType: _list,
    inspect.DictType: _mapping,
    inspect.UnionType: _union,
    inspect.StructType: _struct,
    inspect.NoneType: lambda _kind, _: st.none(),
    inspect.AnyType: lambda _kind, _: st.just([{"f:metadata": {"f:labels": {".": {}}}, "yes": "no"}]),
}
