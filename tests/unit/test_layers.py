"""Which way imports point (docs/architecture.md): the table of rooms, enforced by reading the imports.

The table stands here and nowhere else. A new room is one entry; a failing test names the line and the rule.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = "repack_gitops"
ROOT = Path(__file__).parents[2] / PACKAGE

#: From the ground up. A room imports its own modules and lower lines; rooms on one line never import each other.
LINES: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("model",),
    ("planner", "policy", "report"),
    ("kube", "git", "forge", "files", "sim"),
    ("workflow",),
    ("cli",),
)
#: Same arguments, same answer: no clock, no chance, no I/O, no logging.
PURE = frozenset({"errors", "model", "planner", "policy", "report"})
#: Edges that stories see only through their ``interface`` module, and that only ``cli.wiring`` chooses.
PORTS = frozenset({"kube", "git", "forge", "sim"})

#: What a pure room may not import, with the names it may take from it all the same.
IMPURE: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            *("os", "shutil", "tempfile", "subprocess", "signal", "sys"),
            *("socket", "ssl", "http", "requests", "urllib3", "asyncio", "selectors", "threading", "multiprocessing"),
            *("time", "random", "secrets", "uuid", "logging", "importlib", "kubernetes", "click", "tenacity"),
        ),
        frozenset(),
    ),
    "io": frozenset({"StringIO", "BytesIO"}),
    "pathlib": frozenset({"PurePath", "PurePosixPath"}),
    "urllib": frozenset({"parse"}),
}
#: Calls that read the world without an import of their own.
IMPURE_CALLS = frozenset({"open", "input", "print", "datetime.now", "datetime.utcnow", "datetime.today", "date.today"})


@dataclass(frozen=True)
class Import:
    """One import: the module, the names taken from it (of a plain import: those used as its attributes), the line."""

    module: str
    names: tuple[str, ...]
    line: int


def imports(tree: ast.AST, module: str) -> Iterator[Import]:
    """Yield what ``module`` imports, wherever it does; relative imports are resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, _used(tree, alias.asname or alias.name), node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: -node.level]
                base = ".".join([*parents, base] if base else parents)
            yield Import(base, tuple(alias.name for alias in node.names), node.lineno)


def _used(tree: ast.AST, name: str) -> tuple[str, ...]:
    attributes = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    return tuple(sorted({n.attr for n in attributes if isinstance(n.value, ast.Name) and n.value.id == name}))


def violations(module: str, source: str) -> list[str]:
    """Return what is wrong with the imports of ``module`` (``repack_gitops.room.name``), as ``module:line: rule``."""
    return [f"{module}:{line}: {rule}" for line, rule in _broken(module, ast.parse(source))]


