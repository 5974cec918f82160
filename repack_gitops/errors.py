"""One root exception; every error says what failed, why, and what to do next.

Exit codes are part of the interface and are documented in ``docs/cli.md``; a test keeps both in step.
"""

from __future__ import annotations

from typing import ClassVar


class RepackError(Exception):
    """Root of every error this project raises on purpose.

    Parameters
    ----------
    message
        One line: what failed, where, and why.
    hint
        One line: what the reader should do next; may be empty.
    """

    exit_code: ClassVar[int] = 70
    reason: ClassVar[str] = "InternalError"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class InvalidInput(RepackError):
    """A file or an argument is not what it must be; nothing was written."""

    exit_code = 2
    reason = "InvalidInput"


class ClusterUnavailable(RepackError):
    """The API server cannot be reached, or its answer is incomplete."""

    exit_code = 3
    reason = "ClusterUnavailable"


class Forbidden(RepackError):
    """The credentials in use lack a permission; the message names it."""

    exit_code = 5
    reason = "Forbidden"


class Refused(RepackError):
    """A rule of the repository, the plan or the cluster forbids what was asked."""

    exit_code = 5
    reason = "Refused"


class GitFailed(RepackError):
    """A git command failed for good."""

    exit_code = 4
    reason = "GitFailed"


class ForgeFailed(RepackError):
    """The forge refused a request for good; the message names the setting to change."""

    exit_code = 4
    reason = "ForgeFailed"


class RunFailed(RepackError):
    """An executed run ended as Failed; its result was recorded."""

    exit_code = 6
    reason = "RunFailed"


class TryAgain(RepackError):
    """A passing condition (rate limit, lock, race): the next tick will heal it."""

    exit_code = 75
    reason = "TryAgain"


class Interrupted(RepackError):
    """Ctrl-C came before there was anything to show."""

    exit_code = 130
    reason = "Interrupted"
