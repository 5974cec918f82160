"""One service for all workers of a test run: the first that needs it starts it, the last that leaves ends it.

The service belongs to a keeper process (``keeper.py``), not to a worker. Every user holds a shared lock on ``users``; the
keeper stops when it gets that lock for itself. The kernel releases locks of processes that die, so nothing is left behind
whatever happens to the workers. While a keeper lives, it holds ``alive``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from pathlib import Path
from typing import IO, Any

from tests.testbed.waiting import wait_for

STATE, FAILURE = "state.json", "failure.txt"
START_SECONDS, STOP_SECONDS = 120, 30


class StartFailedError(Exception):
    """The service did not come up; the message says why."""


@contextmanager
def joined(kind: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Use the service ``kind`` of this test run, and yield what its keeper says about it.

    Parameters
    ----------
    kind
        A key of ``keeper.SERVICES``.
    folder
        The same for all workers of a run.

    Raises
    ------
    StartFailedError
        The service did not come up, now or when another worker tried.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "users").open("a") as users:
        with (folder / "start").open("a") as start:
            flock(start, LOCK_EX)
            state = _state(kind, folder, users)
        try:
            yield state
        finally:
            _leave(folder, users)


def _state(kind: str, folder: Path, users: IO[str]) -> dict[str, Any]:
    wait_for(f"the end of an earlier {kind}", lambda: try_lock(users, LOCK_SH), STOP_SECONDS)
    if not (keeper_lives(folder) and (folder / STATE).exists()):
        _start(kind, folder)
    state: dict[str, Any] = json.loads((folder / STATE).read_text())
    return state


def _start(kind: str, folder: Path) -> None:
    (folder / STATE).unlink(missing_ok=True)
    if not (folder / FAILURE).exists():
        command = [sys.executable, "-m", "tests.testbed.keeper", kind, str(folder)]
        subprocess.run(command, cwd=Path(__file__).parents[2], check=True)
        wait_for(f"a shared {kind}", lambda: (folder / STATE).exists() or not keeper_lives(folder), START_SECONDS)
    if not (folder / STATE).exists():
        failure = folder / FAILURE
        raise StartFailedError(failure.read_text() if failure.exists() else f"the keeper ended; see {folder}/keeper.log")


def _leave(folder: Path, users: IO[str]) -> None:
    """Give up the service; whoever is the last to leave waits until it is gone."""
    flock(users, LOCK_UN)
    others = not try_lock(users, LOCK_EX) and try_lock(users, LOCK_SH)
    flock(users, LOCK_UN)
    if not others:
        wait_for("the end of a shared service", lambda: not keeper_lives(folder), STOP_SECONDS)


def keeper_lives(folder: Path) -> bool:
    """Say whether a keeper process of ``folder`` exists."""
    with (folder / "alive").open("a") as alive:
        return not try_lock(alive, LOCK_EX)


def try_lock(file: IO[str], kind: int) -> bool:
    """Lock ``file`` if that is possible at once."""
    try:
        flock(file, kind | LOCK_NB)
    except BlockingIOError:
        return False
    return True
