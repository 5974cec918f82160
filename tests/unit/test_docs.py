"""Documentation that would go stale: names in it are the names in the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bench.measure import RESULTS
from bench.page import page as benchmarks
from repack_gitops.model.budget_forecast import BudgetVerdict
from repack_gitops.model.plan import Code, Verdict

DOCS = Path(__file__).parents[2] / "docs"


def test_every_reason_is_explained() -> None:
    text = (DOCS / "planning.md").read_text()
    assert [name for name in (*Code, *Verdict, *BudgetVerdict) if f"`{name.value}`" not in text] == []


def test_no_reason_is_explained_that_does_not_exist() -> None:
    tables = re.findall(r"^\| (`[^|]+`) \|", (DOCS / "planning.md").read_text(), re.MULTILINE)
    named = {name for row in tables for name in re.findall(r"`(\w+)`", row)}
    assert named <= {c.value for c in (*Code, *Verdict, *BudgetVerdict)}


def test_links_between_pages_lead_somewhere() -> None:
    pages = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_page_of_benchmarks_shows_what_was_saved() -> None:
    saved = json.loads((RESULTS / "planner.json").read_text())
    assert (DOCS / "benchmarks.md").read_text() == benchmarks(saved), "run python -m bench.page"
