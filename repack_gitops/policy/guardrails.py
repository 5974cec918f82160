"""Guardrails: limits no policy or run may exceed; what fails here blocks everywhere (spec 3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.policy import Guardrails
from repack_gitops.model.run import PodGroupSet, RunTemplateSpec

#: The journal of a run is one object; the API server takes 1.5 MB, a relocation needs up to a kilobyte.
MOST_PODS = 1000


def guarded_options(guardrails: Guardrails | None, options: PlannerOptions) -> PlannerOptions:
    """Return ``options`` with the guardrails' forbidden namespaces and owner kinds: their pods never move."""
    if guardrails is None:
        return options
    return replace(
        options,
        forbidden_namespaces=options.forbidden_namespaces.union(guardrails.spec.forbidden_namespaces),
        forbidden_owner_kinds=options.forbidden_owner_kinds.union(guardrails.spec.forbidden_owner_kinds),
    )


def violations(guardrails: Guardrails | None, spec: RunTemplateSpec, evaluation: Evaluation) -> tuple[str, ...]:
    """Return every guardrail that the plan or its spec breaks, the built-in one included; empty when all hold."""
    found = _too_large(evaluation)
    return (*found, *(_violations(guardrails, spec, evaluation) if guardrails else ()))


def _too_large(evaluation: Evaluation) -> tuple[str, ...]:
    pods = evaluation.disruption.moved_pods
    if pods <= MOST_PODS:
        return ()
    return (f"the plan moves {pods} pods, one run can move {MOST_PODS}: set a maxPerRun",)


def _violations(guardrails: Guardrails, spec: RunTemplateSpec, evaluation: Evaluation) -> Iterator[str]:
    caps, disruption = guardrails.spec.max_per_run, evaluation.disruption
    counted = (
        ("cards", caps.cards, disruption.moved_cards),
        ("podGroups", caps.pod_groups, disruption.pod_groups),
        ("nodes", caps.nodes, len(evaluation.steps)),
    )
    for name, cap, actual in counted:
        if cap is not None and actual > cap:
            yield f"maxPerRun.{name}: the plan has {actual}, the guardrails allow {cap}"
    scope = spec.scope.pod_groups if spec.scope else None
    # an empty include means all: it names nothing
    if guardrails.spec.require_pod_group_scope and (scope is None or scope.include in (None, PodGroupSet())):
        yield "requirePodGroupScope: the run names no scope.podGroups.include"
