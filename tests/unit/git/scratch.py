"""Real repositories to test on, made with plain git rather than with the code under test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repack_gitops.git.interface import Identity
from repack_gitops.git.settings import Settings

AUTHOR = Identity("Repack Bot", "bot@example.test")
WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_PLAIN = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Human",
    "GIT_AUTHOR_EMAIL": "human@example.test",
    "GIT_COMMITTER_NAME": "Human",
    "GIT_COMMITTER_EMAIL": "human@example.test",
}


def git(cwd: Path, *args: str, stdin: bytes = b"") -> str:
    """Run plain git and return what it printed."""
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), **_PLAIN}
    done = subprocess.run(["git", *args], cwd=cwd, env=env, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, f"git {args}: {done.stderr.decode()}"
    return done.stdout.decode().strip()


def refusing(seconds: float) -> None:
    """Stand in for ``sleep`` where nothing may wait."""
    raise AssertionError(f"nothing should wait here, least of all {seconds} s")


NO_WAIT = Settings(sleep=refusing, jitter=lambda: 0.0)


@dataclass(frozen=True)
class Scratch:
    """A bare repository and one human's checkout of it."""

    bare: Path
    checkout: Path

    @property
    def url(self) -> str:
        """Where to clone from."""
        return self.bare.as_uri()

    @property
    def tip(self) -> str:
        """What the remote ``main`` points at."""
        return self.tip_of("main")

    def tip_of(self, branch: str) -> str:
        """Return what a remote branch points at."""
        return git(self.bare, "rev-parse", f"refs/heads/{branch}")

    def human_commits(self, path: str, content: str, branch: str = "main", message: str = "By hand") -> str:
        """Commit and push one file as a human would, and return the commit."""
        git(self.checkout, "checkout", "--quiet", "-B", branch)
        file = self.checkout / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        git(self.checkout, "add", "--", path)
        git(self.checkout, "commit", "--quiet", "-m", message)
        git(self.checkout, "push", "--quiet", "--force", "origin", branch)
        return git(self.checkout, "rev-parse", "HEAD")

    def hook(self, name: str, script: str) -> None:
        """Install a server-side hook."""
        file = self.bare / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)


def make_scratch(place: Path, object_format: str = "sha1") -> Scratch:
    """Create both, with one commit that holds README.md and policies/a.yaml."""
    made = Scratch(place / "remote.git", place / "checkout")
    git(place, "init", "--quiet", "--bare", f"--object-format={object_format}", "-b", "main", str(made.bare))
    git(place, "init", "--quiet", f"--object-format={object_format}", "-b", "main", str(made.checkout))
    git(made.checkout, "remote", "add", "origin", str(made.bare))
    (made.checkout / "policies").mkdir()
    (made.checkout / "policies/a.yaml").write_text("a: 1\n")
    (made.checkout / "README.md").write_text("hello\n")
    git(made.checkout, "add", ".")
    git(made.checkout, "commit", "--quiet", "-m", "Start")
    git(made.checkout, "push", "--quiet", "origin", "main")
    git(made.checkout, "fetch", "--quiet", "origin")
    return made


def fake_git(place: Path, script: str) -> str:
    """Write a program that stands in for git, and return its path; ``$REAL`` runs the real one."""
    program = place / "fake-git"
    real = subprocess.run(["which", "git"], capture_output=True, check=True, text=True).stdout.strip()
    program.write_text(f"#!/bin/sh\nREAL={real}\n{script}\n")
    program.chmod(0o755)
    return str(program)


Sleeps = list[float]


def recording(sleeps: Sleeps) -> Callable[[float], None]:
    """Return a ``sleep`` that only takes notes."""
    return sleeps.append
