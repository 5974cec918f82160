"""Policies, guardrails and the repository's configuration: their defaults are the documented ones."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from repack_gitops.model.duration import parse_duration
from repack_gitops.model.formats import FORMATS
from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from tests.unit.model.strategies import policies

API = "gitops.repack.volcano.sh/v1alpha1"
SMALLEST = {
    "apiVersion": API,
    "kind": "RepackPolicy",
    "metadata": {"name": "nightly"},
    "spec": {"trigger": {"cronSchedule": "0 2 * * *"}, "runTemplate": {"spec": {"goals": [{"resource": "nvidia.com/gpu"}]}}},
}


def test_the_smallest_policy_and_its_defaults() -> None:
    spec = msgspec.convert(SMALLEST, RepackPolicy).spec
    assert (spec.trigger.time_zone, spec.suspend) == ("UTC", False)
    assert (spec.approval.envelope, spec.approval.max_plan_age, spec.approval.min_approvals) == ("Subset", "24h", 0)
    assert (spec.execution.steering, spec.execution.fence, spec.execution.max_parallel_nodes) == ("Auto", "None", 1)
    assert (spec.execution.abort_on.half_drained_nodes, spec.execution.abort_on.rejections) == (1, 3)
    assert (spec.windows.allow, spec.windows.deny) == ([], [])
    assert (spec.change_ticket.required, spec.change_ticket.pattern) == (False, ".+")


def test_a_default_keeps_the_rule_of_its_own_field() -> None:
    execution = msgspec.convert(SMALLEST, RepackPolicy).spec.execution
    for text in (execution.eviction_timeout, execution.placement_timeout):
        FORMATS["duration"](text)
    assert parse_duration(execution.cooldown) == 600_000


def test_guardrails_without_spec_limit_nothing() -> None:
    spec = msgspec.convert({"apiVersion": API, "kind": "Guardrails", "metadata": {"name": "g"}}, Guardrails).spec
    assert (spec.max_per_run.cards, spec.max_per_run.pod_groups, spec.max_per_run.nodes) == (None, None, None)
    assert spec.forbidden_namespaces == []
    assert not spec.require_pod_group_scope


def test_the_smallest_repository_and_its_defaults() -> None:
    spec = {"cluster": {"name": "gpu-west"}, "forge": {"kind": "none"}}
    document = {"apiVersion": API, "kind": "RepositoryConfig", "metadata": {"name": "r"}, "spec": spec}
    read = msgspec.convert(document, RepositoryConfig).spec
    assert (read.git.base_branch, read.results, read.job.namespace) == ("main", "direct", "repack-system")
    FORMATS["pause"](read.rejected_for)
    FORMATS["git-branch"](read.git.base_branch)


def test_a_template_has_no_mode() -> None:
    spec = {**SMALLEST["spec"], "runTemplate": {"spec": {"mode": "Execute", "goals": [{"resource": "a.b/c"}]}}}  # type: ignore[dict-item]
    with pytest.raises(msgspec.ValidationError, match="unknown field `mode`"):
        msgspec.convert({**SMALLEST, "spec": spec}, RepackPolicy)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(policy=policies)
def test_policies_survive_json(policy: RepackPolicy) -> None:
    assert msgspec.json.decode(msgspec.json.encode(policy), type=RepackPolicy) == policy
