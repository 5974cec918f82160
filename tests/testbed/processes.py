"""Programs of the bed: started so that none outlives the process that started it, stopped by process id."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

GUARD = Path(__file__).with_name("guard.py")
PORTS = range(20000, 30000)  # below the range from which the kernel takes ports for outgoing connections


class ProcessDiedError(Exception):
    """A program of the bed ended although it should be running."""

    def __init__(self, name: str, log: Path) -> None:
        text = log.read_text(errors="replace")
        self.port_taken = "address already in use" in text
        super().__init__("\n  ".join([f"{name} ended; its log {log} ends with:", *text.splitlines()[-10:]]))


def spawn(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start ``command`` in a session of its own; the kernel ends it when the calling thread ends.

    Both output streams go to ``output``. A program that cannot be run shows as exit status 126 or 127.
    """
    guarded = [sys.executable, "-I", "-S", str(GUARD), str(os.getpid()), *command]
    return subprocess.Popen(
        guarded,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def free_port() -> int:
    """Return a loopback port that nobody listens on; somebody may take it before it is used."""
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise OSError("a hundred random ports were all taken")


def listening(port: int) -> bool:
    """Say whether somebody listens on loopback port ``port``."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class ProcessGroup:
    """The programs that one service consists of, each with a log file in ``folder/log``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, program: Path, *args: str, env: Mapping[str, str]) -> None:
        """Start ``program`` in the folder of the service, logging to ``log/<its name>.log``."""
        name = program.name
        log = self.log_of(name)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            self._running[name] = spawn([str(program), *args], cwd=self._folder, env=env, output=output)

    def log_of(self, name: str) -> Path:
        """Return the log file of the program called ``name``."""
        return self._folder / "log" / f"{name}.log"

    def pids(self) -> dict[str, int]:
        """Return the process id of every program, by name."""
        return {name: process.pid for name, process in self._running.items()}

    def check(self) -> None:
        """Raise `ProcessDiedError` if a program ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise ProcessDiedError(name, self.log_of(name))

    def stop(self, grace: float = 1) -> None:
        """End all programs and wait until they are gone; those that take longer than ``grace`` seconds are killed."""
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + grace
        for process in self._running.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
