"""Which policies a tick looks at: due by schedule or fragmentation, suspended, asked for by name; guardrails."""

from __future__ import annotations

from pathlib import Path

import pytest

from repack_gitops.errors import ClusterUnavailable, InvalidInput
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place, make_place, policy_text

YEARLY = 'cronSchedule: "0 0 1 1 *"'
GUARDRAILS = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: Guardrails
metadata:
  name: guardrails
spec:
"""


def place_with(folder: Path, **policies: str) -> Place:
    return make_place(folder, {f"policies/{name}.yaml": text for name, text in policies.items()})


def test_not_due(tmp_path: Path) -> None:
    place = place_with(tmp_path, gpu=policy_text("gpu", trigger=YEARLY))
    report = place.tick()["gpu"]
    assert (report.action, report.message) == ("skipped", "not due")
    assert place.cluster.listings == 0


def test_forced_by_name(tmp_path: Path) -> None:
    place = place_with(tmp_path, gpu=policy_text("gpu", trigger=YEARLY), other=policy_text("other"))
    reports = place.tick("gpu")
    assert (reports["gpu"].action, reports["other"].action) == ("opened", "skipped")
    assert [p.head.split("/")[1] for p in place.open_requests()] == ["gpu"]


def test_an_unknown_name_is_refused_before_anything_is_done(place: Place) -> None:
    with pytest.raises(InvalidInput, match="nope"):
        place.tick("gpu", "nope")
    assert (place.open_requests(), place.branches()) == ([], {})


def test_suspended_even_when_forced(tmp_path: Path) -> None:
    place = place_with(tmp_path, gpu=policy_text("gpu", more="  suspend: true\n"))
    assert place.tick("gpu")["gpu"].message == "suspended"
    assert place.open_requests() == []


@pytest.mark.parametrize(("percent", "action"), [(49, "opened"), (50, "skipped"), (80, "skipped")])
def test_due_by_fragmentation(tmp_path: Path, percent: int, action: str) -> None:
    place = place_with(tmp_path, gpu=policy_text("gpu", trigger=f"onFragAbovePercent: {percent}"))
    assert place.tick()["gpu"].action == action  # one of two nodes could be free: 50%


def test_one_snapshot_serves_all_policies(tmp_path: Path) -> None:
    place = place_with(tmp_path, gpu=policy_text("gpu"), other=policy_text("other", trigger="onFragAbovePercent: 1"))
    place.tick()
    assert place.cluster.listings == 1


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ("  maxPerRun:\n    cards: 1\n", "maxPerRun.cards"),
        ("  maxPerRun:\n    nodes: 0\n", "maxPerRun.nodes"),
        ("  requirePodGroupScope: true\n", "requirePodGroupScope"),
    ],
)
def test_guardrails_block(place: Place, rule: str, word: str) -> None:
    place.write("policies/guardrails.yaml", GUARDRAILS + rule)
    report = place.tick()["gpu"]
    assert report.action == "nothing"
    assert word in report.message
    assert (place.open_requests(), place.branches()) == ([], {})


def test_guardrails_that_came_later_close_what_is_open(place: Place) -> None:
    place.tick()
    place.write("policies/guardrails.yaml", GUARDRAILS + "  maxPerRun:\n    cards: 1\n")
    assert place.action() == "closed"
    assert "guardrails" in place.comments(1)[0]


def test_forbidden_namespaces_never_move(place: Place) -> None:
    place.write("policies/guardrails.yaml", GUARDRAILS + "  forbiddenNamespaces: [team]\n")
    assert place.action() == "nothing"


@pytest.mark.parametrize("text", ["a: [", "kind: RepackPolicy\n", GUARDRAILS + "  maxPerRun: {cards: -1}\n"])
def test_broken_guardrails_stop_everything(place: Place, text: str) -> None:
    place.write("policies/guardrails.yaml", text)
    with pytest.raises(InvalidInput, match=r"policies/guardrails\.yaml"):
        place.tick()
    assert (place.open_requests(), place.branches()) == ([], {})


def test_guardrails_under_another_name_are_not_overlooked(place: Place) -> None:
    place.write("policies/guardrails.yml", GUARDRAILS + "  maxPerRun:\n    cards: 1\n")
    with pytest.raises(InvalidInput, match=r"policies/guardrails\.yml"):
        place.tick()
    assert (place.open_requests(), place.branches()) == ([], {})


def test_guardrails_in_a_file_of_a_policy_are_not_overlooked(place: Place) -> None:
    place.write("policies/limits.yaml", GUARDRAILS + "  maxPerRun:\n    cards: 1\n")
    with pytest.raises(InvalidInput, match=r"policies/limits\.yaml"):
        place.tick()
    assert (place.open_requests(), place.branches()) == ([], {})


def test_an_unreachable_cluster_is_asked_once(tmp_path: Path) -> None:
    place = place_with(tmp_path, a=policy_text("a"), b=policy_text("b"))
    place.cluster.broken = ClusterUnavailable("the API server cannot be reached")
    reports = place.tick()
    assert place.cluster.listings == 1
    assert (reports["a"].exit_code, reports["b"].action) == (3, "skipped")


def test_an_inconsistent_listing_is_the_clusters_fault(tmp_path: Path) -> None:
    place = place_with(tmp_path, a=policy_text("a"), b=policy_text("b"))
    place.cluster.objects = [*layout(4, 2), layout(4)[0]]  # a node listed twice
    reports = place.tick()
    assert (place.cluster.listings, reports["a"].exit_code) == (1, 3)
