"""Words about how good a plan is, and where they are shown."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from repack_gitops.model.impact import Disruption
from repack_gitops.model.plan import BoundKind, Found, Optimality
from repack_gitops.model.status import plan_status
from repack_gitops.report.evaluation import evaluation_markdown
from repack_gitops.report.markdown import plan_markdown, pull_request_body
from repack_gitops.report.optimality import found_sentence, optimality_sentence
from repack_gitops.report.table import plan_table
from tests.unit.report import cases, documents
from tests.unit.report.build import Case

FOUND = (Found("Optimal", 3, Disruption(2, 1, 9, 12, 4)), Found("Drain", 2, Disruption(1, 0, 1, 1, 1)))


def optimality(freed: int = 3, most: int = 3, *, proven: bool = True, found: tuple[Found, ...] = FOUND[:1]) -> Optimality:
    return Optimality("Optimal", freed, most, proven, BoundKind.MODEL, found=found)


def settled(*levels: str) -> Optimality:
    return replace(optimality(proven=False), settled=levels)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (optimality(), "Proven: within the run's limits no plan frees more, and none that frees as many disturbs less."),
        (optimality(0, 0), "Proven: within the run's limits no plan frees a node."),
        (
            optimality(proven=False),
            "Proven: within the run's limits no plan frees more. Whether as many can be freed for less is open.",
        ),
        (
            settled("freedNodes"),
            "Proven: within the run's limits no plan frees more. Whether as many can be freed for less is open.",
        ),
        (
            settled("freedNodes", "podGroups"),
            "Proven: within the run's limits no plan frees more, "
            "and of those that free as many this one moves the fewest PodGroups. "
            "Whether fewer of them could be breached is open.",
        ),
        (
            settled("freedNodes", "podGroups", "breaches"),
            "Proven: within the run's limits no plan frees more, "
            "and of those that free as many this one moves the fewest PodGroups, then breaches "
            "the fewest. Whether fewer cards could be damaged is open.",
        ),
        (
            settled("freedNodes", "podGroups", "breaches", "damagedCards", "movedCards"),
            "Proven: within the run's limits no plan frees more, "
            "and of those that free as many this one moves the fewest PodGroups, then breaches "
            "the fewest, then damages the fewest cards, then moves the fewest cards. Whether fewer pods could move is open.",
        ),
        (optimality(most=1_005, proven=False), "At most 1,005 nodes could be freed: 1,002 more than found."),
        (optimality(0, 1, proven=False), "At most 1 node could be freed: 1 more than found."),
        (
            replace(optimality(3, 4, proven=False), reproducible=False),
            "At most 4 nodes could be freed: 1 more than found. The search was stopped: another run may find a better plan.",
        ),
    ],
)
def test_sentence(known: Optimality, words: str) -> None:
    assert optimality_sentence(known) == words


def test_what_each_strategy_found() -> None:
    assert found_sentence(optimality()) == ""
    said = "Found: Optimal 3 nodes for 2 PodGroups and 12 cards; Drain 2 nodes for 1 PodGroup and 1 card. Kept: Optimal."
    assert found_sentence(optimality(found=FOUND)) == said


def proven() -> Case:
    case = cases.three_nodes()
    known = optimality(1, 2, proven=False, found=FOUND)
    return Case(case.snapshot, replace(case.evaluation, strategy="Optimal", optimality=known))


@pytest.mark.parametrize("form", ["table", "plan.md", "pull request", "markdown"])
def test_every_form_says_it_and_none_for_drain(form: str) -> None:
    for case, shown in ((proven(), True), (cases.three_nodes(), False)):
        facts = documents.facts(case)
        text = {
            "table": lambda c=case, f=facts: plan_table(c.evaluation, f.spec, c.snapshot, width=140),
            "plan.md": lambda f=facts: plan_markdown(f),
            "pull request": lambda f=facts: pull_request_body(f),
            "markdown": lambda c=case, f=facts: evaluation_markdown(c.evaluation, f.spec),
        }[form]()
        assert ("At most 2 nodes could be freed: 1 more than found." in text) is shown
        assert ("Kept: Optimal." in text) is shown


def test_status() -> None:
    written = msgspec.to_builtins(plan_status(proven().evaluation))
    assert written["optimality"] == {
        "strategy": "Optimal",
        "freed": 1,
        "upperBound": 2,
        "gap": 1,
        "proven": False,
        "boundKind": "Model",
        "reproducible": True,
        "found": [
            {"strategy": "Optimal", "freed": 3, "podGroups": 2, "breaches": 1, "movedCards": 12, "movedPods": 4},
            {"strategy": "Drain", "freed": 2, "podGroups": 1, "breaches": 0, "movedCards": 1, "movedPods": 1},
        ],
    }
    levels = ("freedNodes", "podGroups")
    known = replace(proven().evaluation, optimality=settled(*levels))
    assert msgspec.to_builtins(plan_status(known))["optimality"]["settled"] == list(levels)
    assert "optimality" not in msgspec.to_builtins(plan_status(cases.three_nodes().evaluation))
