"""A real `repack plan` that is interrupted or runs out of time, beside a terminal and without one."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from repack_gitops.files.snapshot import read_snapshot
from repack_gitops.model.documents import read_run
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from tests.unit.cli.cluster_file import write_shaped
from tests.unit.cli.conftest import Run
from tests.unit.planner.build import GPU, spec
from tests.unit.planner.optimal.cases import OPTIMAL

#: Seconds for what takes one or two on an idle machine.
_LONG = 60
#: A planner that never finishes and never asks whether to stop.
_DEAF = """
import sys, time
from repack_gitops.cli import main, planning
planning.evaluate = lambda *_: time.sleep(600)
main.main(sys.argv[1:])
"""
#: A planner that begins once it is told to stop.
_HESITANT = """
import sys, time
from repack_gitops.cli import main, planning
real = planning.evaluate
def evaluate(snapshot, spec, options, watch):
    while not watch.stop():
        time.sleep(0.05)
    return real(snapshot, spec, options, watch)
planning.evaluate = evaluate
main.main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster of which Optimal has a plan within seconds, and is done after half a minute."""
    return write_shaped(tmp_path_factory.mktemp("large") / "cluster.json", "gangs", 1_000)


@pytest.fixture(scope="module")
def middling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster that is planned within a second or two."""
    return write_shaped(tmp_path_factory.mktemp("middling") / "cluster.json", "ample", 60)


def plan_arguments(snapshot: Path, *more: str) -> list[str]:
    return ["plan", "--snapshot", str(snapshot), "--resource", GPU, "--strategy", "Optimal", *more]


