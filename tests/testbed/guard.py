"""Run a program that must not outlive its parent: ``python -I -S guard.py PARENT_PID PROGRAM [ARGUMENT ...]``.

The kernel kills the program when the thread that started it ends, however that happens; ``exec`` keeps the process id.
A wrapper and not a ``preexec_fn``: running Python between fork and exec is unsafe once a process has threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> int:
    """Become ``command``; returns only if that is impossible, with the shell's exit status for it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        return 1
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), sys.argv[2:]))
