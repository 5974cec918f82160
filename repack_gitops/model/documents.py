"""Reads RepackRun, RepackPolicy, Guardrails and RepositoryConfig from text, with every error at once and in its place.

Three gates, each of which may add problems: the text (``syntax``), the published schema with the rules it names
(``schema``, ``formats``), and the structs themselves.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

import msgspec

from repack_gitops.model.diagnosis import diagnose
from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from repack_gitops.model.problems import InvalidDocument, Path, Problem, shown
from repack_gitops.model.run import RepackRun, RunTemplateSpec
from repack_gitops.model.schema import KINDS
from repack_gitops.model.syntax.text import MAX_BYTES, Parsed, parse, scan

__all__ = [
    "MAX_BYTES",
    "AnyDocument",
    "InvalidDocument",
    "Parsed",
    "parse",
    "read_any",
    "read_guardrails",
    "read_policy",
    "read_repository_config",
    "read_run",
]

AnyDocument = RepackRun | RepackPolicy | Guardrails | RepositoryConfig
_D = TypeVar("_D", RepackRun, RepackPolicy, Guardrails, RepositoryConfig)


def read_run(text: str | bytes, source: str) -> RepackRun:
    """Return the RepackRun in ``text``, with its status if it has one.

    Parameters
    ----------
    text
        YAML or JSON; bytes must be UTF-8.
    source
        What messages call the document: a file's path in the repository.

    Raises
    ------
    InvalidDocument
        With every problem, sorted by position.
    """
    return _read(text, source, RepackRun)


def read_policy(text: str | bytes, source: str) -> RepackPolicy:
    """Return the RepackPolicy in ``text``; like ``read_run``."""
    return _read(text, source, RepackPolicy)


def read_guardrails(text: str | bytes, source: str) -> Guardrails:
    """Return the Guardrails in ``text``; like ``read_run``."""
    return _read(text, source, Guardrails)


def read_repository_config(text: str | bytes, source: str) -> RepositoryConfig:
    """Return the RepositoryConfig in ``text``; like ``read_run``."""
    return _read(text, source, RepositoryConfig)


def read_any(text: str | bytes, source: str) -> AnyDocument:
    """Return the document in ``text``, of whatever kind it says it is; like ``read_run``."""
    parsed = scan(text, source)
    kind = _kind(parsed)
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidDocument(source, _merged(parsed.problems, [_unknown_kind(parsed, kind)]))
    return cast(AnyDocument, _convert(parsed, KINDS[kind]))


def _read(text: str | bytes, source: str, wanted: type[_D]) -> _D:
    parsed = scan(text, source)
    kind = _kind(parsed)
    if isinstance(kind, str) and kind in KINDS and kind != wanted.__name__:
        message = f"is {kind}; a {wanted.__name__} is expected here"
        raise InvalidDocument(source, [Problem(*parsed.position(("kind",)), ("kind",), message, "Is this the right file?")])
    return cast(_D, _convert(parsed, wanted))


def _kind(parsed: Parsed) -> Any:
    if not isinstance(parsed.data, dict):
        problem = Problem(*parsed.position(()), (), "is not a mapping", "Write apiVersion, kind, metadata and spec.")
        raise InvalidDocument(parsed.source, [*parsed.problems, problem])
    return parsed.data.get("kind")


def _unknown_kind(parsed: Parsed, kind: Any) -> Problem:
    message = "is missing" if kind is None else f"{shown(kind)} is an unknown kind"
    return Problem(*parsed.position(("kind",)), ("kind",), message, f"Write one of {', '.join(KINDS)}.")


def _convert(parsed: Parsed, wanted: type[Any]) -> Any:
    kind = wanted.__name__
    # A status is long and written by machines. msgspec reads it in milliseconds; the schema is only asked to explain.
    head = {name: part for name, part in parsed.data.items() if name != "status"}
    problems = _merged(parsed.problems, diagnose(parsed, kind, head if wanted is RepackRun else parsed.data))
    try:
        document = msgspec.convert(parsed.data, wanted)
    except msgspec.ValidationError as error:
        problems = _merged(problems, diagnose(parsed, kind, parsed.data)) or [_from_msgspec(parsed, error)]
        raise InvalidDocument(parsed.source, problems) from error
    problems = _merged(problems, _strange_budgets(parsed, document))
    if problems:
        raise InvalidDocument(parsed.source, problems)
    return document


def _strange_budgets(parsed: Parsed, document: Any) -> list[Problem]:
    """A budget for a resource that is not the goal's would cap nothing: a typing error that costs a night."""
    spec: RunTemplateSpec
    where: Path
    match document:
        case RepackRun():
            spec, where = document.spec, ("spec",)
        case RepackPolicy():
            spec, where = document.spec.run_template.spec, ("spec", "runTemplate", "spec")
        case _:
            return []
    goal, budget = spec.goals[0].resource, spec.max_per_run.resources if spec.max_per_run else {}
    paths = [(*where, "maxPerRun", "resources", name) for name in budget if name != goal]
    message, advice = f"is not the goal's resource, so it limits nothing: the goal is {goal}", f"Write {goal}."
    return [Problem(*parsed.position(path), path, message, advice) for path in paths]


def _merged(first: tuple[Problem, ...] | list[Problem], then: list[Problem]) -> list[Problem]:
    """Keep one problem per field, and the earlier gate's."""
    found: dict[Path, Problem] = {}
    for problem in [*first, *then]:
        found.setdefault(problem.path, problem)
    return list(found.values())


def _from_msgspec(parsed: Parsed, error: msgspec.ValidationError) -> Problem:
    """Explain what the structs refuse although the schema does not; a test shows that there is no such thing."""
    message, _, where = str(error).partition(" - at `$")
    parts = re.findall(r"\.([^.\[\]`]+)|\[(\d+)\]", where)
    path: Path = tuple(int(index) if index else name for name, index in parts)
    return Problem(*parsed.position(path), path, message, "See schemas/ for what this field takes.")
