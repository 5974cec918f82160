"""Fixture: a repository with one policy, and a cluster in which one node can be freed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.workflow.gitops.place import Place, make_place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)
