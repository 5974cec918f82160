"""The fixtures of the git room's own tests serve here as well."""

from __future__ import annotations

from tests.unit.git.conftest import clone, scratch

__all__ = ["clone", "scratch"]
