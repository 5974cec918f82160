"""What people read, compared byte for byte.

After a wanted change, write the files anew and review the diff::

    REPACK_UPDATE_GOLDEN=1 pytest tests/unit/report/test_golden.py
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from repack_gitops.model.status import dry_run_status
from repack_gitops.report.evaluation import evaluation_markdown
from repack_gitops.report.markdown import plan_markdown, pull_request_body, pull_request_title
from repack_gitops.report.result import result_comment, result_markdown
from repack_gitops.report.svg import layout_svg
from repack_gitops.report.svg_frontier import frontier_svg
from repack_gitops.report.table import plan_table
from tests.unit.report import cases, documents
from tests.unit.report.build import Case

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "report"
CASES: dict[str, Callable[[], Case]] = {
    "3-nodes": cases.three_nodes,
    "cascades": cases.cascading,
    "frontier": cases.with_frontier,
    "60-nodes": cases.sixty_nodes,
    "4000-nodes": cases.four_thousand_nodes,
    "compact": cases.compact,
    "insufficient": cases.insufficient,
}


def table(found: Case, **options: object) -> str:
    commands = ["repack propose policies/nightly-ascend.yaml"]
    return plan_table(found.evaluation, documents.facts(found).spec, found.snapshot, next_steps=commands, **options)  # type: ignore[arg-type]


def status(found: Case) -> str:
    encoded = msgspec.json.encode(dry_run_status(found.evaluation, "2026-07-30T02:00:04Z", threshold=10))
    return msgspec.json.format(encoded, indent=2).decode() + "\n"


def digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()} of {len(text)} characters\n"


FILES: dict[str, Callable[[Case], str]] = {
    "table-80.txt": lambda c: table(c, width=80),
    "table-140.txt": lambda c: table(c, width=140),
    "table-80-ascii.txt": lambda c: table(c, width=80, unicode=False),
    "title.txt": lambda c: pull_request_title(documents.facts(c)) + "\n",
    "body.md": lambda c: pull_request_body(documents.facts(c)),
    "plan.md": lambda c: plan_markdown(documents.facts(c)),
    "layout.svg": lambda c: layout_svg(c.snapshot, c.evaluation),
    "frontier.svg": lambda c: frontier_svg(c.evaluation),
    "evaluation.md": lambda c: evaluation_markdown(c.evaluation, documents.facts(c).spec),
    "status.json": status,
}
#: What every plan has; the others are shown by the case that is about them.
_COMMON = {name: make for name, make in FILES.items() if name not in ("frontier.svg", "evaluation.md")}
_DIGESTED = ("plan.md", "status.json")
PLANS = ("3-nodes", "60-nodes", "4000-nodes")
EXTRA: dict[tuple[str, str], Callable[[Case], str]] = {
    ("3-nodes", "table-80-colour.txt"): lambda c: table(c, width=80, colour=True),
    ("3-nodes", "result.md"): lambda c: result_markdown(documents.finished_run(c)),
    ("60-nodes", "result.md"): lambda c: result_markdown(documents.finished_run(c, rejected=1, late=2, elsewhere=3)),
    ("4000-nodes", "result-comment.md"): lambda c: result_comment(documents.finished_run(c, rejected=3, late=2, elsewhere=50)),
    # Half a megabyte of text is not worth a file: its digest changes with every byte just the same.
    ("4000-nodes", "plan.md.digest"): lambda c: digest(plan_markdown(documents.facts(c))),
    ("4000-nodes", "status.json.digest"): lambda c: digest(status(c)),
}
EXPECTED = {
    **{(name, file): make for name in PLANS for file, make in _COMMON.items() if name != "4000-nodes" or file not in _DIGESTED},
    **{
        (name, file): FILES[file]
        for name in ("compact", "insufficient")
        for file in ("table-80.txt", "layout.svg", "status.json")
    },
    **{("cascades", file): FILES[file] for file in ("table-80.txt", "plan.md", "status.json")},
    **{
        ("frontier", file): FILES[file]
        for file in ("table-80.txt", "table-80-ascii.txt", "body.md", "plan.md", "evaluation.md", "frontier.svg", "status.json")
    },
    **EXTRA,
}


@pytest.mark.parametrize(("name", "file"), sorted(EXPECTED))
def test_golden(name: str, file: str) -> None:
    made = EXPECTED[name, file](CASES[name]())
    compare(made, GOLDEN / name / file)


def test_the_picture_of_the_readme() -> None:
    found = cases.readme_example()
    compare(layout_svg(found.snapshot, found.evaluation), ROOT / "docs" / "images" / "layout.svg")


def compare(made: str, path: Path) -> None:
    if os.environ.get("REPACK_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made, encoding="utf-8", newline="\n")
    assert made == path.read_text(encoding="utf-8"), "see this file's docstring if the change is wanted"


def test_no_golden_file_is_left_over() -> None:
    there = {(p.parent.name, p.name) for p in GOLDEN.glob("*/*")}
    assert there == set(EXPECTED)
