"""Fixtures: a remote with one commit, and this project's clone of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repack_gitops.git.repository import GitRepository
from tests.unit.git.scratch import NO_WAIT, Scratch, make_scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return make_scratch(tmp_path)


@pytest.fixture
def clone(scratch: Scratch) -> Iterator[GitRepository]:
    with GitRepository.clone(scratch.url, branch="main", settings=NO_WAIT) as repository:
        yield repository
