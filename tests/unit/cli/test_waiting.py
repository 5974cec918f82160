"""Waiting for a plan: what the line shows, and what ends the search."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO

import click
import pytest

from bench.shapes import shaped
from repack_gitops.cli import interrupts, waiting
from repack_gitops.cli.interrupts import listening
from repack_gitops.cli.progress_line import ProgressLine
from repack_gitops.cli.waiting import Waiting, answer
from repack_gitops.errors import Interrupted, TryAgain
from repack_gitops.model.plan import BoundKind, Evaluation, Optimality
from repack_gitops.planner import evaluate
from repack_gitops.planner.watch import Watch
from tests.unit.planner.build import layout, spec
from tests.unit.planner.optimal.cases import OPTIMAL

STOPPING = "Stopping; press Ctrl-C again to give up"


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Terminal:
    """A stream that keeps what was written to it."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.bytes = io.BytesIO()
        self.stream: TextIO = io.TextIOWrapper(self.bytes, encoding=encoding, errors="strict", newline="")

    @property
    def written(self) -> str:
        return self.bytes.getvalue().decode()

    @property
    def line(self) -> str:
        """What stands on the line now."""
        cells: list[str] = []
        for text in self.written.split("\r"):
            cells[: len(text)] = text
        return "".join(cells).rstrip()


def waiting_at(terminal: Terminal | None, limit: float | None = None) -> tuple[Waiting, Clock]:
    clock = Clock()
    return Waiting(ProgressLine(terminal.stream) if terminal else None, limit, clock), clock


# ---- the line ----
def test_nothing_is_shown_of_what_is_soon_done() -> None:
    terminal = Terminal()
    watch, clock = waiting_at(terminal)
    watch.entered("Strategy Drain")
    watch.draw()
    clock.now += 0.4
    watch.draw()
    watch.erase()
    assert terminal.written == ""


@pytest.mark.parametrize(("encoding", "separator"), [("utf-8", " · "), ("ascii", " - "), ("latin-1", " - ")])
def test_phase_seconds_and_the_best_plan_so_far(encoding: str, separator: str) -> None:
    terminal = Terminal(encoding)
    watch, clock = waiting_at(terminal)
    clock.now += 1.5
    watch.draw()
    assert terminal.line == f"Planning{separator}1 s"
    watch.entered("Fewest PodGroups")
    watch.found(3_952, 3_957)
    clock.now += 11
    watch.draw()
    parts = ("Fewest PodGroups", "12 s", "3,952 nodes so far, at most 3,957")
    assert terminal.line == separator.join(parts)
    watch.found(1, 1)
    watch.draw()
    assert terminal.line.endswith(f"{separator}1 node so far, at most 1")
    watch.erase()
    assert terminal.line == ""
    assert terminal.written.endswith("\r")
    assert "\n" not in terminal.written


def test_the_same_is_not_written_twice() -> None:
    terminal = Terminal()
    watch, clock = waiting_at(terminal)
    clock.now += 3
    watch.draw()
    once = terminal.written
    clock.now += 0.2
    watch.draw()
    assert terminal.written == once
    watch.erase()
    erased = terminal.written
    watch.erase()
    assert terminal.written == erased


@pytest.mark.parametrize(("columns", "shown"), [(0, 79), (20, 19), (60, 59), (200, 100)])
def test_the_line_is_as_wide_as_the_terminal_at_most(columns: int, shown: int) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        ProgressLine(stream).show("x" * 100)
    assert os.read(ours, 1_000).decode() == "\r" + "x" * shown
    os.close(ours)


def test_a_terminal_that_went_away_stops_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(5, "Input/output error")

    line = ProgressLine(Gone())
    line.show("on the way")
    line.erase()


# ---- the end of the search ----
def test_without_a_reason_the_search_goes_on() -> None:
    watch, clock = waiting_at(None)
    clock.now += 1e9
    assert not watch.stop()


def test_the_time_limit() -> None:
    watch, clock = waiting_at(None, 2.5)
    clock.now += 2.4
    assert not watch.stop()
    clock.now += 0.1
    assert watch.stop()
    assert not watch.interrupted


def test_an_interrupt_is_told_at_once() -> None:
    terminal = Terminal()
    watch, clock = waiting_at(terminal)
    assert not watch.stop()
    clock.now += 0.1
    watch.interrupt()
    watch.draw()
    assert watch.stop()
    assert terminal.line == f"{STOPPING} · 0 s"


# ---- signals ----
def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    assert true()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_first_and_later_interrupts_and_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "TICK", 0.01)
    before, heard = signal.getsignal(signal.SIGINT), list[str]()
    with listening(lambda: heard.append("first"), lambda: heard.append("again"), lambda: heard.append("tick")):
        until(lambda: "tick" in heard)
        for count in range(1, 4):
            interrupt()
            until(lambda count=count: len([h for h in heard if h != "tick"]) == count)
    assert [h for h in heard if h != "tick"] == ["first", "again", "again"]
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):  # as ever
        interrupt()
    assert not [t for t in threading.enumerate() if t.name == "interrupts"]


