"""Skipped real tests fail the session where the real parts are required, and only there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = """
from tests.conftest import pytest_collection_modifyitems, pytest_configure
"""
TESTS = """
import pytest

@pytest.mark.real
def test_real():
    pytest.skip("no such machine")

def test_other():
    pytest.skip("never mind")

@pytest.mark.real
@pytest.mark.xfail
def test_known():
    raise AssertionError
"""


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
@pytest.mark.parametrize(("required", "status"), [("1", 1), ("", 0)])
def test_a_skipped_real_test_fails_the_session_that_requires_it(
    tmp_path: Path, workers: str, required: str, status: int
) -> None:
    """The session names test and reason; other skips, and failures that were expected, do not count."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = real\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "REPACK_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", workers, "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT), "REPACK_REQUIRE_REAL": required},
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in done.stdout.splitlines() if line.startswith("REPACK_REQUIRE_REAL")]
    assert done.returncode == status, done.stdout + done.stderr
    assert len(complaints) == status
    assert all("test_it.py::test_real" in line and "no such machine" in line for line in complaints)
