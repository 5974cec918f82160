"""A child process is bounded in time and output, and nothing it started survives it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repack_gitops.git.process import Finished, run_bounded

ENV = {"PATH": os.environ["PATH"]}


def run(script: str, tmp_path: Path, *, stdin: bytes = b"", timeout: float = 30, limit: int = 1000) -> Finished:
    return run_bounded(["sh", "-c", script], env=ENV, cwd=tmp_path, stdin=stdin, timeout=timeout, limit=limit)


def alive(pid: int) -> bool:
    # A killed orphan is gone as soon as init has collected it, which we can only wait for.
    for _ in range(10_000):
        if _state(pid) in ("", "Z"):
            return False
        os.sched_yield()
    return True


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_output_and_exit_code(tmp_path: Path) -> None:
    assert run("echo out; echo err >&2; exit 3", tmp_path) == Finished("exited", 3, b"out\n", b"err\n")


def test_input_arrives_and_is_otherwise_closed(tmp_path: Path) -> None:
    assert run("cat", tmp_path, stdin=b"given").out == b"given"
    assert run("cat", tmp_path).out == b""


def test_input_that_is_never_read_blocks_nothing(tmp_path: Path) -> None:
    assert run("exit 0", tmp_path, stdin=b"x" * 1_000_000).code == 0


def test_a_child_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    finished = run("sleep 600 & echo $! > pid; wait", tmp_path, timeout=0.3)
    assert finished.end == "timed-out"
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_child_that_ignores_the_polite_signal_is_killed_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repack_gitops.git.process._GRACE_SECONDS", 0.05)
    finished = run("trap '' TERM; echo $$ > pid; while :; do sleep 600; done", tmp_path, timeout=0.3)
    assert finished.end == "timed-out"
    assert not alive(int((tmp_path / "pid").read_text()))


def test_children_left_in_the_background_are_killed(tmp_path: Path) -> None:
    finished = run("sleep 600 >/dev/null 2>&1 & echo $! > pid", tmp_path)
    assert finished.end == "exited"
    assert not alive(int((tmp_path / "pid").read_text()))


def test_too_much_output_is_cut_off(tmp_path: Path) -> None:
    finished = run("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", tmp_path, limit=1000)
    assert finished.end == "too-much-output"


def test_standard_error_is_kept_in_part_only(tmp_path: Path) -> None:
    finished = run("head -c 500000 /dev/zero >&2; echo done", tmp_path)
    assert (finished.end, finished.out, len(finished.err)) == ("exited", b"done\n", 1 << 16)


def test_the_environment_is_exactly_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_CALLER", "x")
    assert b"SECRET_OF_THE_CALLER" not in run("env", tmp_path).out
