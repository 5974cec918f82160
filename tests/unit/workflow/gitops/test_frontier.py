"""What less disruption would free: asked for by proposals of a strategy that can tell it, shown in their files, recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.documents import read_run
from repack_gitops.model.impact import Disruption
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation, Frontier, FrontierPoint
from repack_gitops.model.run import RepackRun, RunTemplateSpec
from repack_gitops.planner import evaluate
from repack_gitops.policy.names import PLANNER_OPTIONS
from repack_gitops.policy.replay import noted_options
from repack_gitops.policy.safety import planner_options
from repack_gitops.workflow import propose
from repack_gitops.workflow.execution import replanning
from tests.unit.workflow.execution.scenarios import one_node
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place


def point(limit: int, freed: int) -> FrontierPoint:
    return FrontierPoint(limit, freed, freed, Disruption(limit, 0, limit, limit, limit))


class Planner:
    """Plans under ``strategy``, and tells ``frontier`` where that is asked for; ``asked`` are the options."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
        self.asked: list[PlannerOptions] = []
        self.frontier = Frontier((point(1, 1), point(2, 2)), (point(2, 1),))
        monkeypatch.setattr(propose, "planner_options", lambda *given: replace(planner_options(*given), strategy=strategy))
        monkeypatch.setattr(propose, "evaluate", self.evaluate)

    def evaluate(self, snapshot: ClusterSnapshot, spec: RunTemplateSpec, options: PlannerOptions) -> Evaluation:
        self.asked.append(options)
        found = evaluate(snapshot, spec, replace(options, frontier=False))
        return replace(found, frontier=self.frontier) if options.frontier else found


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> Planner:
    return Planner(monkeypatch, "Optimal")


def files(place: Place) -> dict[str, str]:
    request = place.the_request()
    folder = f"runs/{request.head.removeprefix('repack/')}"
    names = ("plan.yaml", "plan.md", "frontier.svg")
    return {name: place.show(request.head, f"{folder}/{name}") for name in names}


def plan_of(place: Place) -> RepackRun:
    return read_run(files(place)["plan.yaml"], "plan.yaml")


def test_a_proposal_shows_it(place: Place, planner: Planner) -> None:
    assert place.action() == "opened"
    written, plan = files(place), plan_of(place)
    assert plan.status is not None
    assert plan.status.plan is not None
    assert plan.status.plan.frontier is not None
    assert [(p.limit, p.freed_nodes) for p in plan.status.plan.frontier.pod_groups] == [(1, 1), (2, 2)]
    assert written["frontier.svg"].startswith("<svg ")
    assert "](frontier.svg)" in written["plan.md"]
    assert "What disruption buys" in written["plan.md"]
    head = place.the_request().head
    assert f"https://forge.example/raw/{head}/runs/{head.removeprefix('repack/')}/frontier.svg" in place.the_request().body


def test_plan_yaml_records_that_it_was_asked_for(place: Place, planner: Planner) -> None:
    place.tick()
    annotations = plan_of(place).metadata.annotations
    assert json.loads(annotations[PLANNER_OPTIONS]) == {"frontier": True, "strategy": "Optimal"}
    assert noted_options(annotations) == planner.asked[0]


def test_a_frontier_that_changed_alone_pushes_nothing(place: Place, planner: Planner) -> None:
    place.tick()
    before = place.branches()
    planner.frontier = Frontier((point(1, 1), point(3, 2)))
    assert place.action() == "unchanged"
    planner.frontier = Frontier()
    assert place.action() == "unchanged"
    assert place.branches() == before


def test_the_picture_goes_with_what_it_shows(place: Place, planner: Planner) -> None:
    """A branch is rebuilt as one commit, so nothing of an older plan is left in it."""
    place.tick()
    planner.frontier = Frontier()
    place.cluster.objects += layout(1, 5, name="late")
    assert place.action() == "updated"
    request = place.the_request()
    listed = place.show(request.head, f"runs/{request.head.removeprefix('repack/')}/")
    assert "layout.svg" in listed
    assert "frontier.svg" not in listed + request.body


def test_drain_is_not_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(monkeypatch, "Drain")
    assert place.action() == "opened"
    assert [o.frontier for o in planner.asked] == [False]
    assert "frontier" not in place.the_request().body


def test_the_executor_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """It plans again while an approved run waits; nobody reads what less would have freed."""
    asked: list[PlannerOptions] = []

    def spied(snapshot: ClusterSnapshot, spec: Any, options: PlannerOptions) -> Evaluation:
        asked.append(options)
        return evaluate(snapshot, spec, options)

    monkeypatch.setattr(replanning, "evaluate", spied)
    made = one_node()
    made.execute(made.process())
    assert [o.frontier for o in asked] == [False]
