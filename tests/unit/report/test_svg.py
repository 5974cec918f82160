from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repack_gitops.report.layout import NodeLayout, layout
from repack_gitops.report.svg import EVERY_NODE, LARGEST, layout_svg
from repack_gitops.report.svg_histogram import bins
from tests.unit.report import build, cases
from tests.unit.report.test_markup import HOSTILE

NS = "{http://www.w3.org/2000/svg}"


def draw(case: build.Case) -> ET.Element:
    text = layout_svg(case.snapshot, case.evaluation)
    assert len(text.encode()) <= LARGEST
    return ET.fromstring(text)  # noqa: S314 - our own text


def texts(root: ET.Element) -> list[str]:
    return [e.text or "" for e in root.iter(f"{NS}text")]


def test_the_picture_tells_who_it_is_to_those_who_do_not_see_it() -> None:
    root = draw(cases.three_nodes())
    assert root.get("role") == "img"
    ids = (root.get("aria-labelledby") or "").split()
    named = {e.get("id"): e.text or "" for e in root}
    assert named[ids[0]] == "1 node freed, fragmentation 33% → 0%"
    assert "batch-eval-1-worker-0 to ascend-node-02" in named[ids[1]]


def test_every_node_of_a_small_cluster_is_drawn() -> None:
    case = cases.sixty_nodes()
    assert {n.name for n in case.snapshot.nodes} <= set(texts(draw(case)))


def test_of_a_larger_cluster_only_nodes_that_change_are_drawn() -> None:
    case = build.plan(build.random_cluster(300), most=10)
    shown = set(texts(draw(case)))
    touched = {name for m in case.evaluation.moves for name in (m.from_node, m.to_node)}
    names = {n.name for n in case.snapshot.nodes}
    assert touched <= shown
    assert (names - touched).isdisjoint(shown)
    assert f"{300 - len(touched)} nodes that the plan does not touch are not drawn" in shown


def test_a_huge_plan_becomes_a_histogram() -> None:
    case = cases.four_thousand_nodes()
    shown = texts(draw(case))
    assert "cards in use on a node" in shown
    assert "ascend-node-0004" not in shown


def test_a_large_cluster_without_a_plan_becomes_a_histogram() -> None:
    assert "cards in use on a node" in texts(draw(cases.compact(EVERY_NODE + 1)))


def test_the_histogram_counts_every_node_twice() -> None:
    case = cases.four_thousand_nodes()
    found = bins(layout(case.snapshot, case.evaluation))
    assert sum(b.now for b in found) == sum(b.then for b in found) == 4000
    assert found[0].then - found[0].now == len(case.evaluation.steps)


def test_bins_of_many_cards_stay_few() -> None:
    node = NodeLayout("n", 100, (), (), None)
    found = bins([node])
    assert len(found) <= 17
    assert [b.label for b in found][:2] == ["idle", "1–7"]
    assert found[-1].label == "99–100"


def test_no_move_is_left_out() -> None:
    case = cases.twelve_nodes()
    tips = [p for p in draw(case).iter(f"{NS}path") if p.get("class") == "tip"]
    assert len(tips) == len(case.evaluation.moves)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 260), st.integers(0, 1000), st.sampled_from(HOSTILE) | st.text(max_size=40))
def test_any_picture_is_well_formed_and_small(nodes: int, seed: int, text: str) -> None:
    case = cases.renamed(build.plan(build.random_cluster(nodes, seed)), text) if nodes else cases.empty()
    root = draw(case)
    assert {e.tag.removeprefix(NS) for e in root.iter()} <= {
        "svg", "title", "desc", "style", "defs", "pattern", "path", "rect", "text",
    }  # fmt: skip


def test_the_largest_drawn_picture_stays_below_the_limit() -> None:
    case = build.plan(build.random_cluster(2000), most=95)
    assert len({n for m in case.evaluation.moves for n in (m.from_node, m.to_node)}) > 150
    assert len(layout_svg(case.snapshot, case.evaluation).encode()) <= LARGEST
    assert "ascend-node-" in "".join(texts(draw(case)))


def test_the_picture_needs_nothing_but_itself() -> None:
    text = layout_svg(cases.sixty_nodes().snapshot, cases.sixty_nodes().evaluation)
    assert not re.search(r"<script|<foreignObject|<image|@import|@font-face|href=|on\w+=", text)
    assert re.findall(r"url\(([^)]*)\)", text)
    assert set(re.findall(r"url\(([^)]*)\)", text)) == {"#hatch"}
    assert "prefers-color-scheme:dark" in text


@pytest.mark.parametrize("capacity", [1, 4, 16, 64, 1000])
def test_nodes_of_any_size_are_drawn_inside_their_column(capacity: int) -> None:
    nodes = [build.node("a", capacity), build.node("b", capacity)]
    pods = [build.pod(n.name + "-0", n.name, max(capacity // 2, 1), build.JOB, i) for i, n in enumerate(nodes)]
    root = draw(build.plan(build.snapshot(nodes, pods)))
    for rect in root.iter(f"{NS}rect"):
        assert float(rect.get("x", "0")) + float(rect.get("width", "0")) <= 880


def test_an_overcommitted_node_does_not_break_the_picture() -> None:
    nodes = [build.node("a", 2), build.node("b", 8)]
    pods = [build.pod("x", "a", 4, build.JOB, 1), build.pod("y", "b", 1, build.JOB, 2)]
    draw(build.plan(build.snapshot(nodes, pods)))
