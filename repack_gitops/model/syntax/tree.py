"""Builds plain data from a stream of scalars and brackets, and remembers where everything stood.

Iterative and counted, so that neither deep nesting nor aliases that multiply can exhaust the process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from repack_gitops.model.problems import Path, Problem, shown
from repack_gitops.model.syntax.scalars import Scalar, Trap

#: managedFields nests about 20 deep; nothing else comes near.
MAX_DEPTH = 64
#: A plan that moves 20,000 pods has 120,000 values; aliases may not turn a small file into more.
MAX_VALUES = 500_000
#: Nobody reads more.
MAX_PROBLEMS = 100

#: Line and column, counted from 1.
Mark = tuple[int, int]


class Place(NamedTuple):
    """Where a value stands: its key (or itself, in a list), its own beginning, and the places of what it holds."""

    key: Mark
    value: Mark
    children: dict[str | int, Place]


class UnreadableError(Exception):
    """The text cannot be read any further; ``problems`` holds everything found so far."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[-1].message)
        self.problems = problems


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open."""

    container: dict[str, Any] | list[Any]
    place: Place
    anchor: str | None
    values_before: int
    key: str | int | None = None
    key_mark: Mark = (1, 1)


@dataclass(slots=True)
class _Anchored:
    """What an anchor stands for; unfinished while its own container is open."""

    value: Any
    place: Place
    values: int
    finished: bool = True


_NO_CHILDREN: dict[str | int, Place] = {}
_NOWHERE = Place((1, 1), (1, 1), _NO_CHILDREN)


@dataclass(slots=True)
class TreeBuilder:
    """Takes a document piece by piece; ``root``, ``place`` and ``problems`` are the outcome."""

    root: Any = None
    place: Place = _NOWHERE
    problems: list[Problem] = field(default_factory=list)
    _frames: list[_Frame] = field(default_factory=list)
    _anchors: dict[str, _Anchored] = field(default_factory=dict)
    _values: int = 0

    def scalar(self, value: Scalar, mark: Mark, *, trap: Trap | None = None, anchor: str | None = None) -> None:
        """Take a key or a scalar value."""
        if isinstance(value, str) and "\0" in value:
            trap = Trap("contains a NUL character", "Remove it.", final=True)
        if self._expects_key():
            self._take_key(value, mark, trap)
            return
        place = self._put(value, mark, _NO_CHILDREN)
        if trap is not None:
            self.report(mark, trap.message, trap.advice)
        if anchor is not None:
            self._anchors[anchor] = _Anchored(value, place, 1)
        self._leave_key()

    def open(self, container: dict[str, Any] | list[Any], mark: Mark, *, anchor: str | None = None) -> None:
        """Begin a mapping or a list."""
        if self._expects_key():
            self.stop(mark, "a key must be text", "Write the key as one word or in quotes.")
        if len(self._frames) >= MAX_DEPTH:
            self.stop(mark, f"is nested more than {MAX_DEPTH} levels deep", "Write it flatter.")
        before = self._values
        place = self._put(container, mark, {})
        if anchor is not None:
            self._anchors[anchor] = _Anchored(container, place, 0, finished=False)
        self._frames.append(_Frame(container, place, anchor, before))

    def close(self) -> None:
        """End the innermost mapping or list."""
        frame = self._frames.pop()
        if frame.anchor is not None:
            size = self._values - frame.values_before
            self._anchors[frame.anchor] = _Anchored(frame.container, frame.place, size)
        self._leave_key()

    def alias(self, name: str, mark: Mark) -> None:
        """Take what the anchor ``name`` stands for."""
        anchored = self._anchors.get(name)
        if anchored is None:
            self.stop(mark, f"the alias *{name[:40]} has no anchor", f"Write &{name[:40]} before the value it stands for.")
        if not anchored.finished:
            self.stop(mark, f"the alias *{name[:40]} stands inside its own value", "Write the value out.")
        if self._expects_key():
            self.stop(mark, "a key must be text, not an alias", "Write the key out.")
        self._values += anchored.values - 1
        self._put(anchored.value, mark, anchored.place.children)
        self._leave_key()

    def report(self, mark: Mark, message: str, advice: str) -> None:
        """Note a problem of the value at hand."""
        self.problems.append(Problem(*mark, self._path(), message, advice))
        if len(self.problems) >= MAX_PROBLEMS:
            raise UnreadableError(*self.problems)

    def stop(self, mark: Mark, message: str, advice: str) -> NoReturn:
        """Give up at the value at hand."""
        raise UnreadableError(*self.problems, Problem(*mark, self._path(), message, advice))

    def stop_text(self, mark: Mark, message: str, advice: str) -> NoReturn:
        """Give up because of the text itself: which field it stands in is anyone's guess."""
        raise UnreadableError(*self.problems, Problem(*mark, (), message, advice))

    def _expects_key(self) -> bool:
        return bool(self._frames) and isinstance(self._frames[-1].container, dict) and self._frames[-1].key is None

    def _take_key(self, key: Scalar, mark: Mark, trap: Trap | None) -> None:
        frame = self._frames[-1]
        frame.key_mark = mark
        frame.key = key if isinstance(key, str) else shown(key)
        if frame.key in frame.place.children:
            first = frame.place.children[frame.key].key[0]
            self.report(mark, f"is written twice; the first is on line {first}", "Keep one of them.")
        if trap is not None:
            self.report(mark, f"the key {trap.message}", trap.advice if trap.final else f"Write {shown(key)} in quotes.")
        elif not isinstance(key, str):
            self.report(mark, "a key must be text", f'Write "{shown(key)}" in quotes.')

    def _put(self, value: Any, mark: Mark, children: dict[str | int, Place]) -> Place:
        self._values += 1
        if self._values > MAX_VALUES:
            advice = "Is this the right file? An alias counts as all that it stands for."
            self.stop_text(mark, f"has more than {MAX_VALUES} values", advice)
        if not self._frames:
            self.root, self.place = value, Place(mark, mark, children)
            return self.place
        frame = self._frames[-1]
        if isinstance(frame.container, list):
            frame.key, frame.key_mark = len(frame.container), mark
            frame.container.append(value)
        else:
            frame.container.setdefault(str(frame.key), value)
        place = Place(frame.key_mark, mark, children)
        frame.place.children.setdefault(frame.key if frame.key is not None else 0, place)
        return place

    def _leave_key(self) -> None:
        if self._frames:
            self._frames[-1].key = None

    def _path(self) -> Path:
        return tuple(f.key for f in self._frames if f.key is not None)
