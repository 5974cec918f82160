"""Death after any call of the forge or of git: the other side acted, and nobody is there to hear of it.

Death before a call leaves the same behind as death after the call before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

#: What only computes; dying there is dying between two other calls.
_LOCAL = {"kind", "git_url", "git_username", "body_limit", "file_page", "file_content", "close"}


class Killed(BaseException):
    """SIGKILL: nothing of the process runs any more."""


#: What changes nothing; dying after it is dying after the call before it.
READS = {
    "fetch", "resolve", "read", "read_many", "list_files", "remote_branches", "merge_base", "commits", "changes", "commit",
    "whoami", "permissions", "protection", "open_pull_requests", "closed_pull_requests", "pull_request", "find_merged",
    "comments", "reviews",
}  # fmt: skip


@dataclass
class Fate:
    """Counts the calls of one process and ends it after the ``at``-th, 0 never; ``writes`` counts only what changes."""

    at: int = 0
    writes: bool = False
    calls: list[str] = field(default_factory=list)

    def meet(self, name: str, act: Callable[[], Any]) -> Any:
        """Do ``act``, and die if it is time."""
        answer = act()
        if not (self.writes and name in READS):
            self.calls.append(name)
            if len(self.calls) == self.at:
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
