"""Holds plain data against a published schema and says in people's words what is wrong, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

from repack_gitops.model.formats import FORMATS, FormatError
from repack_gitops.model.problems import Path, Problem, shown
from repack_gitops.model.schema import inlined, json_schema
from repack_gitops.model.syntax.text import Parsed

_TYPES: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
}
_UNKNOWN_FIELD_ADVICE: Final = {
    ("metadata", "namespace"): "Remove it: this kind of document has no namespace.",
    ("metadata", "generateName"): "Give the document a name of its own.",
    ("spec", "mode"): "Remove it: a policy's runs are planned as DryRun and executed as Execute.",
}


_LIMITS: Final = {
    "minimum": "{value} is below the minimum of {limit}",
    "maximum": "{value} is above the maximum of {limit}",
    "minLength": "has {size} characters, fewer than the minimum of {limit}",
    "maxLength": "has {size} characters, more than the maximum of {limit}",
    "minItems": "has {size} entries, fewer than the minimum of {limit}",
    "maxItems": "has {size} entries, more than the maximum of {limit}",
    "maxProperties": "has {size} entries, more than the maximum of {limit}",
}
#: A jsonschema.ValidationError, whose annotations leave open whether its attributes are set; here they all are.
_Error = Any
# Nobody reads more, and a file that is wrong throughout must not take minutes to refuse.
_MOST_ERRORS: Final = 200


@dataclass(frozen=True, slots=True)
class _Finding:
    """A problem without its position; ``at_key`` where the key is wrong and not its value."""

    path: Path
    message: str
    advice: str
    at_key: bool = False


def diagnose(parsed: Parsed, kind: str, data: Any) -> list[Problem]:
    """Return what is wrong with ``data``, the document ``parsed`` or a part of it, as a document of ``kind``.

    At most one problem per field: the first that the schema names.
    """
    found: dict[Path, Problem] = {}
    for error in islice(_validator(kind).iter_errors(data), _MOST_ERRORS):
        for finding in _explain(error, kind):
            mark = (parsed.key_position if finding.at_key else parsed.position)(finding.path)
            found.setdefault(finding.path, Problem(*mark, finding.path, finding.message, finding.advice))
    return list(found.values())


@cache
def _validator(kind: str) -> Any:
    checker = FormatChecker(formats=())
    for name, check in FORMATS.items():
        checker.checks(name, raises=FormatError)(_predicate(check))
    extend: Any = validators.extend
    return extend(Draft202012Validator, {"pattern": _pattern, "format": _format})(json_schema(kind), format_checker=checker)


def _predicate(check: Callable[[str], None]) -> Callable[[object], bool]:
    def holds(value: object) -> bool:
        check(str(value))
        return True

    return holds


def _pattern(_: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    """Like the standard keyword, but ``$`` is the very end of the text, as it is in JavaScript and Go."""
    if _checkable(value, schema) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError(f"does not match {pattern}")


def _format(validator: Any, name: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    if _checkable(value, schema):
        yield from Draft202012Validator.VALIDATORS["format"](validator, name, value, schema)


def _checkable(value: Any, schema: Any) -> bool:
    """Text whose length is refused is not looked at further."""
    return isinstance(value, str) and schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))


def _explain(error: _Error, kind: str) -> Iterator[_Finding]:
    path = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        name = str(error.instance)
        yield _Finding((*path, name[:100]), *_of_value(error, f"the key {shown(name)}"), at_key=True)
    elif error.validator == "additionalProperties":
        yield from _unknown_fields(error, path, kind)
    elif error.validator == "required":
        yield from _missing_fields(error, path)
    elif error.validator == "uniqueItems":
        yield from _repeated_entry(error, path)
    else:
        yield _Finding(path, *_of_value(error, shown(error.instance)))


def _unknown_fields(error: _Error, path: Path, kind: str) -> Iterator[_Finding]:
    known = list(error.schema["properties"])
    for key in error.instance:
        if key not in known:
            yield _Finding((*path, key), "is an unknown field", _instead_of(key, known, path, kind), at_key=True)


def _instead_of(key: str, known: list[str], path: Path, kind: str) -> str:
    special = _UNKNOWN_FIELD_ADVICE.get((str(path[-1]) if path else "", key))
    if special:
        return special
    homes = _homes(kind).get(key, ())
    if len(homes) == 1:
        return f"It belongs to {homes[0]}."
    near = _nearest(key, known)
    return f"Did you mean {near}?" if near else f"Known fields here: {', '.join(known)}."


@cache
def _homes(kind: str) -> dict[str, list[str]]:
    """Return where fields that people write are at home, by name: a field one level off is a common mistake."""
    found: dict[str, list[str]] = {}
    pending = [("spec", inlined(kind)["properties"]["spec"])]
    while pending:
        where, schema = pending.pop()
        for name, part in schema.get("properties", {}).items():
            found.setdefault(name, []).append(f"{where}.{name}")
            pending.append((found[name][-1], part))
        if "items" in schema:
            pending.append((f"{where}[]", schema["items"]))
    return found


def _missing_fields(error: _Error, path: Path) -> Iterator[_Finding]:
    for name in error.validator_value:
        if name not in error.instance:
            fields = error.schema.get("properties", {})
            advice = fields.get(name, {}).get("description", "") or "Write this field."
            yield _Finding((*path, name), error.schema.get("errorMessage", "is missing"), advice)


def _repeated_entry(error: _Error, path: Path) -> Iterator[_Finding]:
    entries = error.instance
    for index, entry in enumerate(entries):
        if entry in entries[:index]:
            yield _Finding((*path, index), f"{shown(entry)} is listed twice", "Keep one of them.")
            return


def _of_value(error: _Error, value: str) -> tuple[str, str]:
    """Return message and advice for a value that breaks one keyword."""
    about = str(error.schema.get("description", ""))
    if error.instance is None:
        return "has no value", "Write a value, or delete the line."
    if "errorMessage" in error.schema:
        return str(error.schema["errorMessage"]), about
    if error.validator in _LIMITS:
        sized = isinstance(error.instance, (str, list, dict))
        size = len(error.instance) if sized else 0
        return _LIMITS[error.validator].format(value=value, size=size, limit=error.validator_value), about
    return _WORDING.get(error.validator, _otherwise)(error, value, about)


def _wrong_type(error: _Error, _: str, about: str) -> tuple[str, str]:
    wanted, value = str(error.validator_value), error.instance
    message = f"is {_kind_of(value)} where {_TYPES[wanted]} is expected"
    if wanted == "string" and isinstance(value, (int, bool)):
        quoted_is_right = re.search(error.schema.get("pattern", ""), shown(value))
        return (
            (message, f'Write "{shown(value)}" in quotes.') if quoted_is_right else _broken_pattern(error, shown(value), about)
        )
    unquoted = {"integer": "[0-9]{1,18}", "boolean": "true|false"}.get(wanted)
    if unquoted and isinstance(value, str) and re.fullmatch(unquoted, value):
        return message, f"Write {value} without quotes."
    return message, about


def _kind_of(value: object) -> str:
    match value:
        case bool():
            return f"{shown(value)}"
        case int():
            return f"the number {shown(value)}"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "a list"
    return "a mapping"


def _wrong_word(error: _Error, value: str, _: str) -> tuple[str, str]:
    words = [str(word) for word in error.validator_value]
    if len(words) == 1:
        return f"{value} is not {words[0]}", f"Write {words[0]}."
    near = _nearest(str(error.instance), words)
    return f"{value} is not one of {', '.join(words)}", f"Did you mean {near}?" if near else "Write one of them."


def _broken_format(error: _Error, value: str, about: str) -> tuple[str, str]:
    cause: FormatError = error.cause
    return str(cause) if cause.secret else f"{value} {cause}", cause.advice or about


def _broken_pattern(error: _Error, value: str, about: str) -> tuple[str, str]:
    return f"{value} {error.schema.get('patternErrorMessage', f'does not match {error.validator_value}')}", about


def _otherwise(error: _Error, value: str, about: str) -> tuple[str, str]:
    return f"{value} is not valid: {error.message[:200]}", about


def _nearest(word: str, known: list[str]) -> str:
    folded = {name.lower(): name for name in known}
    near = get_close_matches(word.lower()[:64], folded, n=1)
    return folded[near[0]] if near else ""


_WORDING: Final[dict[str, Callable[[_Error, str, str], tuple[str, str]]]] = {
    "type": _wrong_type,
    "enum": _wrong_word,
    "format": _broken_format,
    "pattern": _broken_pattern,
}