class OnTerminal:
    """A command whose standard error is a terminal; what it writes there is ``shown``."""

    def __init__(self, command: Sequence[str], out: Path, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        self._out, self.shown = out, ""
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1", **environment}
        with out.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, *command], stdin=subprocess.DEVNULL, stdout=file, stderr=theirs, env=env
            )
        os.close(theirs)

    def until(self, pattern: str) -> None:
        """Read on until ``pattern`` was shown."""
        end = time.monotonic() + _LONG
        while re.search(pattern, self.shown) is None:
            assert time.monotonic() < end, self.shown
            assert self._read(), self.shown

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Read all there is, and return the exit code."""
        while self._read():
            pass
        os.close(self._ours)
        return self.process.wait(_LONG)

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def left(self) -> str:
        """What stands on the terminal in the end."""
        return "".join(line.rpartition("\r")[2] for line in self.shown.replace("\r\n", "\n").splitlines(keepends=True))

    def _read(self) -> bool:
        try:
            part = os.read(self._ours, 65_536)
        except OSError:  # the other end is closed
            part = b""
        self.shown += part.decode()
        return bool(part)


def test_ctrl_c_gives_the_best_plan_so_far(large: Path, tmp_path: Path) -> None:
    done = OnTerminal(["-m", "repack_gitops", *plan_arguments(large, "-o", "json")], tmp_path / "out")
    done.until(r"[1-9]\d* nodes so far")
    start = time.monotonic()
    done.interrupt()
    assert done.end() == 130
    assert time.monotonic() - start < _LONG
    assert "Stopping; press Ctrl-C again to give up · " in done.shown
    assert done.left.startswith("warning: Ctrl-C stopped the search: ")
    assert len(done.left.splitlines()) == 1
    check_plan(large, done.out)


def check_plan(snapshot: Path, out: str) -> None:
    """Check that ``out`` is a whole plan: what it says moves are all pods of the nodes that it says are freed."""
    run = read_run(out, "out")
    assert run.status is not None
    plan = run.status.plan
    assert plan is not None
    assert plan.optimality is not None
    assert not plan.optimality.reproducible
    assert plan.optimality.freed == plan.summary.freed_node_count == len(plan.freed_nodes) > 0
    assert plan.optimality.upper_bound >= plan.optimality.freed
    assert plan.warnings[0].startswith("the search was stopped before its end")
    found = read_snapshot(snapshot)
    moved = {(m.namespace, p.name): p for m in plan.moves for p in m.pods}
    leaving = {p.key for node in plan.freed_nodes for p in found.pods_by_node[node] if p.requests.get(GPU)}
    assert set(moved) == leaving
    assert not {p.to_node for p in moved.values()} & set(plan.freed_nodes)
    added = dict.fromkeys((p.to_node for p in moved.values()), 0)
    for pod in moved.values():
        added[pod.to_node] += pod.cards * 1000
    for node, cards in added.items():
        assert found.used(node, GPU) + cards <= found.node_by_name[node].allocatable[GPU]


def test_a_second_ctrl_c_gives_up_at_once(middling: Path, tmp_path: Path) -> None:
    done = OnTerminal(["-c", _DEAF, *plan_arguments(middling)], tmp_path / "out")
    done.until("Planning · 1 s")
    done.interrupt()
    done.until("Stopping; press Ctrl-C again to give up")
    start = time.monotonic()
    done.interrupt()
    assert done.end() == 130
    assert time.monotonic() - start < _LONG
    assert (done.left, done.out) == ("error: interrupted\n", "")


def test_ctrl_c_before_anything_was_found(middling: Path, tmp_path: Path) -> None:
    """The first question is answered with stop."""
    done = OnTerminal(["-c", _HESITANT, *plan_arguments(middling, "--strategy", "Drain")], tmp_path / "out")
    done.until("Planning · 1 s")
    done.interrupt()
    assert done.end() == 130
    assert done.left.startswith("error: interrupted before a plan was found that gains enough\n  ")
    assert done.out == ""


def test_ascii_progress(middling: Path, tmp_path: Path) -> None:
    done = OnTerminal(["-c", _DEAF, *plan_arguments(middling)], tmp_path / "out", PYTHONIOENCODING="ascii")
    done.until("Planning - 1 s")
    for _ in range(2):
        done.interrupt()
        done.until("Stopping")
    assert done.end() == 130
    assert done.shown.isascii()


def test_what_is_soon_done_shows_no_progress(snapshot: Path, tmp_path: Path) -> None:
    done = OnTerminal(["-m", "repack_gitops", *plan_arguments(snapshot)[:-2]], tmp_path / "out")
    assert done.end() == 0
    assert done.shown == ""


@pytest.mark.parametrize("command", ["plan", "explain"])
def test_the_time_limit_without_a_terminal(large: Path, command: str) -> None:
    """Longer than a plan needs to be found, shorter than the search, on any machine that is not very slow."""
    arguments = [command, *plan_arguments(large, "--time-limit", "4", "-o", "json")[1:]]
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "repack_gitops", *arguments], capture_output=True, text=True, check=False)
    assert time.monotonic() - start < _LONG
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("warning: the time limit stopped the search: ")
    assert len(done.stderr.splitlines()) == 1
    if command == "plan":
        check_plan(large, done.stdout)
    else:
        assert json.loads(done.stdout)["reproducible"] is False


@pytest.mark.parametrize("form", ["table", "markdown", "yaml"])
@pytest.mark.parametrize("strategy", ["Drain", "Optimal"])
def test_every_form_says_that_it_was_stopped(
    repack: Run, middling: Path, form: str, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(monkeypatch, 12)
    done = repack(*plan_arguments(middling, "-o", form, "--strategy", strategy, "--time-limit", "600"))
    assert done.code == 0
    words = " ".join(done.out.split())
    assert "the search was stopped before its end: this is the best plan found so far" in words
    sentence = "The search was stopped: another run may find a better plan." in words
    assert sentence is (strategy == "Optimal" and form != "yaml")
    if form == "yaml" and strategy == "Optimal":
        assert yaml.safe_load(done.out)["status"]["plan"]["optimality"]["reproducible"] is False


@pytest.mark.parametrize("subject", [(), ("node", "gpu-00001")])
def test_explanations_say_it_too(
    repack: Run, middling: Path, subject: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(monkeypatch, 3)
    arguments = plan_arguments(middling, "--strategy", "Drain", "--time-limit", "600")[1:]
    done = repack("explain", *arguments, *subject)
    assert done.code == 0
    assert "The search was stopped: another run may find a better plan." in " ".join(done.out.split())
    assert subject or "SearchStopped" in done.out


def stop_after(monkeypatch: pytest.MonkeyPatch, questions: int) -> None:
    """Let time be up at a question."""
    asked: list[int] = []

    def stop(_: object) -> bool:
        asked.append(1)
        return len(asked) > questions

    monkeypatch.setattr("repack_gitops.cli.waiting.Waiting.stop", stop)


def test_time_that_was_too_short_for_anything(repack: Run, middling: Path) -> None:
    done = repack(*plan_arguments(middling, "--strategy", "Drain", "--time-limit", "0.000001"))
    assert (done.code, done.out) == (75, "")
    assert "no plan that gains enough was found within the 1e-06 s of --time-limit" in done.err
    assert "Allow more seconds" in done.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "soon", ""])
def test_what_is_no_time_limit(repack: Run, middling: Path, seconds: str) -> None:
    done = repack(*plan_arguments(middling, "--time-limit", seconds))
    assert (done.code, done.out) == (2, "")
    assert "--time-limit" in done.err


@pytest.mark.parametrize("seconds", ["600", "inf"])
def test_a_time_limit_that_is_not_reached_changes_nothing(repack: Run, middling: Path, seconds: str) -> None:
    without, limited = repack(*plan_arguments(middling)), repack(*plan_arguments(middling, "--time-limit", seconds))
    assert limited == without
    assert without.err == ""


def test_the_file_is_the_cluster(middling: Path) -> None:
    found = read_snapshot(middling)
    evaluation = evaluate(found, spec(), OPTIMAL)
    assert evaluation.steps
    assert verify(found, spec(), evaluation, OPTIMAL) == ()
