"""Waiting for a plan: how far it is, on a terminal; Ctrl-C and a time limit end the search with the best plan so far."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from repack_gitops.cli.exit_codes import INTERRUPTED
from repack_gitops.cli.interrupts import listening
from repack_gitops.cli.progress_line import ProgressLine
from repack_gitops.errors import Interrupted, TryAgain
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.status import counted
from repack_gitops.planner.watch import Watch

#: Seconds after which it is worth telling how far the search is.
_PATIENCE = 0.5
_STOPPING = "Stopping; press Ctrl-C again to give up"


class Waiting(Watch):
    """Notes how far the search is, and says stop after Ctrl-C or when time is up.

    Parameters
    ----------
    line
        Where progress is shown; None: nowhere.
    limit
        Seconds that the search may take; None: as long as it takes.
    """

    def __init__(
        self, line: ProgressLine | None, limit: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._line, self._limit, self._clock, self._start = line, limit, clock, clock()
        self._phase, self._best = "Planning", ""
        self.interrupted = False

    # ---- what the planner says and asks ----
    def entered(self, phase: str) -> None:
        """Note the phase."""
        self._phase = phase

    def found(self, freed: int, upper_bound: int) -> None:
        """Note the best plan so far."""
        self._best = f"{counted(freed, 'node')} so far, at most {upper_bound:,}"

    def stop(self) -> bool:
        """Tell whether Ctrl-C was pressed or time is up."""
        return self.interrupted or (self._limit is not None and self._seconds() >= self._limit)

    # ---- what the user does and sees ----
    def interrupt(self) -> None:
        """Note Ctrl-C."""
        self.interrupted = True

    def draw(self) -> None:
        """Show how far the search is, unless it may be done before anybody has read it."""
        seconds = self._seconds()
        if self._line is None or (seconds < _PATIENCE and not self.interrupted):
            return
        parts = (_STOPPING if self.interrupted else self._phase, f"{int(seconds):,} s", self._best)
        self._line.show((" · " if self._line.unicode else " - ").join(part for part in parts if part))

    def erase(self) -> None:
        """Take the line away."""
        if self._line is not None:
            self._line.erase()

    def _seconds(self) -> float:
        return self._clock() - self._start


def answer(make: Callable[[Watch], tuple[Evaluation, str]], limit: float | None) -> None:
    """Print the text that ``make`` returns; a warning, and exit code 130 after Ctrl-C, if the search was stopped.

    Raises
    ------
    Interrupted
        Ctrl-C ended the search before it found anything.
    TryAgain
        The time limit did.
    """
    with _waiting(limit) as watch:
        evaluation, text = make(watch)
    if not evaluation.reproducible and not _worth_showing(evaluation):
        raise _nothing(limit, interrupted=watch.interrupted)
    click.echo(text, nl=False)
    if evaluation.reproducible:
        return
    by = "Ctrl-C" if watch.interrupted else "the time limit"
    told = f"warning: {by} stopped the search: this is the best plan found so far, and another run may find a better one"
    with suppress(OSError):
        click.echo(told, err=True)
    if watch.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


@contextmanager
def _waiting(limit: float | None) -> Iterator[Waiting]:
    watch = Waiting(ProgressLine(sys.stderr) if sys.stderr.isatty() else None, limit)
    try:
        with listening(watch.interrupt, lambda: _give_up(watch), watch.draw):
            yield watch
    finally:
        watch.erase()


def _give_up(watch: Waiting) -> None:
    """End at once, whatever the main thread is doing; nothing has been written or printed yet."""
    watch.erase()
    with suppress(OSError):
        click.echo("error: interrupted", err=True)
    os._exit(INTERRUPTED)


def _worth_showing(evaluation: Evaluation) -> bool:
    """Tell whether there is a plan, or it is proven that none gains enough, which is an answer as well."""
    return bool(evaluation.steps) or (evaluation.optimality is not None and not evaluation.optimality.gap)


def _nothing(limit: float | None, *, interrupted: bool) -> Interrupted | TryAgain:
    if interrupted:
        return Interrupted("interrupted before a plan was found that gains enough", hint="Nothing was written; wait longer.")
    hint = "Allow more seconds, or leave --time-limit out: every search ends by itself."
    return TryAgain(f"no plan that gains enough was found within the {limit:g} s of --time-limit", hint=hint)
