"""Everything that talks to the remote: ls-remote, fetch, push; passing failures are retried, refusals are values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.git.answers import Meaning, meaning_of
from repack_gitops.git.command import Answer, Git, brief
from repack_gitops.git.credentials import Credentials, safe_url
from repack_gitops.git.interface import (
    ANY,
    DeleteAnswer,
    Deleted,
    Denied,
    Expected,
    NonFastForward,
    Protected,
    PushAnswer,
    Pushed,
)
from repack_gitops.git.refs import branch_name, object_id
from repack_gitops.git.settings import Settings
from repack_gitops.model.backoff import backoff

_READ_HINT = "Check that the URL is right and that the token is valid and may read the repository."


@dataclass(frozen=True)
class Remote:
    """A repository elsewhere.

    Parameters
    ----------
    git
        Runs git.
    url
        Where it is; contains no credentials.
    credentials
        Given to the server they were issued for, and to no other.
    askpass
        The program that hands them to git.
    settings
        Time limits and retries.
    """

    git: Git
    url: str
    credentials: Credentials | None
    askpass: Path
    settings: Settings

    def __post_init__(self) -> None:
        safe_url(self.url)

    def branches(self, prefix: str = "") -> dict[str, str]:
        """Return the branches that start with ``prefix`` and what they point at."""
        answer = self._talk("ls-remote", "--quiet", "--refs", self.url, f"refs/heads/{prefix}*", git_dir=None)
        if answer.code != 0:
            raise self._cannot("list the branches of", answer)
        pairs = (line.split("\t", 1) for line in answer.text.splitlines() if "\t" in line)
        found = {name.removeprefix("refs/heads/"): commit for commit, name in pairs if name.startswith("refs/heads/")}
        return {name: found[name] for name in sorted(found) if name.startswith(prefix)}

    def fetch(self, git_dir: Path, branch: str) -> bool:
        """Bring a branch to ``refs/remotes/origin/<branch>`` of the repository ``git_dir``; tell whether it exists."""
        refspec = f"+refs/heads/{branch_name(branch)}:refs/remotes/origin/{branch}"
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        answer = self._talk("fetch", *options, self.url, refspec, git_dir=git_dir)
        if answer.code != 0 and "couldn't find remote ref" in answer.err:
            return False
        if answer.code != 0:
            raise self._cannot(f"fetch branch {branch!r} of", answer)
        return True

    def push(self, git_dir: Path, commit: str, branch: str, expected: Expected) -> PushAnswer:
        """Point the branch at ``commit`` if it points at ``expected``."""
        answer = self._push(git_dir, object_id(commit), branch_name(branch), expected)
        return Pushed(commit) if answer.code == 0 else self._refusal(answer, branch)

    def delete(self, git_dir: Path, branch: str, expected: Expected) -> DeleteAnswer:
        """Delete the branch if it points at ``expected``; an absent one is fine."""
        if branch not in self.branches(branch_name(branch)):
            return Deleted(existed=False)
        answer = self._push(git_dir, "", branch, expected)
        return Deleted(existed=True) if answer.code == 0 else self._refusal(answer, branch)

    def _push(self, git_dir: Path, source: str, branch: str, expected: Expected) -> Answer:
        ref = f"refs/heads/{branch}"
        lease = () if expected is ANY else (f"--force-with-lease={ref}:{object_id(expected) if expected else ''}",)
        options = ("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no", *lease)
        return self._talk("push", *options, self.url, f"{source}:{ref}", git_dir=git_dir)

    def _refusal(self, answer: Answer, branch: str) -> NonFastForward | Protected | Denied:
        message = _told(answer)
        match self._meaning(answer):
            case "denied":
                return Denied(message)
            case "protected":
                return Protected(message)
            case "moved":
                return NonFastForward(message)
            case "blocked-name":
                raise GitFailed(
                    f"{self.url} has a branch whose name is in the way of {branch!r}: {message}",
                    hint="Git cannot have both `a` and `a/b`: delete or rename the other branch.",
                )
            case _:
                raise GitFailed(f"pushing to branch {branch!r} of {self.url} failed: {message}", hint=_READ_HINT)

    def _cannot(self, verb: str, answer: Answer) -> GitFailed:
        return GitFailed(f"cannot {verb} {self.url}: {_told(answer)}", hint=_READ_HINT)

    def _talk(self, *args: str, git_dir: Path | None) -> Answer:
        env = self.credentials.environment(self.askpass, self.url) if self.credentials else {}
        # Without a store, git must not take a repository that lies above the private directory for one.
        env |= {"GIT_DIR": str(git_dir)} if git_dir else {"GIT_CEILING_DIRECTORIES": str(self.git.home.parent)}
        directory, timeout = git_dir or self.git.home, self.settings.network_timeout

        def wait(state: RetryCallState) -> float:
            return backoff(state.attempt_number, self.settings.jitter())

        retrying = Retrying(
            stop=stop_after_attempt(self.settings.attempts),
            retry=retry_if_result(lambda answer: answer.code != 0 and self._meaning(answer) == "passing"),
            wait=wait,
            sleep=self.settings.sleep,
            retry_error_callback=self._give_up,
        )
        return retrying(self.git.run, *args, directory=directory, env=env, timeout=timeout)

    def _meaning(self, answer: Answer) -> Meaning:
        # Names chosen by people must not be taken for a message: a branch may be called `fix-timeout`.
        reasons = [line.rsplit("\t", 1)[-1] for line in answer.text.splitlines() if line.startswith("!")]
        said = answer.err.replace(self.url, "")
        return meaning_of("\n".join([re.sub(r"\S*refs/\S+|-> \S+", "", said), *reasons]))

    def _give_up(self, state: RetryCallState) -> Answer:
        answer: Answer = state.outcome.result() if state.outcome else Answer(1, b"", "")
        raise TryAgain(
            f"{self.url} cannot be reached, tried {state.attempt_number} times: {_told(answer)}",
            hint="Check the network, the proxy and the server; the next run tries again.",
        )


def _told(answer: Answer) -> str:
    rejected = [line for line in answer.text.splitlines() if line.startswith("!")]
    return brief("\n".join([answer.err, *rejected])) or f"exit code {answer.code}"
