"""Fixtures for tests against the fake API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from repack_gitops.kube.client import LiveCluster
from tests.unit.kube.fake_api import FakeApi


@pytest.fixture
def fake() -> Iterator[FakeApi]:
    """A server that answers what the test tells it to."""
    with FakeApi().serving() as api:
        yield api


@pytest.fixture
def cluster(fake: FakeApi) -> Iterator[LiveCluster]:
    """A cluster behind that server."""
    with fake.cluster() as live:
        yield live
