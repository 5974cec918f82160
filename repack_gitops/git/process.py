"""Run one child process that cannot run for ever, cannot fill the memory, and leaves no children behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

_CHUNK = 1 << 16
_STDERR_KEPT = 1 << 16
_GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended; ``code`` has no meaning unless it ``exited``."""

    end: Literal["exited", "timed-out", "too-much-output"]
    code: int
    out: bytes
    err: bytes


def run_bounded(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, stdin: bytes, timeout: float, limit: int
) -> Finished:
    """Run ``argv`` and return how it ended; its whole process group is killed if it exceeds a bound.

    Parameters
    ----------
    argv
        Program and arguments; no shell is involved.
    env, cwd
        The complete environment and the working directory.
    stdin
        What the child may read; standard input is closed if this is empty.
    timeout
        Seconds until the group is killed.
    limit
        Bytes of standard output until the group is killed; of standard error the first 64 KiB are kept.
    """
    gathered = _Gathered(limit)
    with _input(stdin) as source, _child(argv, env, cwd, source) as child:
        end = _gather(child, gathered, time.monotonic() + timeout)
    return Finished(end, child.returncode, bytes(gathered.out), bytes(gathered.err))


@dataclass(slots=True)
class _Gathered:
    limit: int
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)


@contextlib.contextmanager
def _input(content: bytes) -> Iterator[IO[bytes] | int]:
    if not content:
        yield subprocess.DEVNULL
        return
    # A file rather than a pipe: a child that never reads its input cannot block us.
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


@contextlib.contextmanager
def _child(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, source: IO[bytes] | int
) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(
        argv,
        env=dict(env),
        cwd=cwd,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _kill_group(child)
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()


def _gather(
    child: subprocess.Popen[bytes], gathered: _Gathered, deadline: float
) -> Literal["exited", "timed-out", "too-much-output"]:
    with selectors.DefaultSelector() as selector:
        for stream, kept in ((child.stdout, gathered.out), (child.stderr, gathered.err)):
            if stream:
                selector.register(stream, selectors.EVENT_READ, kept)
        while selector.get_map():
            if (left := deadline - time.monotonic()) <= 0:
                return "timed-out"
            for key, _ in selector.select(left):
                if not _take(key, gathered):
                    selector.unregister(key.fileobj)
            if len(gathered.out) > gathered.limit:
                return "too-much-output"
    return "exited" if _ends(child, deadline) else "timed-out"


def _take(key: selectors.SelectorKey, gathered: _Gathered) -> bool:
    piece = os.read(key.fd, _CHUNK)
    room = len(piece) if key.data is gathered.out else max(0, _STDERR_KEPT - len(gathered.err))
    key.data.extend(piece[:room])
    return bool(piece)


def _ends(child: subprocess.Popen[bytes], deadline: float) -> bool:
    # waitid leaves the child a zombie: its pid, and so its group's id, cannot be given to anybody else before we
    # have signalled the group.
    while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.001)
    return True


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    # Also after a normal end: what a child left running in the background would outlive the program.
    # Politely first: git removes its lock files on SIGTERM.
    for number, patience in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, 60.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        if _ends(child, time.monotonic() + patience):
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
