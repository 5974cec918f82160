"""The list of known faults and the tests of this folder name the same rows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.unit.faults.rows import BOTH, ROWS

FOLDER = Path(__file__).parent
NAME = re.compile(r"test_fault_(\d+)_")


def test_every_known_fault_has_a_test_that_names_it() -> None:
    found: dict[int, list[str]] = {}
    for path in sorted(FOLDER.glob("test_c*.py")):
        for item in ast.walk(ast.parse(path.read_text())):
            match = NAME.match(item.name) if isinstance(item, ast.FunctionDef) else None
            if match is not None and isinstance(item, ast.FunctionDef):
                found.setdefault(int(match[1]), []).append(ast.get_docstring(item) or "")
    assert sorted(found) == sorted(ROWS)
    for number, docstrings in found.items():
        letter, first = "B" if number in BOTH else "P", ROWS[number][0].split(",")[0]
        for text in docstrings:
            assert text.startswith(f"{letter} {number}, {first}"), f"row {number}: {text}"
