from __future__ import annotations

import base64
import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repack_gitops.model.change import Action, Change
from repack_gitops.model.plan import Code, Reason, Stay
from repack_gitops.report.evaluation import evaluation_markdown
from repack_gitops.report.machine_block import SCHEMA, machine_block, read_machine_block
from repack_gitops.report.markdown import SMALLEST_LIMIT, plan_markdown, pull_request_body, pull_request_title
from tests.unit.report import build, cases, documents
from tests.unit.report.build import Case
from tests.unit.report.reading import problems, shown
from tests.unit.report.test_markup import HOSTILE

NAME = "a" * 253


def test_the_machine_block_comes_first_and_reads_back() -> None:
    facts = documents.facts(cases.three_nodes())
    body = pull_request_body(facts)
    assert body.startswith(machine_block(facts))
    found = read_machine_block(body)
    assert found is not None
    assert asdict(found) == {
        "schema": SCHEMA,
        "version": facts.tool_version,
        **{
            name: getattr(facts, name)
            for name in ("cluster", "policy", "run", "plan_digest", "policy_digest", "snapshot_time", "base_commit")
        },
    }


def test_the_machine_block_cannot_be_ended_from_within() -> None:
    facts = documents.facts(cases.three_nodes(), cluster="x --> <script>")
    assert machine_block(facts).count("-->") == 1
    assert read_machine_block(machine_block(facts)) is not None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hello",
        "<!-- repack-gitops:!! -->",
        "<!-- repack-gitops:e30= -->",
        "<!-- repack-gitops:W10= -->",
        "<!-- repack-gitops:/w== -->",
        "text before\n<!-- repack-gitops:e30= -->",
        f"<!-- repack-gitops:{base64.b64encode(json.dumps({'schema': 'other'}).encode()).decode()} -->",
    ],
)
def test_an_edited_body_without_a_readable_block_is_not_an_error(body: str) -> None:
    assert read_machine_block(body) is None


def test_the_title_names_what_a_merge_does() -> None:
    title = pull_request_title(documents.facts(cases.twelve_nodes()))
    assert title == "repack(prod-a/nightly-ascend): free 5 nodes by moving 9 pods (11 cards)"


def test_a_title_of_long_names_keeps_its_numbers() -> None:
    title = pull_request_title(documents.facts(cases.four_thousand_nodes(), cluster=NAME, policy=NAME))
    assert len(title) <= 200
    assert title.endswith(": free 1,234 nodes by moving 2,174 pods (3,174 cards)")


def test_a_small_plan_is_told_completely() -> None:
    case = cases.twelve_nodes()
    body = pull_request_body(documents.facts(case))
    text = shown(body)
    assert "Shortened" not in body
    for move in case.evaluation.moves:
        assert f"{move.namespace}/{move.pod}" in text
    assert "below minAvailable" in body


def test_plan_md_is_the_complete_truth() -> None:
    case = cases.four_thousand_nodes()
    plan = plan_markdown(documents.facts(case))
    for move in case.evaluation.moves:
        assert f"| `{move.namespace}/{move.pod}` |" in plan
    for node in (*case.evaluation.freed_nodes, *case.evaluation.stays):
        assert f"`{node}`" in plan
    assert "Shortened" not in plan
    assert problems(plan) == []


def test_every_reason_of_a_staying_node_is_in_plan_md() -> None:
    case = cases.sixty_nodes()
    text = shown(plan_markdown(documents.facts(case)))
    for reason in case.evaluation.stays.values():
        assert reason.detail in text


@pytest.mark.parametrize("limit", [SMALLEST_LIMIT, 20_000, 30_000, 58_000, 250_000, 1_000_000])
def test_a_large_body_fits_and_says_what_is_missing(limit: int) -> None:
    body = pull_request_body(documents.facts(cases.four_thousand_nodes()), limit=limit)
    assert len(body) <= limit
    assert ("Shortened to fit" in body.split("\n\n")[1]) == (limit < 500_000)
    assert "Frees **1,234 nodes**" in body
    assert problems(body) == []


def test_space_is_used_before_detail_is_given_up() -> None:
    body = pull_request_body(documents.facts(cases.four_thousand_nodes()), limit=58_000)
    assert len(body) > 40_000


