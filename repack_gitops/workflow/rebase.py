"""Push a commit to a branch that others push to as well: rebuild it on the newest base until it goes through."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.git.interface import Denied, NonFastForward, Protected, PushAnswer, Pushed, Repository
from repack_gitops.model.backoff import backoff


def push_with_rebase(
    repository: Repository,
    make: Callable[[str], str],
    branch: str,
    *,
    attempts: int = 10,
    start: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> Pushed | Protected | Denied:
    """Put one commit on top of the remote ``branch``, however often others move it meanwhile.

    Parameters
    ----------
    repository
        Where to commit and push.
    make
        Builds the commit on top of the parent it is given and returns its id; returning the parent itself means
        that its content is there already, which counts as pushed. It is called once for each attempt.
    branch
        The remote branch.
    attempts
        How often to try; between attempts it waits 1 s, then 1.5 times as long each time, at most 30 s, with jitter.
    start
        The commit to start from if the branch does not exist yet; None: that is an error.
    sleep, jitter
        Injected by tests.

    Raises
    ------
    TryAgain
        Every attempt lost the race.
    GitFailed
        The branch does not exist and there is no ``start``.
    """
    for attempt in range(1, attempts + 1):
        answer = _push_once(repository, make, branch, start)
        if not isinstance(answer, NonFastForward):
            return answer
        if attempt < attempts:
            sleep(backoff(attempt, jitter()))
    raise TryAgain(
        f"branch {branch!r} moved under each of {attempts} attempts to push to it",
        hint="Other writers are busy; the next run tries again.",
    )


def _push_once(repository: Repository, make: Callable[[str], str], branch: str, start: str | None) -> PushAnswer:
    tip = repository.fetch(branch)
    parent = tip or start
    if parent is None:
        raise GitFailed(f"the remote has no branch {branch!r}", hint="Create it, or name another branch.")
    commit = make(parent)
    return Pushed(commit) if commit == tip else repository.push(commit, branch, tip)
