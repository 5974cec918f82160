"""RepackRun's structs: what the contract calls its fields, and what is left out when written."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from repack_gitops.model.run import (
    API_VERSION,
    KIND,
    Eviction,
    EvictionPhase,
    Goal,
    MaxPerRun,
    PlacementPhase,
    Relocation,
    RepackRun,
    RunMetadata,
    RunSpec,
    RunStatus,
    RunTemplateSpec,
    new_run,
    run_spec,
)
from tests.unit.model.strategies import runs

TEMPLATE = RunTemplateSpec(
    goals=[Goal(resource="nvidia.com/gpu")], eviction=Eviction(grace_period_seconds=0), max_per_run=MaxPerRun(pod_groups=0)
)


def test_a_new_run_is_what_it_should_be() -> None:
    run = new_run(RunMetadata(name="a"), run_spec(TEMPLATE, "Execute"))
    assert (run.api_version, run.kind) == (API_VERSION, KIND) == ("repack.volcano.sh/v1alpha1", "RepackRun")
    assert run.status is None


@pytest.mark.parametrize("mode", ["DryRun", "Execute"])
def test_a_template_becomes_a_spec_without_losing_a_field(mode: str) -> None:
    spec = run_spec(TEMPLATE, mode)  # type: ignore[arg-type]
    assert isinstance(spec, RunSpec)
    assert spec.mode == mode
    for name in RunTemplateSpec.__struct_fields__:
        assert getattr(spec, name) == getattr(TEMPLATE, name)


def test_zero_is_a_limit_and_absent_is_none() -> None:
    written = msgspec.to_builtins(run_spec(TEMPLATE, "Execute"))
    assert written["maxPerRun"] == {"podGroups": 0}
    assert written["eviction"] == {"gracePeriodSeconds": 0}
    assert "scope" not in written
    assert msgspec.convert({"goals": [{"resource": "a.b/c"}]}, RunTemplateSpec).max_per_run is None


def test_fields_have_the_names_of_the_contract() -> None:
    names = set(Relocation.__struct_encode_fields__)
    assert {"victimPodUID", "victimPodName", "podGroupName", "replacementPodGroupName", "plannedNodeName"} < names
    assert set(RunStatus.__struct_encode_fields__) == {
        *("phase", "message", "startTime", "completionTime", "plan", "result", "relocations", "conditions")
    }


def test_phases_are_those_of_the_guide() -> None:
    assert [*EvictionPhase] == ["Pending", "InProgress", "Accepted", "IndirectlyRemoved", "Rejected"]
    assert [*PlacementPhase] == ["WaitingForReplacement", "WaitingForNodeSelection", "Nominated", "Placed", "TimedOut"]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "Pod"},
        {"apiVersion": "v1"},
        {"metadata": {"name": "a", "namespace": "b"}},
        {"spec": {"mode": "DryRun", "goals": []}},
        {"spec": {"mode": "DryRun", "goals": [{"resource": "gpu"}]}},
        {"spec": {"mode": "dryrun", "goals": [{"resource": "a.b/c"}]}},
        {"spec": {"mode": "DryRun", "goals": [{"resource": "a.b/c"}], "scop": {}}},
        {"status": {"phase": "Done"}},
    ],
)
def test_the_structs_alone_refuse_what_is_not_a_run(change: dict[str, object]) -> None:
    run = msgspec.to_builtins(new_run(RunMetadata(name="a"), run_spec(TEMPLATE, "DryRun")))
    assert msgspec.convert(run, RepackRun)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**run, **change}, RepackRun)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(run=runs)
def test_runs_survive_json(run: RepackRun) -> None:
    assert msgspec.json.decode(msgspec.json.encode(run), type=RepackRun) == run