def test_a_limit_that_nothing_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="8000 characters"):
        pull_request_body(documents.facts(cases.three_nodes()), limit=SMALLEST_LIMIT - 1)


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.integers(2, 120),
    seed=st.integers(0, 10_000),
    limit=st.integers(SMALLEST_LIMIT, 60_000),
    text=st.sampled_from(HOSTILE) | st.text(max_size=80),
)
def test_any_body_fits_and_stays_markdown(nodes: int, seed: int, limit: int, text: str) -> None:
    case = cases.renamed(build.plan(build.random_cluster(nodes, seed), slack=seed % 3), text)
    facts = documents.facts(
        case, cluster=NAME, policy=NAME, run=NAME, change_ticket=text, snapshot_time=text, last_checked=text
    )
    body = pull_request_body(facts, limit=limit)
    assert len(body) <= limit
    assert problems(body) == []
    assert read_machine_block(body) is not None


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_never_become_markup_in_plan_md(text: str) -> None:
    case = cases.renamed(cases.twelve_nodes(), text)
    facts = documents.facts(case, change_ticket=text, snapshot_time=text, max_plan_age=text, rejected_for=text, reproduce=text)
    assert problems(plan_markdown(facts)) == []


def test_without_a_forge_page_paths_stand_where_links_would() -> None:
    body = pull_request_body(documents.facts(cases.three_nodes(), files_url="", picture_url=""))
    assert "`runs/nightly-ascend/nightly-ascend-20260730-0200/run.yaml`" in body
    assert "![" not in body


def test_a_run_without_budget_says_so() -> None:
    body = pull_request_body(documents.facts(cases.four_thousand_nodes()))
    assert "| Cards moved | 3,174 | no cap |" in body


def test_a_lower_bound_is_not_shown_as_reachable() -> None:
    case = cases.three_nodes()
    assert "by card count alone: 2" in pull_request_body(documents.facts(case))
    assert "by card count alone: at least 2" in pull_request_body(documents.facts(cases.inexact(case)))


@pytest.mark.parametrize("case", [cases.compact(), cases.insufficient()])
def test_an_answer_without_a_plan_is_told_as_one(case: build.Case) -> None:
    plan = plan_markdown(documents.facts(case))
    assert "Nodes freed" not in plan
    assert problems(plan) == []


def test_the_same_facts_give_the_same_bytes() -> None:
    first, second = (documents.facts(build.plan(build.random_cluster(40))) for _ in range(2))
    assert pull_request_body(first) == pull_request_body(second)
    assert plan_markdown(first) == plan_markdown(second)


def test_nodes_that_each_need_the_same_change_of_their_own_share_a_row() -> None:
    case, out = cases.sixty_nodes(), Reason(Code.NODE_OUT_OF_SCOPE, "left out")
    stays = {
        name: Stay(out, nearest=(Change(Action.WIDEN_SCOPE, f"node {name}", "scope.nodes"),)) for name in case.evaluation.stays
    }
    text = plan_markdown(documents.facts(Case(case.snapshot, replace(case.evaluation, stays=stays))))
    assert f"scope.nodes that includes node {min(stays)} |" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| left out |"))
    assert row.endswith("| as above, for each of them |")
    assert all(f"`{name}`" in row for name in stays)


def test_budgets_are_a_table_and_what_holds_the_plan_up_comes_first() -> None:
    text = plan_markdown(documents.facts(cases.sixty_nodes()))
    assert "1 of 3 PodDisruptionBudgets allows less than the plan needs now." in text
    assert text.index("`serving/embeddings`") < text.index("`serving/chat`")


def test_a_pull_request_with_thousands_of_budgets_names_the_worst_and_where_the_rest_is() -> None:
    case = cases.sixty_nodes()
    many = tuple(replace(cases.BUDGETS[0], name=f"b{i:04}") for i in range(3_000))
    crowded = build.Case(case.snapshot, replace(case.evaluation, disruption_budgets=(*many, cases.BUDGETS[1])))
    body = pull_request_body(documents.facts(crowded))
    assert len(body) <= 58_000
    assert "`serving/embeddings`" in body
    assert "And 2,981 PodDisruptionBudgets more in plan.md." in body
    assert "`serving/b2999`" in plan_markdown(documents.facts(crowded))


def test_an_evaluation_by_itself_shows_its_budgets() -> None:
    facts = documents.facts(cases.sixty_nodes())
    assert "## PodDisruptionBudgets" in evaluation_markdown(facts.evaluation, facts.spec)
    without = documents.facts(cases.three_nodes())
    assert "PodDisruptionBudget" not in evaluation_markdown(without.evaluation, without.spec)
