from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from repack_gitops.model.budget_forecast import BudgetForecast, BudgetVerdict
from repack_gitops.model.plan import Code
from repack_gitops.report.table import plan_table
from tests.unit.report import build, cases, documents
from tests.unit.report.test_markup import HOSTILE

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def show(case: build.Case, **options: object) -> str:
    return plan_table(case.evaluation, documents.facts(case).spec, case.snapshot, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("case", [cases.three_nodes(), cases.sixty_nodes(), cases.insufficient(), cases.compact()])
def test_no_line_is_wider_than_the_terminal(case: build.Case, width: int) -> None:
    assert max(cell_len(line) for line in show(case, width=width).splitlines()) <= width


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(HOSTILE) | st.text(max_size=80), st.integers(60, 140), st.booleans(), st.booleans())
def test_hostile_names_neither_move_the_cursor_nor_overflow(text: str, width: int, unicode: bool, colour: bool) -> None:
    case = cases.renamed(cases.twelve_nodes(), text)
    shown = ANSI.sub("", show(case, width=width, unicode=unicode, colour=colour))
    assert all(line.isprintable() and cell_len(line) <= width for line in shown.splitlines())
    assert unicode or shown.isascii()


def test_colour_only_adds_colour() -> None:
    case = cases.sixty_nodes()
    plain, coloured = show(case, width=80), show(case, width=80, colour=True)
    assert "\x1b" not in plain
    assert ANSI.sub("", coloured) == plain


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.three_nodes()
    before = show(case, width=80, colour=True)
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "20", "FORCE_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    assert show(case, width=80, colour=True) == before


def test_thousands_of_nodes_are_summed_up() -> None:
    shown = show(cases.four_thousand_nodes(), width=80)
    assert len(shown.splitlines()) < 100
    assert "and 1,222 more nodes: 2,162 pods, 3,162 cards" in shown
    assert "more PodGroups" in shown


def test_a_node_of_many_pods_is_summed_up() -> None:
    pods = [build.pod(f"p{i}", "a", 1, build.JOB, 1) for i in range(30)]
    hosts = [build.pod("host", "b", 34, build.JOB, 2)]
    case = build.plan(build.snapshot([build.node("a", 64), build.node("b", 64)], [*pods, *hosts]))
    assert "and 22 more pods" in show(case, width=80)


def test_a_breach_is_named() -> None:
    assert "BREACH" in show(cases.three_nodes(), width=80)


def test_without_a_snapshot_there_are_no_bars() -> None:
    case = cases.three_nodes()
    assert "■" in show(case)
    assert "■" not in plan_table(case.evaluation, documents.facts(case).spec)


def test_commands_are_offered_only_where_there_is_a_plan() -> None:
    assert "  repack propose x" in show(cases.three_nodes(), next_steps=["repack propose x"])
    assert "repack propose x" not in show(cases.compact(), next_steps=["repack propose x"])


def test_advice_follows_the_reasons() -> None:
    assert "lower the goal's minFragImprovementPercent" in show(cases.insufficient())
    case = cases.with_stay(cases.insufficient(), Code.BUDGET_EXCEEDED)
    assert "raise maxPerRun" in show(case)


def test_a_reached_optimum_needs_no_advice() -> None:
    assert "To free more nodes" not in show(cases.twelve_nodes())
    assert "To free more nodes" in show(cases.sixty_nodes())


def with_budgets(*budgets: BudgetForecast) -> build.Case:
    case = cases.three_nodes()
    return build.Case(case.snapshot, replace(case.evaluation, disruption_budgets=budgets))


ENOUGH = BudgetForecast("serving", "chat", 1, 1, 2, BudgetVerdict.ENOUGH, "it allows all of them now")


def test_budgets_that_allow_the_plan_are_a_short_section() -> None:
    text = show(with_budgets(ENOUGH))
    assert "Every PodDisruptionBudget concerned allows what the plan needs now." in text
    assert "serving/chat" in text
    assert "it allows all of them now" not in text


def test_budgets_that_hold_the_plan_up_come_first_with_the_reason() -> None:
    held = [replace(ENOUGH, name=v.value.lower(), verdict=v, message=f"because {v.value}") for v in BudgetVerdict]
    text = show(with_budgets(*held))
    assert "3 of 5 PodDisruptionBudgets allow less than the plan needs now." in text
    order = [text.index(f"serving/{v}") for v in ("never", "stale", "waits", "enough", "exempt")]
    assert order == sorted(order)
    assert [v.value for v in BudgetVerdict if f"because {v.value}" in text] == ["Waits", "Stale", "Never"]


def test_many_budgets_are_cut() -> None:
    text = show(with_budgets(*(replace(ENOUGH, name=f"b{i:02}") for i in range(20))))
    assert "and 10 more PodDisruptionBudgets" in text
    assert "serving/b10" not in text


def test_no_budgets_no_section() -> None:
    assert "PodDisruptionBudget" not in show(cases.three_nodes())
