"""Every exit code, in one table: errors carry theirs, and the documentation is checked against this."""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.errors import (
    ClusterUnavailable,
    GitFailed,
    Interrupted,
    InvalidInput,
    Refused,
    RepackError,
    RunFailed,
    TryAgain,
)

OPERATING_SYSTEM = 74
INTERRUPTED = Interrupted.exit_code
READER_GONE = 141

EXIT_CODES: Mapping[int, str] = {
    0: "The command did what it says; for `repack plan` and `repack explain` also when nothing is recommended.",
    InvalidInput.exit_code: "The command line or a file is invalid; nothing was written because of it.",
    ClusterUnavailable.exit_code: "The cluster cannot be reached, or its answer is incomplete.",
    GitFailed.exit_code: "Git or the forge refused for good; the message names the setting to change.",
    Refused.exit_code: "A rule or a missing permission forbids it.",
    RunFailed.exit_code: "A run was executed and ended as Failed; its result is recorded.",
    RepackError.exit_code: "An internal error; please report it.",
    OPERATING_SYSTEM: "The operating system refused a file or the output, such as a full disk.",
    TryAgain.exit_code: "A passing condition (a lock, a rate limit, a race; or `--time-limit` passed before anything was "
    "found); run it again, or let the next tick.",
    INTERRUPTED: "Interrupted; if `repack plan` or `repack explain` printed an answer, its search was cut short.",
    READER_GONE: "The reader of the output went away, as in `repack plan | head`.",
}


def worst(codes: list[int]) -> int:
    """Return the code of several failures: one that stays goes before one that passes; 0 without any."""
    lasting = [c for c in codes if c not in (0, TryAgain.exit_code)]
    return lasting[0] if lasting else max(codes, default=0)
