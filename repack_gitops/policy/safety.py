"""From what a policy and the guardrails say to what the planner is told, at a given moment."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from repack_gitops.model.duration import parse_duration
from repack_gitops.model.options import Envelope, PlannerOptions
from repack_gitops.model.policy import Guardrails, PolicySpec
from repack_gitops.model.safeguards import Safeguards
from repack_gitops.model.safety import Safety
from repack_gitops.policy.guardrails import guarded_options
from repack_gitops.policy.history import PastMove, moved_since


def effective_safety(policy: PolicySpec, guardrails: Guardrails | None) -> Safety:
    """Return the policy's safety options, tightened by the guardrails': field by field the stricter of both."""
    if guardrails is None:
        return policy.safety
    mine, theirs = policy.safety, guardrails.spec.safety
    return Safety(
        disruption_budgets="Enforce" if "Enforce" in (mine.disruption_budgets, theirs.disruption_budgets) else "Warn",
        cascades="Forbid" if "Forbid" in (mine.cascades, theirs.cascades) else "Allow",
        min_pod_age=_longer(mine.min_pod_age, theirs.min_pod_age),
        max_priority=_lower(mine.max_priority, theirs.max_priority),
        max_pods_per_namespace=_lower(mine.max_pods_per_namespace, theirs.max_pods_per_namespace),
        max_pods_per_owner=_lower(mine.max_pods_per_owner, theirs.max_pods_per_owner),
        local_storage="Forbid" if "Forbid" in (mine.local_storage, theirs.local_storage) else "Allow",
        recently_moved=_longer(mine.recently_moved, theirs.recently_moved),
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def remembered_since(policy: PolicySpec, guardrails: Guardrails | None, now: datetime) -> datetime | None:
    """Return since when past runs must be looked up, at ``now`` (aware); None where nobody asks for them."""
    rest = parse_duration(effective_safety(policy, guardrails).recently_moved)
    return _before(now, rest) if rest else None


def planner_options(
    policy: PolicySpec,
    guardrails: Guardrails | None,
    now: datetime,
    past: Collection[PastMove] = (),
    envelope: Envelope | None = None,
) -> PlannerOptions:
    """Return everything planning depends on besides the snapshot and the run's spec.

    Parameters
    ----------
    now
        The aware moment that ages count from; it enters the options in whole seconds.
    past
        Moves of runs that ended; only needed where ``remembered_since`` asks for them.
    envelope
        What an approval allows; None before there is one.
    """
    safety = effective_safety(policy, guardrails)
    options = PlannerOptions(
        envelope=envelope or Envelope(),
        enforce_budgets=safety.disruption_budgets == "Enforce",
        allow_cascades=safety.cascades == "Allow",
        safeguards=_safeguards(safety, now, past),
    )
    return guarded_options(guardrails, options)


def _safeguards(safety: Safety, now: datetime, past: Collection[PastMove]) -> Safeguards:
    rest = parse_duration(safety.recently_moved)
    return Safeguards(
        created_before=_created_before(safety, now),
        max_priority=safety.max_priority,
        pods_per_namespace=safety.max_pods_per_namespace,
        pods_per_owner=safety.max_pods_per_owner,
        allow_local_storage=safety.local_storage == "Allow",
        recently_moved=moved_since(past, _before(now, rest)) if rest else frozenset(),
    )


def _created_before(safety: Safety, now: datetime) -> str | None:
    age = parse_duration(safety.min_pod_age)
    return _before(now, age).strftime("%Y-%m-%dT%H:%M:%SZ") if age else None


def _before(now: datetime, milliseconds: int) -> datetime:
    """Return the moment before ``now``; at the earliest 1970, since the zero time of Kubernetes is year 1."""
    age = timedelta(milliseconds=milliseconds)
    return now.astimezone(UTC) - age if now > _EPOCH and now - _EPOCH > age else _EPOCH


def _longer(one: str, other: str) -> str:
    return max(one, other, key=parse_duration)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((n for n in (one, other) if n is not None), default=None)
