"""Documents are read as what they are, and nothing else is ever raised than InvalidDocument."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repack_gitops.errors import InvalidInput
from repack_gitops.model.documents import (
    InvalidDocument,
    read_any,
    read_guardrails,
    read_policy,
    read_repository_config,
    read_run,
)
from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from repack_gitops.model.run import RepackRun
from repack_gitops.model.schema import KINDS
from repack_gitops.model.writing import to_yaml
from tests.unit.model.broken_documents import POLICY, REPOSITORY, RUN
from tests.unit.model.large import large_run
from tests.unit.model.strategies import TEXT, documents

HERE = Path(__file__).parent
GUIDE_RUNS = ["npu-dryrun", "scoped-dryrun", "guarded-dryrun", "execute", "complete-execute"]


@pytest.mark.parametrize("name", GUIDE_RUNS)
def test_every_run_of_the_guide_is_read(name: str) -> None:
    run = read_run((HERE / f"guide/{name}.yaml").read_bytes(), name)
    assert run.metadata.name.startswith("ascend-")
    assert run.spec.goals[0].resource == "huawei.com/ascend-1980"


def test_the_complete_example_of_the_guide_with_its_status() -> None:
    text = "".join((HERE / f"guide/{name}.yaml").read_text() for name in ("complete-execute", "execute-status"))
    run = read_run(text, "result.yaml")
    include = run.spec.scope.pod_groups.include  # type: ignore[union-attr]
    assert include.names == ["repack-demo/manually-managed-training-pg"]  # type: ignore[union-attr]
    assert run.spec.max_per_run.resources == {"huawei.com/ascend-1980": 8}  # type: ignore[union-attr]
    assert run.status.relocations[0].victim_pod_uid == "11111111-1111-1111-1111-111111111111"  # type: ignore[union-attr]
    assert run.status.conditions[1].reason == "ExecutionCompleted"  # type: ignore[union-attr]


def test_the_status_of_the_guides_dryrun() -> None:
    text = "".join((HERE / f"guide/{name}.yaml").read_text() for name in ("guarded-dryrun", "dryrun-status"))
    status = read_run(text, "plan.yaml").status
    assert status is not None
    assert status.plan is not None
    assert [pod.to_node for pod in status.plan.moves[0].pods] == ["ascend-node-02", "ascend-node-03"]


def test_every_field_of_a_policy() -> None:
    policy = read_policy((HERE / "examples/policy.yaml").read_bytes(), "policies/nightly-a100.yaml")
    assert policy.spec.trigger.cron_schedule == "0 2 * * 1-5"
    assert policy.spec.windows.deny[0].duration == "14d"
    assert policy.spec.pull_request.reviewers == ["alice", "acme/platform"]


def test_guardrails_and_repository() -> None:
    assert read_guardrails((HERE / "examples/guardrails.yaml").read_bytes(), "g").spec.max_per_run.cards == 64
    assert read_repository_config((HERE / "examples/repository.yaml").read_bytes(), "r").spec.results == "branch"


def test_any_document_is_read_by_its_kind() -> None:
    read = [read_any(text, "a.yaml") for text in (RUN, POLICY, REPOSITORY)]
    assert [type(document) for document in read] == [RepackRun, RepackPolicy, RepositoryConfig]
    assert isinstance(read_any((HERE / "examples/guardrails.yaml").read_text(), "g"), Guardrails)


def test_another_kind_than_expected_is_all_that_is_said() -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_run(POLICY, "runs/x/run.yaml")
    assert str(caught.value) == (
        "runs/x/run.yaml:2:7: kind: is RepackPolicy; a RepackRun is expected here\n  Is this the right file?"
    )
    with pytest.raises(InvalidInput, match='kind: "Pod" is not RepackRun'):
        read_run(RUN.replace("RepackRun", "Pod"), "a.yaml")


def test_an_object_from_the_cluster_may_say_what_the_server_adds() -> None:
    metadata = {
        **{"name": "a", "uid": "1", "resourceVersion": "7", "generation": 1, "creationTimestamp": "2026-07-30T10:00:00Z"},
        **{"deletionTimestamp": "2026-07-30T10:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["foregroundDeletion"]},
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {".": {}, "f:goals": {}}}}],
        "ownerReferences": [],
    }
    text = json.dumps({**msgspec.to_builtins(read_run(RUN, "a.yaml")), "metadata": metadata})
    run = read_run(text, "a.json")
    assert run.metadata.generation == 1
    assert run.metadata.deletion_grace_period_seconds == 0


def test_windows_line_ends_change_nothing() -> None:
    assert read_run(RUN.replace("\n", "\r\n").encode(), "a.yaml") == read_run(RUN, "a.yaml")


def test_text_in_other_scripts_is_welcome() -> None:
    text = POLICY + '  pullRequest: {labels: [碎片整理, "приём", "🧩"]}\n'
    assert read_policy(text.encode(), "a.yaml").spec.pull_request.labels == ["碎片整理", "приём", "🧩"]


def test_a_plan_that_moves_twenty_thousand_pods_fits() -> None:
    run = large_run(nodes=2500, pods_per_node=8)
    assert read_run(to_yaml(run), "plan.yaml") == run


def test_a_long_status_that_is_wrong_is_refused_without_delay() -> None:
    text = to_yaml(large_run(nodes=500, pods_per_node=4)).replace("cards: 1\n", "card: 1\n")
    with pytest.raises(InvalidDocument) as caught:
        read_run(text, "plan.yaml")
    assert "more problems are not shown" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=list(HealthCheck), max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_broken_in_a_document_is_explained(kind: str, data: st.DataObject) -> None:
    broken = copy.deepcopy(msgspec.to_builtins(data.draw(documents(kind))))
    for _ in range(data.draw(st.integers(1, 4))):
        _break(broken, data)
    text = to_yaml(broken)
    try:
        text = to_yaml(read_any(text, "a.yaml"))  # what was put there is not always wrong
    except InvalidDocument as error:
        text, problems = to_yaml(read_any(POLICY, "a.yaml")), error.problems
    else:
        problems = ()
    assert not [p for p in problems if not p.message or "schemas/" in p.advice]
    assert to_yaml(read_any(text, "a.yaml")) == text


def _break(document: Any, data: st.DataObject) -> None:
    """Put something else somewhere into ``document``."""
    places = list(_places(document))
    container, key = data.draw(st.sampled_from(places)) if places else (document, "x")
    junk = st.none() | st.booleans() | st.integers(-3, 2**40) | TEXT | st.just([]) | st.just({}) | st.just({"a": [None]})
    if isinstance(container, dict):
        key = data.draw(st.just(key) | st.sampled_from(["x", "mode", "status", "Spec", "a b"]))
    container[key] = data.draw(junk)


def _places(value: Any) -> Any:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield value, key
        yield from _places(part)


READERS = [read_any, read_run, read_policy, read_guardrails, read_repository_config]


@settings(max_examples=150, deadline=None)
@given(text=st.text() | st.binary() | st.text("apiVersonkdRckPly:-[]{}\n \"'#1"))
def test_whatever_the_input_nothing_but_invalid_input_is_raised(text: str | bytes) -> None:
    for read in READERS:
        with pytest.raises(InvalidInput):
            read(text, "a.yaml")


@settings(max_examples=200, deadline=None)
@given(data=st.data(), base=st.sampled_from([RUN, POLICY, REPOSITORY]))
def test_a_document_with_a_typing_error_is_read_or_refused(data: st.DataObject, base: str) -> None:
    at = data.draw(st.integers(0, len(base)))
    gone = data.draw(st.integers(0, 12))
    typed = data.draw(st.text(max_size=3) | st.text("\t\n -:{}[]&*!|>'\"%@`", max_size=3))
    try:
        read = to_yaml(read_any(base[:at] + typed + base[at + gone :], "a.yaml"))
    except InvalidInput as error:
        read = str(error)
    assert "a.yaml:" in read or read.startswith("apiVersion: ")
