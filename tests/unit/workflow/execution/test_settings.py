"""A policy's execution options as numbers; what this version cannot do is refused, never silently replaced."""

from __future__ import annotations

from typing import Any

import pytest

from repack_gitops.errors import Refused
from repack_gitops.model.policy import AbortOn
from repack_gitops.model.run import Goal, RunTemplateSpec
from repack_gitops.workflow.execution.preflight import required_access
from repack_gitops.workflow.execution.settings import Settings, settings_of
from tests.unit.workflow.execution.scenarios import GPU, policy

SPEC = RunTemplateSpec(goals=[Goal(resource=GPU)])


def test_numbers() -> None:
    found = settings_of(policy(SPEC, eviction_timeout="1m30s", placement_timeout="500ms", cooldown="0s"), 7)
    assert found == Settings("Nominate", 90.0, 0.5, 0, 1, 3, 7)


@pytest.mark.parametrize(("asked", "does"), [("Auto", "Nominate"), ("Nominate", "Nominate"), ("None", "None")])
def test_steering(asked: str, does: str) -> None:
    assert settings_of(policy(SPEC, steering=asked), None).steering == does


@pytest.mark.parametrize("options", [{"steering": "Gate"}, {"fence": "Taint"}, {"max_parallel_nodes": 2}])
def test_what_cannot_be_done_yet_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=str(next(iter(options.values())))):
        settings_of(policy(SPEC, **options), None)


def test_abort_on() -> None:
    found = settings_of(policy(SPEC, abort_on=AbortOn(half_drained_nodes=4, rejections=9)), None)
    assert (found.half_drained_nodes, found.rejections) == (4, 9)


def test_required_access_is_least() -> None:
    """Nothing that deletes, creates pods, reads Secrets or writes nodes; per namespace where victims are."""
    found = [str(a) for a in required_access("repack-system", {"b", "a"})]
    assert len(found) == len(set(found))
    assert [a for a in found if "in namespace" in a and "repack-system" not in a] == [
        "create pods/eviction in namespace a",
        "patch pods/status in namespace a",
        "create pods/eviction in namespace b",
        "patch pods/status in namespace b",
    ]
    assert not [a for a in found if a.startswith("delete") or "secrets" in a or a.startswith("create pods in")]
