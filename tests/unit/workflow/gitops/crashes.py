"""Death at any call of the forge or of git: before the other side heard of it, or after it acted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

#: What only computes; dying there is dying between two other calls.
_LOCAL = {"kind", "git_url", "git_username", "body_limit", "file_page", "file_content", "close"}


class Killed(BaseException):
    """SIGKILL: nothing of the process runs any more."""


@dataclass
class Fate:
    """Counts the calls of one process and ends it at the ``at``-th; 0 never."""

    at: int = 0
    after: bool = False
    calls: list[str] = field(default_factory=list)

    def meet(self, name: str, act: Callable[[], Any]) -> Any:
        """Do ``act``, unless this is the end."""
        self.calls.append(name)
        due = len(self.calls) == self.at
        if due and not self.after:
            raise Killed
        answer = act()
        if due:
            raise Killed
        return answer


class Mortal:
    """A port all of whose calls meet a Fate."""

    def __init__(self, port: Any, fate: Fate) -> None:
        self._port, self._fate = port, fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name in _LOCAL or not callable(found):
            return found
        return lambda *args, **more: self._fate.meet(name, lambda: found(*args, **more))
