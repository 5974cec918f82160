"""Adapters take exactly what their interface says: names, order, kinds and defaults of parameters, and return types."""

from __future__ import annotations

import inspect
from typing import Any, Protocol

import pytest

from repack_gitops.forge.gitea import GiteaForge
from repack_gitops.forge.interface import Forge
from repack_gitops.forge.none import NoForge
from repack_gitops.git.interface import Repository
from repack_gitops.git.repository import GitRepository

ADAPTERS: list[tuple[type[Any], type[Any]]] = [
    (Forge, GiteaForge),
    (Forge, NoForge),
    (Repository, GitRepository),
]


def methods(cls: type[Any]) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(cls, inspect.isfunction)
    return {name: inspect.signature(method) for name, method in found if not name.startswith("_")}


@pytest.mark.parametrize(("interface", "adapter"), ADAPTERS)
def test_methods(interface: type[Any], adapter: type[Any]) -> None:
    promised, kept = methods(interface), methods(adapter)
    assert {name: kept.get(name) for name in promised} == promised


@pytest.mark.parametrize("interface", [Forge, Repository])
def test_every_promise_is_described(interface: type[Any]) -> None:
    assert Protocol in interface.__mro__
    assert [name for name in methods(interface) if not getattr(interface, name).__doc__] == []
