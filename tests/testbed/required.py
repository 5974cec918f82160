"""Tests that need the real parts: which they are, and that none is skipped where the real parts are required.

With ``REPACK_REQUIRE_REAL=1`` in the environment a skipped ``real`` test fails the session. Elsewhere it is only skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

MARK = "real"
FIXTURES = frozenset({"testbed_parts", "control_plane", "own_control_plane", "gitea", "forge_repo"})


def required() -> bool:
    """Say whether the environment requires that every ``real`` test runs."""
    return os.environ.get("REPACK_REQUIRE_REAL", "") not in {"", "0"}


def mark_real(items: Iterable[pytest.Item]) -> None:
    """Mark tests that use a real part, so that ``-m 'not real'`` leaves them out whatever their file says."""
    for item in items:
        if FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(MARK)
        if item.get_closest_marker(MARK):
            item.user_properties.append((MARK, True))


class SkippedReal:
    """A pytest plugin that remembers skipped ``real`` tests and fails the session for them."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a test that was skipped although it needs a real part."""
        is_real = (MARK, True) in (tuple(pair) for pair in report.user_properties)
        if report.skipped and is_real and not hasattr(report, "wasxfail"):
            self.reasons[report.nodeid] = _reason(report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember a whole file that was skipped: nobody can tell what was in it."""
        if report.skipped:
            self.reasons[report.nodeid] = _reason(report.longrepr)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn success into failure if anything was skipped; other failures keep their exit status."""
        if self.reasons and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which tests were skipped, and why."""
        for test, reason in sorted(self.reasons.items()):
            line = f"REPACK_REQUIRE_REAL: skipped, so this session fails: {test}: {reason}"
            terminalreporter.write_line(line, red=True)


def _reason(representation: Any) -> str:
    """Return the reason of a skip; pytest keeps it as (file, line, reason)."""
    return str(representation[2] if isinstance(representation, (tuple, list)) else representation)
