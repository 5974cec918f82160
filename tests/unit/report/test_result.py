from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from repack_gitops.model.run import EvictionPhase, RepackRun, RunMetadata, new_run
from repack_gitops.model.status import advance, failed
from repack_gitops.report.result import SMALLEST_LIMIT, result_comment, result_markdown
from tests.unit.report import cases, documents
from tests.unit.report.reading import problems
from tests.unit.report.test_markup import HOSTILE


def without_plan() -> RepackRun:
    status = advance(None, failed("PlanExpired", "The plan is older than 24h.", "2026-07-30T02:00:00Z"), "2026-07-30T02:00:00Z")
    return new_run(RunMetadata(name="r"), documents.facts(cases.three_nodes()).spec, status)


def test_a_run_that_went_as_planned_has_no_list_of_troubles() -> None:
    text = result_markdown(documents.finished_run(cases.twelve_nodes()))
    assert "What did not go as planned" not in text
    assert text.count("| freed |") == 5
    assert "| Ended | 2026-07-30T02:21:40Z | after 6 min 40 s |" in text


def test_everything_that_went_wrong_is_told_with_its_reason() -> None:
    text = result_markdown(documents.finished_run(cases.twelve_nodes(), rejected=1, late=1, elsewhere=1))
    assert "> [!CAUTION]\n> **PartiallyRealized** Freed 4 of 5 planned nodes." in text
    assert "was not evicted: Cannot evict pod as it would violate the pod's disruption budget." in text
    assert "found no node in time (deadline 2026-07-30T02:30:00Z)" in text
    assert "`ascend-node-10` is not free" in text
    assert "went to `ascend-node-99` instead of `ascend-node-11`" in text
    assert "**kept**, an eviction was rejected" in text


def test_a_run_that_never_evicted_is_short() -> None:
    text = result_markdown(without_plan())
    assert "**PlanExpired** The plan is older than 24h." in text
    assert "Planned" not in text


def test_a_run_without_a_status_is_not_an_error() -> None:
    run = structs.replace(without_plan(), status=None)
    assert "no status yet" in result_markdown(run)


def test_nodes_that_were_never_started_are_told_apart() -> None:
    run = documents.finished_run(cases.twelve_nodes())
    assert run.status is not None
    pending = [
        structs.replace(r, eviction=structs.replace(r.eviction, phase=EvictionPhase.PENDING)) for r in run.status.relocations
    ]
    status = structs.replace(run.status, relocations=pending, result=None)
    assert result_markdown(structs.replace(run, status=status)).count("| not started |") == 5


def test_a_journal_without_source_nodes_is_read_through_the_plan() -> None:
    run = documents.finished_run(cases.twelve_nodes())
    assert run.status is not None
    bare = [structs.replace(r, source_node_name="", cards=0) for r in run.status.relocations]
    text = result_markdown(structs.replace(run, status=structs.replace(run.status, relocations=bare)))
    assert "| `ascend-node-09` | 3 | 3 | 3 | freed |" in text


def test_an_unverified_result_says_so() -> None:
    run = documents.finished_run(cases.twelve_nodes())
    assert run.status is not None
    assert run.status.result is not None
    result = structs.replace(run.status.result, metrics_verified=False)
    text = result_markdown(structs.replace(run, status=structs.replace(run.status, result=result)))
    assert "freed, not verified" in text
    assert "could not be verified" in text


def test_a_selected_node_is_told_where_it_was_not_the_planned_one() -> None:
    run = documents.finished_run(cases.three_nodes())
    assert run.status is not None
    first = run.status.relocations[0]
    place = structs.replace(first.placement, selected_node_name="s", actual_node_name="x", replacement_pod_name="new")
    moved = structs.replace(first, placement=place, replacement_pod_group_name="pg-2")
    text = result_markdown(structs.replace(run, status=structs.replace(run.status, relocations=[moved])))
    assert "| `new` in `pg-2`, placed | `ascend-node-02` | **`x`** (selected `s`) |" in text


@pytest.mark.parametrize("limit", [SMALLEST_LIMIT, 10_000, 58_000])
def test_a_comment_fits(limit: int) -> None:
    run = documents.finished_run(cases.four_thousand_nodes(), rejected=400, late=300, elsewhere=300)
    text = result_comment(run, limit=limit, result_url="https://git.example.com/r/result.md")
    assert len(text) <= limit
    assert "Shortened to fit" in text
    assert "PartiallyRealized" in text
    assert problems(text) == []


def test_a_limit_that_nothing_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="4000 characters"):
        result_comment(without_plan(), limit=100)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(HOSTILE) | st.text(max_size=80), st.integers(0, 9), st.integers(0, 4))
def test_hostile_names_never_become_markup(text: str, rejected: int, late: int) -> None:
    run = documents.finished_run(
        cases.renamed(cases.twelve_nodes(), text), rejected=rejected, late=late, elsewhere=2, message=text
    )
    assert problems(result_markdown(run)) == []
    assert problems(result_comment(run)) == []
