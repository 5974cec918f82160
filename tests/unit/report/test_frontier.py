"""What less disruption would free: rows, words, tables and the picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import Evaluation, Frontier, FrontierPoint
from repack_gitops.model.status import plan_status
from repack_gitops.report.evaluation import evaluation_markdown
from repack_gitops.report.frontier import MOST_ROWS, TITLE, axes, frontier_sentence, pictured, shown_rows
from repack_gitops.report.markdown import SMALLEST_LIMIT, plan_markdown, pull_request_body
from repack_gitops.report.proposal_frontier import frontier
from repack_gitops.report.svg_frontier import frontier_svg
from repack_gitops.report.svg_panel import ticks
from repack_gitops.report.table import plan_table
from tests.unit.report import cases, documents
from tests.unit.report.build import Case
from tests.unit.report.cases import point
from tests.unit.report.reading import problems
from tests.unit.report.test_markup import HOSTILE

NS = "{http://www.w3.org/2000/svg}"


def evaluation(*pod_groups: FrontierPoint, cards: tuple[FrontierPoint, ...] = ()) -> Evaluation:
    """The plan of `with_frontier`, 14 nodes for 14 PodGroups and 22 cards, with other points."""
    return replace(cases.with_frontier().evaluation, frontier=Frontier(pod_groups, cards))


def simple(*steps: tuple[int, int]) -> tuple[FrontierPoint, ...]:
    return tuple(point(limit, freed, freed, limit, 0, limit, limit, limit) for limit, freed in steps)


def drawn(found: Evaluation) -> ET.Element:
    return ET.fromstring(frontier_svg(found))  # noqa: S314 - our own text


# ---- rows ----
def test_the_plan_stands_at_its_own_point() -> None:
    (axis,) = axes(evaluation(*simple((7, 9), (14, 14))))
    assert [(r.limit, r.freed, r.present) for r in axis.rows] == [(7, 9, False), (14, 14, True)]
    assert axis.rows[1].disruption == cases.with_frontier().evaluation.disruption


def test_a_plan_off_the_line_gets_a_row_of_its_own() -> None:
    """Fewest PodGroups come first, so fewer cards may do."""
    found = evaluation(cards=simple((7, 9), (20, 14)))
    (axis,) = axes(found)
    assert [(r.limit, r.freed, r.bound, r.present) for r in axis.rows][-1] == (22, 14, "proven", True)
    (axis,) = axes(evaluation(*simple((7, 9)), point(16, 14, 15, 16)))
    assert [(r.limit, r.bound, r.present) for r in axis.rows] == [
        (7, "proven", False), (14, "proven", True), (16, "at most 15", False),
    ]  # fmt: skip


def test_without_a_plan_no_row_is_the_plan() -> None:
    found = replace(evaluation(*simple((1, 0), (2, 0))), steps=(), disruption=Disruption())
    (axis,) = axes(found)
    assert axis.present is None
    assert [r.limit for r in shown_rows(axis)] == [2]
    assert "this plan" not in frontier(found) + frontier_svg(found)


def test_only_limits_that_free_more_are_listed() -> None:
    (axis,) = axes(evaluation(*simple((1, 0), (2, 0), (3, 4), (4, 4), (5, 4), (9, 8), (14, 14))))
    assert [r.limit for r in shown_rows(axis)] == [3, 9, 14]


def test_a_long_table_is_thinned_and_keeps_both_ends_and_the_plan() -> None:
    (axis,) = axes(evaluation(*simple(*((i, i) for i in range(1, 101)))))
    rows = shown_rows(axis)
    assert len(rows) <= MOST_ROWS
    assert (rows[0].limit, rows[-1].limit) == (1, 100)
    assert any(r.present for r in rows)
    assert "Limits between these are in `status.plan.frontier`." in frontier(evaluation(*simple(*((i, i) for i in range(101)))))


# ---- words ----
@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (
            ((1, 2), (4, 10), (13, 13), (14, 14)),
            "10 of the 14 nodes would take only 4 of the 14 PodGroups; the last 4 cost 10 more.",
        ),
        (((3, 13), (14, 14)), "13 of the 14 nodes would take only 3 of the 14 PodGroups; the last one costs 11 more."),
        (((7, 7), (14, 14)), ""),
        (((9, 2), (14, 14)), ""),
        (((14, 14),), ""),
    ],
)
def test_what_stands_out(steps: tuple[tuple[int, int], ...], words: str) -> None:
    assert frontier_sentence(evaluation(*simple(*steps))) == words


# ---- where it is shown ----
def forms(case: Case) -> dict[str, str]:
    facts = documents.facts(case)
    return {
        "table": plan_table(case.evaluation, facts.spec, case.snapshot, width=80),
        "plan.md": plan_markdown(facts),
        "pull request": pull_request_body(facts),
        "markdown": evaluation_markdown(case.evaluation, facts.spec),
    }


@pytest.mark.parametrize("form", ["table", "plan.md", "pull request", "markdown"])
def test_every_form_shows_it_and_none_without(form: str) -> None:
    text = forms(cases.with_frontier())[form]
    assert TITLE in text
    assert "at most 12" in text
    assert "7 of the 14 nodes" in " ".join(text.split())
    assert TITLE not in forms(cases.sixty_nodes())[form]


def test_the_picture_is_linked_where_there_is_one() -> None:
    case = cases.with_frontier()
    plan = plan_markdown(documents.facts(case))
    assert "](frontier.svg)\n" in plan
    assert "[`frontier.svg`](frontier.svg)" in plan
    assert problems(plan) == []
    single = Case(case.snapshot, replace(case.evaluation, frontier=Frontier(pod_groups=simple((14, 14)))))
    assert "frontier.svg" not in plan_markdown(documents.facts(single)) + pull_request_body(documents.facts(single))
    assert "frontier.svg" not in pull_request_body(documents.facts(case, frontier_url=""))


def test_it_gives_way_where_space_is_short() -> None:
    body = pull_request_body(documents.facts(cases.with_frontier()), limit=SMALLEST_LIMIT)
    assert len(body) <= SMALLEST_LIMIT
    assert "what disruption buys" in body
    assert problems(body) == []


@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_line_of_the_terminal_is_too_long(width: int) -> None:
    case = cases.with_frontier()
    assert max(map(len, plan_table(case.evaluation, documents.facts(case).spec, width=width).splitlines())) <= width


def test_status() -> None:
    found = evaluation(point(2, 3, 4, 2, 1, 9, 8, 7), cards=simple((22, 14)))
    assert msgspec.to_builtins(plan_status(found))["frontier"] == {
        "podGroups": [
            {"limit": 2, "freedNodes": 3, "upperBound": 4, "podGroups": 2, "movedCards": 8, "movedPods": 7, "breaches": 1}
        ],
        "cards": [
            {"limit": 22, "freedNodes": 14, "upperBound": 14, "podGroups": 22, "movedCards": 22, "movedPods": 22, "breaches": 0}
        ],
    }
    assert "frontier" not in msgspec.to_builtins(plan_status(replace(found, frontier=None)))


# ---- the picture ----
def test_the_picture_tells_itself_to_those_who_do_not_see_it() -> None:
    root = drawn(cases.with_frontier().evaluation)
    assert root.get("role") == "img"
    named = {e.get("id"): e.text or "" for e in root}
    title, description = (named[i] for i in (root.get("aria-labelledby") or "").split())
    assert title == "Nodes freed by how many PodGroups and cards may move"
    assert "PodGroups moved, at most: 1 free 1 node; 2 free 3 nodes;" in description
    assert "8 free 11 nodes (at most 12);" in description
    assert "14 free 14 nodes (this plan)." in description


def test_nothing_is_drawn_of_a_single_point() -> None:
    assert frontier_svg(evaluation(*simple((14, 14)))) == ""
    assert frontier_svg(evaluation()) == ""
    assert frontier_svg(cases.sixty_nodes().evaluation) == ""
    assert [a.noun for a in pictured(evaluation(*simple((14, 14)), cards=simple((1, 1), (22, 14))))] == ["card"]


def test_the_plan_is_marked_once_per_panel() -> None:
    circles = [c.get("class") for c in drawn(cases.with_frontier().evaluation).iter(f"{NS}circle")]
    assert circles.count("plan") == 2


def test_the_ceiling_is_drawn_only_where_something_is_open() -> None:
    def dashed(found: Evaluation) -> int:
        return sum(p.get("class") == "most" for p in drawn(found).iter(f"{NS}path"))

    assert dashed(evaluation(*simple((7, 9), (14, 14)))) == 0
    assert dashed(evaluation(point(7, 9, 10, 7), *simple((14, 14)))) == 2  # the panel's, and the key's


def test_between_limits_nobody_looked_at_the_ceiling_is_that_of_the_next_one() -> None:
    found = evaluation(point(7, 7, 8, 7), *simple((8, 8), (14, 14)))
    path = next(p.get("d") for p in drawn(found).iter(f"{NS}path") if p.get("class") == "most")
    heights = re.findall(r"[VH][\d.]+", str(path))
    assert [h[0] for h in heights] == list("VHHVVHH")


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1, [0, 1]), (4, [0, 1, 2, 3, 4]), (14, [0, 5, 10]), (48, [0, 10, 20, 30, 40]), (1500, [0, 500, 1000, 1500])],
)
def test_ticks_are_few_and_round(most: int, expected: list[int]) -> None:
    assert ticks(most) == expected


_POINTS = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 600), st.integers(0, 40)), max_size=60).map(
    lambda found: tuple(point(limit, freed, freed + more, limit) for limit, freed, more in found)
)


@settings(max_examples=60, deadline=None)
@given(_POINTS, _POINTS, st.booleans(), st.sampled_from(HOSTILE))
def test_any_picture_is_well_formed_small_and_stays_on_its_paper(
    pod_groups: tuple[FrontierPoint, ...], cards: tuple[FrontierPoint, ...], without_plan: bool, text: str
) -> None:
    found = cases.renamed(cases.sixty_nodes(), text).evaluation
    found = replace(found, frontier=Frontier(pod_groups, cards), **({"steps": ()} if without_plan else {}))
    picture = frontier_svg(found)
    assert not picture or len(pod_groups) > 1 or len(cards) > 1
    assert not re.search(r"<script|<foreignObject|<image|@import|@font-face|href=|on\w+=|url\(", picture)
    assert len(picture) < 40_000
    frontier(found, "frontier.svg")
    if picture:
        root = drawn(found)
        assert {e.tag.removeprefix(NS) for e in root.iter()} <= {
            "svg",
            "title",
            "desc",
            "style",
            "rect",
            "path",
            "circle",
            "text",
        }
        width, height = float(root.get("width", "0")), float(root.get("height", "0"))
        for shape in (*root.iter(f"{NS}circle"), *root.iter(f"{NS}text")):
            x, y = float(shape.get("cx") or shape.get("x") or -1), float(shape.get("cy") or shape.get("y") or -1)
            assert 0 <= x <= width
            assert 0 <= y <= height