def _broken(module: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    room = _room(module)
    for found in imports(tree, module):
        rule = next(filter(None, (_rule(module, room, found, target) for target in _targets(found))), None)
        if rule:
            yield found.line, rule
    for call in (c for c in ast.walk(tree) if isinstance(c, ast.Call) and room in PURE):
        if _called(call.func) in IMPURE_CALLS:
            yield call.lineno, f"{room} is pure: {_called(call.func)}() is not a function of its arguments"


def _rule(module: str, room: str, found: Import, target: str) -> str | None:
    inside = target.split(".", maxsplit=1)[0] == PACKAGE
    return _between_rooms(module, room, target) if inside else _from_outside(room, found)


def _targets(found: Import) -> list[str]:
    """``from repack_gitops import kube`` names a room just as ``import repack_gitops.kube`` does."""
    if found.module == PACKAGE:
        return [f"{PACKAGE}.{name}" for name in found.names]
    return [found.module]


def _room(module: str) -> str:
    """Return the room of a module; the package's own ``__main__`` is part of the command line."""
    parts = module.split(".")
    return {"__main__": "cli"}.get(parts[1], parts[1]) if len(parts) > 1 else ""


def _line_of(room: str) -> int | None:
    return next((i for i, line in enumerate(LINES) if room in line), None)


def _between_rooms(module: str, room: str, target: str) -> str | None:
    other = _room(target)
    if other in ("", room, "__version__"):
        return None
    mine, its = _line_of(room), _line_of(other)
    if mine is None or its is None:
        return f"{room if mine is None else other} is no room: give it a line in tests/unit/test_layers.py"
    if its > mine:
        return f"{room} may not import {other}: a room imports its own modules and lower lines"
    if its == mine:
        return f"{room} may not import {other}: rooms on one line never import each other"
    if other in PORTS and room == "workflow" and target.split(".")[2:3] != ["interface"]:
        return f"workflow may not import {target}: stories see an edge only through its interface module"
    if other in PORTS and room == "cli" and module != f"{PACKAGE}.cli.wiring":
        return f"{module} may not import {target}: wiring alone chooses adapters"
    return None


def _from_outside(room: str, found: Import) -> str | None:
    top = found.module.split(".")[0]
    if top == "kubernetes" and room != "kube":
        return f"{room} may not import kubernetes: kube alone talks to the API server"
    if room not in PURE or top not in IMPURE:
        return None
    taken = {found.module.split(".")[1]} if "." in found.module else set(found.names)
    if taken and taken <= IMPURE[top]:
        return None
    return f"{room} is pure: it may not import {', '.join(f'{top}.{n}' for n in sorted(taken - IMPURE[top])) or top}"


def _called(function: ast.expr) -> str:
    """Return the last two parts of what is called: ``datetime.now`` for ``datetime.datetime.now``."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute):
        owner = function.value
        last = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else "?"
        return f"{last}.{function.attr}"
    return "?"


def modules() -> dict[str, Path]:
    """Return every module of the package."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts)] = path
    return found


@pytest.mark.parametrize("module", modules())
def test_imports_point_down(module: str) -> None:
    found = violations(module, modules()[module].read_text(encoding="utf-8"))
    assert not found, "\n".join(["", *found, "The table of rooms is in tests/unit/test_layers.py."])


def test_every_room_of_the_package_is_in_the_table() -> None:
    rooms = {_room(m) for m in modules()} - {"", "__init__"}
    assert rooms <= {room for line in LINES for room in line}


def test_the_package_itself_imports_nothing() -> None:
    """Everything imports it for its version, so it must not draw in a room."""
    assert list(imports(ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8")), PACKAGE)) == []


@pytest.mark.parametrize(
    ("module", "source", "rule"),
    [
        ("planner.search", "from repack_gitops.kube.client import connect", "planner may not import kube: a room imports"),
        ("planner.search", "import repack_gitops.workflow.propose", "planner may not import workflow"),
        ("planner.search", "from repack_gitops import cli", "planner may not import cli"),
        ("planner.search", "from ..policy import names", "planner may not import policy: rooms on one line"),
        ("planner.search", "from repack_gitops.report.svg import layout_svg", "rooms on one line never import each other"),
        ("model.plan", "from repack_gitops.planner import evaluate", "model may not import planner"),
        ("errors", "from repack_gitops.model.plan import Plan", "errors may not import model"),
        ("git.tree", "from repack_gitops.files.atomic import write", "git may not import files: rooms on one line"),
        ("attic.old", "from repack_gitops.model.plan import Plan", "attic is no room"),
        ("git.tree", "import kubernetes.client", "git may not import kubernetes: kube alone"),
        ("workflow.sweep", "def f():\n    from kubernetes import client", "workflow may not import kubernetes"),
        ("workflow.sweep", "from repack_gitops.kube.client import connect", "only through its interface module"),
        ("workflow.sweep", "from repack_gitops.forge import kinds", "only through its interface module"),
        ("cli.plan", "from repack_gitops.git.repository import GitRepository", "wiring alone chooses adapters"),
        ("planner.search", "import os", "planner is pure: it may not import os"),
        ("planner.search", "import time as clock", "planner is pure: it may not import time"),
        ("planner.search", "from random import shuffle", "planner is pure: it may not import random.shuffle"),
        ("report.svg", "from pathlib import Path", "report is pure: it may not import pathlib.Path"),
        ("report.svg", "import pathlib", "report is pure: it may not import pathlib"),
        ("report.svg", "import io\nfile = io.open('plan.svg')", "report is pure: it may not import io.open"),
        ("report.svg", "import pathlib as p\nhere = p.PurePath(p.Path())", "report is pure: it may not import pathlib.Path"),
        ("report.svg", "import urllib.request", "report is pure: it may not import urllib.request"),
        ("policy.due", "import logging.handlers", "policy is pure: it may not import logging.handlers"),
        ("policy.due", "from datetime import datetime\nnow = datetime.now()", "policy is pure: datetime.now() is not"),
        ("policy.due", "import datetime\nnow = datetime.datetime.utcnow()", "policy is pure: datetime.utcnow() is not"),
        ("model.run", "text = open('run.yaml').read()", "model is pure: open() is not a function"),
    ],
)
def test_the_checker_finds(module: str, source: str, rule: str) -> None:
    (found,) = violations(f"{PACKAGE}.{module}", source)
    assert rule in found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("planner.search", "from repack_gitops.model.plan import Plan\nfrom repack_gitops.errors import InvalidInput"),
        ("planner.search", "from repack_gitops.planner.problem import Problem\nimport numpy"),
        ("planner.search", "from .problem import Problem\nfrom ..model import plan"),
        ("workflow.sweep", "from repack_gitops.kube.interface import Cluster\nfrom repack_gitops.policy.due import due"),
        ("workflow.sweep", "from repack_gitops import __version__"),
        ("cli.wiring", "from repack_gitops.kube.client import connect\nimport os, time"),
        ("cli.plan", "from repack_gitops.files.snapshot import read_snapshot"),
        ("kube.client", "from kubernetes import client\nimport logging"),
        ("report.table", "import io\nfrom pathlib import PurePosixPath\nfrom urllib.parse import quote\nfile = io.StringIO()"),
        ("policy.due", "from datetime import datetime\nparsed = datetime.fromisoformat('2026-01-01')"),
        ("__main__", "from repack_gitops.cli.main import main"),
    ],
)
def test_the_checker_allows(module: str, source: str) -> None:
    assert violations(f"{PACKAGE}.{module}", source) == []
