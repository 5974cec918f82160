"""What `repack explain` needs beyond its options: the answer, as text or as JSON."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, assert_never

from repack_gitops.cli.planning import checked, terminal_look
from repack_gitops.model.change import Change
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.explanation import Answer
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import RepackRun
from repack_gitops.planner.evaluate import study
from repack_gitops.planner.inquiry import Inquiry
from repack_gitops.planner.watch import Watch
from repack_gitops.report.explanation import explanation_text

#: A run and the planner's options.
Question = tuple[RepackRun, PlannerOptions]
Kind = Literal["node", "podgroup", "pod"]
Output = Literal["text", "json"]
_FIELDS: Mapping[Kind | None, str] = {None: "stayingNodes", "node": "node", "podgroup": "podGroup", "pod": "pod"}


def explained(
    snapshot: ClusterSnapshot, question: Question, watch: Watch, *, subject: tuple[Kind | None, str], output: Output
) -> tuple[Evaluation, str]:
    """Return what the answer is about, and the answer: on ``subject``, or on all staying nodes without a kind."""
    run, options = question
    options = dataclasses.replace(options, frontier=False)  # nothing here is answered from it
    inquiry = Inquiry(study(snapshot, run.spec, options, watch))
    checked(snapshot, run.spec, options, inquiry.evaluation)
    answer = _answer(inquiry, *subject)
    if output == "json":
        return inquiry.evaluation, json.dumps(_document(inquiry, subject[0], answer), indent=2) + "\n"
    width, colour, unicode = terminal_look()
    return inquiry.evaluation, explanation_text(answer, inquiry.evaluation, width=width, colour=colour, unicode=unicode)


def _answer(inquiry: Inquiry, kind: Kind | None, name: str) -> Answer:
    namespace, _, rest = name.partition("/")
    match kind:
        case None:
            return inquiry.overview()
        case "node":
            return inquiry.node(name)
        case "podgroup":
            return inquiry.pod_group(namespace, rest)
        case "pod":
            return inquiry.pod(namespace, rest)
        case other:
            assert_never(other)


def _document(inquiry: Inquiry, kind: Kind | None, answer: Answer) -> dict[str, Any]:
    evaluation = inquiry.evaluation
    return {
        "resource": evaluation.resource,
        "strategy": evaluation.strategy,
        "verdict": evaluation.verdict.value,
        "freedNodes": list(evaluation.freed_nodes),
        "reproducible": evaluation.reproducible,
        _FIELDS[kind]: _plain(answer),
    }


def _plain(value: object) -> Any:
    """Return ``value`` as JSON has it: fields in camel case, a change also in words."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {_camel(f.name): _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return fields | ({"text": str(value)} if isinstance(value, Change) else {})
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda m: m[1].upper(), name)