def test_what_was_meant_before_is_meant_again_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="broken"), listening(int, int, int):
        raise ValueError("broken")
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_other_signals_are_not_interrupts() -> None:
    heard: list[str] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append("own handler"))
    try:
        with listening(lambda: heard.append("first"), int, int):
            os.kill(os.getpid(), signal.SIGUSR1)
            until(lambda: bool(heard))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == ["own handler"]


def test_who_ignores_interrupts_goes_on_ignoring_them() -> None:
    heard: list[str] = []
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with listening(lambda: heard.append("first"), int, int):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == []


def test_another_thread_may_wait_without_signals() -> None:
    def wait() -> None:
        with listening(int, int, lambda: ticked.append(1)):
            until(lambda: bool(ticked))

    ticked: list[int] = []
    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert ticked


# ---- the answer ----
def plan(watch: Watch, strategy: str = "Optimal") -> Evaluation:
    return evaluate(shaped("ample", 60), spec(), replace(OPTIMAL, strategy=strategy), watch)


@contextmanager
def output(capfd: pytest.CaptureFixture[str], out: str, *err: str) -> Iterator[None]:
    capfd.readouterr()
    yield
    found = capfd.readouterr()
    assert found.out == out
    assert all(part in found.err for part in err)
    assert err or not found.err


def test_an_answer_that_nothing_stopped(capfd: pytest.CaptureFixture[str]) -> None:
    with output(capfd, "answer\n"):
        answer(lambda watch: (plan(watch), "answer\n"), None)
        capfd.readouterr()
        answer(lambda watch: (plan(watch), "answer\n"), 600)


@pytest.mark.parametrize("strategy", ["Drain", "Optimal"])
def test_the_best_plan_when_time_is_up(capfd: pytest.CaptureFixture[str], strategy: str) -> None:
    def make(watch: Watch) -> tuple[Evaluation, str]:
        evaluation = plan(Later(watch, 12), strategy)
        assert evaluation.steps
        return evaluation, "answer\n"

    with output(capfd, "answer\n", "warning: the time limit stopped the search", "may find a better one"):
        answer(make, 1e-9)


@pytest.mark.parametrize("strategy", ["Drain", "Optimal"])
def test_the_best_plan_after_an_interrupt(capfd: pytest.CaptureFixture[str], strategy: str) -> None:
    def make(watch: Watch) -> tuple[Evaluation, str]:
        interrupt()
        until(watch.stop)
        return plan(Later(watch, 12), strategy), "answer\n"

    with output(capfd, "answer\n", "warning: Ctrl-C stopped the search"), pytest.raises(click.exceptions.Exit) as ended:
        answer(make, 600)
    assert ended.value.exit_code == 130


def test_nothing_is_printed_where_nothing_was_found(capfd: pytest.CaptureFixture[str]) -> None:
    with output(capfd, ""), pytest.raises(TryAgain, match=r"within the 0\.001 s of --time-limit") as passed:
        answer(lambda _: (replace(plan(Watch(), "Drain"), steps=(), reproducible=False), "answer\n"), 0.001)
    assert "Allow more seconds" in passed.value.hint

    def make(watch: Watch) -> tuple[Evaluation, str]:
        interrupt()
        until(watch.stop)
        return plan(watch, "Drain"), "answer\n"

    with output(capfd, ""), pytest.raises(Interrupted, match="before a plan was found") as ended:
        answer(make, 600)
    assert ended.value.exit_code == 130


def test_an_interrupt_that_came_too_late_to_stop_anything(capfd: pytest.CaptureFixture[str]) -> None:
    def make(watch: Watch) -> tuple[Evaluation, str]:
        evaluation = plan(watch)
        interrupt()
        until(watch.stop)
        return evaluation, "answer\n"

    with output(capfd, "answer\n"):
        answer(make, None)


@pytest.mark.parametrize(("most", "shown"), [(1, True), (2, False)])
def test_that_no_plan_gains_enough_is_an_answer_where_it_is_proven(
    capfd: pytest.CaptureFixture[str], most: int, shown: bool
) -> None:
    known = Optimality("Optimal", 1, most, False, BoundKind.MODEL, reproducible=False)
    evaluation = replace(evaluate(layout((4, 2)), spec(90)), optimality=known, reproducible=False)
    assert evaluation.steps == ()
    if shown:
        with output(capfd, "answer\n", "warning: the time limit"):
            answer(lambda _: (evaluation, "answer\n"), 1)
    else:
        with output(capfd, ""), pytest.raises(TryAgain):
            answer(lambda _: (evaluation, "answer\n"), 1)


def test_a_second_interrupt_gives_up(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[int] = []
    monkeypatch.setattr(waiting.os, "_exit", given_up.append)

    def make(watch: Watch) -> tuple[Evaluation, str]:
        interrupt()
        until(watch.stop)
        interrupt()
        until(lambda: bool(given_up))
        raise Interrupted("a test goes on where a process ends")

    with output(capfd, "", "error: interrupted\n"), pytest.raises(Interrupted):
        answer(make, None)
    assert given_up == [130]


class Later(Watch):
    """Another watch, asked from the ``number``-th question on."""

    def __init__(self, watch: Watch, number: int) -> None:
        self._watch, self._left = watch, number

    def stop(self) -> bool:
        self._left -= 1
        return self._left <= 0 and self._watch.stop()
