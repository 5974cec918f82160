"""The only place that runs git: argument lists, a clean environment, bounds on time and output, nothing configured runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.git.environment import clean_environment
from repack_gitops.git.process import Finished, run_bounded
from repack_gitops.model.redaction import Redactor

OLDEST_VERSION = (2, 34)
DEFAULT_OUTPUT_LIMIT = 64 << 20

# Command-line settings win over every file, so a repository's own config can start nothing: hooks, monitors, ssh
# wrappers, credential helpers, signing programs, pagers, editors. Aliases never replace built-in commands.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=ssh -o BatchMode=yes",
    "core.askPass=",
    "core.pager=cat",
    "core.editor=false",
    "core.alternateRefsCommand=true",
    "core.attributesFile=/dev/null",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.quotePath=false",
    "credential.helper=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # A remote that stalls gives up long before the time limit of the call does.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What git said; ``err`` is scrubbed of secrets, ``out`` is the raw output."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text; bytes that are not UTF-8 survive a round trip."""
        return self.out.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Git:
    """Runs git.

    Parameters
    ----------
    home
        A private directory that serves as HOME.
    redactor
        Scrubs what git prints.
    executable
        Name or path of git.
    ca_file
        Certificate authorities to trust instead of the system's.
    caller
        The environment that PATH, proxies and certificate settings are taken from.
    """

    home: Path
    redactor: Redactor = field(default_factory=Redactor)
    executable: str = "git"
    ca_file: Path | None = None
    caller: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def run(
        self,
        *args: str,
        directory: Path,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float = 60,
        limit: int = DEFAULT_OUTPUT_LIMIT,
    ) -> Answer:
        """Run ``git <args>`` in ``directory`` and return its answer, whatever its exit code.

        Raises
        ------
        TryAgain
            It took longer than ``timeout`` seconds and was killed.
        GitFailed
            There is no git, or it printed more than ``limit`` bytes.
        """
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        argv = [self.executable, *settings, *args]
        full_env = clean_environment(self.caller, self.home, self.ca_file) | dict(env or {})
        try:
            finished = run_bounded(argv, env=full_env, cwd=directory, stdin=stdin, timeout=timeout, limit=limit)
        except OSError as error:
            raise self._cannot_start(error) from error
        return self._answer(args[0], finished, timeout, limit)

    def check(
        self,
        *args: str,
        directory: Path,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float = 60,
        limit: int = DEFAULT_OUTPUT_LIMIT,
    ) -> Answer:
        """Run ``git <args>`` like ``run``; any exit code but 0 raises GitFailed."""
        answer = self.run(*args, directory=directory, env=env, stdin=stdin, timeout=timeout, limit=limit)
        if answer.code != 0:
            raise GitFailed(f"git {args[0]} failed in {directory}: {brief(answer.err) or f'exit code {answer.code}'}")
        return answer

    def check_version(self) -> None:
        """Raise GitFailed unless git is installed and new enough."""
        said = self.check("version", directory=self.home).text.strip()
        match = re.search(r"(\d+)\.(\d+)", said)
        if not match or (int(match[1]), int(match[2])) < OLDEST_VERSION:
            oldest = ".".join(map(str, OLDEST_VERSION))
            raise GitFailed(f"git {oldest} or newer is needed, but {self.executable} says {said!r}", hint="Upgrade git.")

    def _cannot_start(self, error: OSError) -> GitFailed:
        reason = f"{error.strerror}: {error.filename}"
        return GitFailed(f"git cannot be started ({reason})", hint="Install git 2.34 or newer and put it on PATH.")

    def _answer(self, verb: str, finished: Finished, timeout: float, limit: int) -> Answer:
        if finished.end == "timed-out":
            raise TryAgain(
                f"git {verb} did not finish within {timeout:g} s and was stopped",
                hint="Check the network and the size of the repository; the next run tries again.",
            )
        if finished.end == "too-much-output":
            raise GitFailed(f"git {verb} printed more than {limit} bytes and was stopped")
        return Answer(finished.code, finished.out, self.redactor(finished.err.decode("utf-8", "replace")))


def brief(err: str, limit: int = 800) -> str:
    """Return the telling lines of git's standard error as one line of at most ``limit`` characters."""
    lines = [" ".join(line.split()) for line in err.splitlines()]
    told = [line for line in lines if line and not line.startswith(("hint:", "remote: Enumerating", "remote: Counting"))]
    text = " | ".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in told)
    return text if len(text) <= limit else text[: limit - 1] + "…"
