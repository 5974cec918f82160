"""Every exit code, in one table: errors carry theirs, and the documentation is checked against this."""

from __future__ import annotations

from collections.abc import Mapping

from repack_gitops.errors import (
    ClusterUnavailable,
    GitFailed,
    InvalidInput,
    Refused,
    RepackError,
    RunFailed,
    TryAgain,
)

EXIT_CODES: Mapping[int, str] = {
    0: "The command did what it says; for `repack plan` also when nothing is recommended.",
    InvalidInput.exit_code: "The command line or a file is invalid; nothing was written.",
    ClusterUnavailable.exit_code: "The cluster cannot be reached, or its answer is incomplete.",
    GitFailed.exit_code: "Git or the forge refused for good; the message names the setting to change.",
    Refused.exit_code: "A rule or a missing permission forbids it.",
    RunFailed.exit_code: "A run was executed and ended as Failed; its result is recorded.",
    RepackError.exit_code: "An internal error; please report it.",
    TryAgain.exit_code: "A passing condition (a lock, a rate limit, a race); run it again, or let the next tick.",
    130: "Interrupted.",
}
