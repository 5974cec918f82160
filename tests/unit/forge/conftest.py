"""Fixtures: a scripted server, a clock that nobody waits for, and a session between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from repack_gitops.forge.http import HttpSession
from tests.unit.forge.scripted import Clock, Script, serving, session_for


@pytest.fixture
def script() -> Iterator[Script]:
    made = Script()
    with serving(made):
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def session(script: Script, clock: Clock) -> Iterator[HttpSession]:
    made = session_for(script.url, clock.patience())
    yield made
    made.close()
