"""A case becomes minimal: whatever may go goes, as long as the difference stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.real.agreement.case import Case

#: Keys to a value inside of a case's parts.
Path = tuple[str | int, ...]
#: Says for each of some cases whether the difference is still there.
Persists = Callable[[Sequence[Case]], Sequence[bool]]
#: What every object needs, and what only names it: not worth a try.
KEPT = frozenset({"apiVersion", "kind", "name", "namespace", "metadata", "spec", "image"})


def shrink(case: Case, persists: Persists, limit: int = 40) -> Case:
    """Return a case with less in it for which the difference persists.

    Parameters
    ----------
    case
        One for which it does.
    persists
        Looks at many cases at once, since a round of the control plane costs the same for one and for many.
    limit
        Most rounds.
    """
    for _ in range(limit):
        paths = list(removable(case.parts()))
        answers = persists([without(case, [path]) for path in paths])
        good = [path for path, still in zip(paths, answers, strict=True) if still]
        if not good:
            break
        case = _as_many_as_possible(case, good, persists)
    return case


def _as_many_as_possible(case: Case, paths: Sequence[Path], persists: Persists) -> Case:
    """Return the case without all of ``paths``, or half, or a quarter of them..., or the first, whichever still differs."""
    counts = [len(paths) // 2**n for n in range(len(paths).bit_length())]
    smaller = [without(case, paths[:count]) for count in counts]
    answers = list(persists(smaller))
    return smaller[answers.index(True)] if True in answers else without(case, paths[:1])


def removable(parts: Any, path: Path = ()) -> Iterator[Path]:
    """Yield what may be taken out of a case, the largest things first: level by level from the outside."""
    level: list[tuple[Path, Any]] = [(path, parts)]
    while level:
        inside = [((*path, key), value) for path, whole in level for key, value in _children(whole)]
        yield from (found for found, _ in inside if _may_go(found))
        level = inside


def _children(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _may_go(path: Path) -> bool:
    """The four lists and the probe stay; their contents may go."""
    return len(path) > 1 and path[-1] not in KEPT


def without(case: Case, paths: Sequence[Path]) -> Case:
    """Return ``case`` less what is at ``paths``, and less the pods of a node that went; one path may be inside of another."""
    parts = json.loads(json.dumps(case.parts()))  # a deep copy that also parts what objects share
    for path in sorted(paths, key=_order, reverse=True):
        _remove(parts, path)
    there = {node["metadata"]["name"] for node in parts["nodes"]} | {None}
    parts["residents"] = [pod for pod in parts["residents"] if pod["spec"].get("nodeName") in there]
    return case.with_parts(parts)


def _order(path: Path) -> tuple[tuple[str, int], ...]:
    """Order paths so that, backwards, inner ones come before outer ones, and later elements of a list before earlier ones."""
    return tuple(("", key) if isinstance(key, int) else (key, 0) for key in path)


def _remove(parts: Any, path: Path) -> None:
    *way, last = path
    for key in way:
        parts = parts[key]
    del parts[last]
