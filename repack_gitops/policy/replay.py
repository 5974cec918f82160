"""The planner's options as an annotation of plan.yaml, so that the same plan can be computed again later."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import msgspec

from repack_gitops.errors import InvalidInput
from repack_gitops.model.options import PlannerOptions
from repack_gitops.policy.names import PLANNER_OPTIONS


def options_note(options: PlannerOptions) -> dict[str, str]:
    """Return the annotation that records ``options``: the strategy, whose default may change, and what is no default."""
    said = {"strategy": options.strategy, **_unlike_defaults(options)}
    return {PLANNER_OPTIONS: msgspec.json.encode(said, order="deterministic").decode()}


def noted_options(annotations: Mapping[str, str]) -> PlannerOptions:
    """Return the options that ``annotations`` record; the defaults where they record none.

    Raises
    ------
    InvalidInput
        The annotation is not what ``options_note`` writes.
    """
    text = annotations.get(PLANNER_OPTIONS)
    if text is None:
        return PlannerOptions()
    try:
        return msgspec.json.decode(text, type=PlannerOptions)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"annotation {PLANNER_OPTIONS}: {error}", hint="Take the file as it was proposed.") from error


def _unlike_defaults(options: object) -> dict[str, object]:
    found: dict[str, object] = {}
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        value = getattr(options, field.name)
        said = _unlike_defaults(value) if dataclasses.is_dataclass(value) else value
        if said not in (field.default, {}):
            found[field.name] = said
    return found
