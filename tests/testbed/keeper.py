"""The process that owns a shared service: ``python -m tests.testbed.keeper KIND FOLDER``; returns at once.

See ``shared.py`` for the rules. Its own end, however it comes, ends the service: the kernel sees to that.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from tests.testbed.control_plane import ControlPlane
from tests.testbed.gitea import Gitea
from tests.testbed.parts import find_parts
from tests.testbed.shared import FAILURE, STATE

Service = Callable[[Path], AbstractContextManager[dict[str, Any]]]


@contextmanager
def control_plane(folder: Path) -> Iterator[dict[str, Any]]:
    """Keep a control plane with Volcano."""
    with ControlPlane(find_parts(), folder / "bed") as plane:
        yield {"folder": str(plane.folder), "port": plane.port, "pids": plane.pids()}


@contextmanager
def gitea(folder: Path) -> Iterator[dict[str, Any]]:
    """Keep a forge."""
    with Gitea(find_parts(), folder / "bed") as forge:
        yield {"url": forge.url, "user": forge.api.user, "token": forge.token, "pids": forge.pids()}


SERVICES: dict[str, Service] = {"control-plane": control_plane, "gitea": gitea}


def keep(kind: str, folder: Path) -> None:
    """Run the service until nobody uses it."""
    try:
        with SERVICES[kind](folder) as state, (folder / "users").open("a") as users:
            (folder / "state.new").write_text(json.dumps(state))
            (folder / "state.new").rename(folder / STATE)
            flock(users, LOCK_EX)
            (folder / STATE).unlink()
    except BaseException as error:
        (folder / FAILURE).write_text(f"{type(error).__name__}: {error}")
        raise


def main(kind: str, folder: Path) -> None:
    """Detach from whoever started us, and keep the service."""
    with (folder / "alive").open("a") as alive:
        flock(alive, LOCK_EX)  # our child inherits it
        if os.fork():
            os._exit(0)
        os.setsid()
        with (folder / "keeper.log").open("ab") as log, Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        keep(kind, folder)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
