"""Digests: what makes two plans the same for a reviewer, and two policies the same for a planner."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from repack_gitops.model.document import Document
from repack_gitops.model.policy import RepackPolicy
from repack_gitops.model.run import Move, PlanStatus, RunTemplateSpec, run_spec


def policy_digest(policy: RepackPolicy) -> str:
    """Return the digest of what a policy says, not of how its file is laid out."""
    return _digest([policy.spec])


def plan_digest(spec: RunTemplateSpec, plan: PlanStatus, policy: str) -> str:
    """Return the material digest of a proposal: spec, freed nodes, moves and the policy's version; no timestamps.

    Parameters
    ----------
    policy
        The policy's digest.
    """
    template = run_spec(spec, "Execute")
    return _digest([template, sorted(plan.freed_nodes), sorted(_moves(plan.moves)), policy])


def _moves(moves: Iterable[Move]) -> Iterable[tuple[str, str, str, str, str, int]]:
    for move in moves:
        for pod in move.pods:
            yield (move.namespace, move.pod_group_name, pod.name, pod.from_node, pod.to_node, pod.cards)


def _digest(parts: list[object]) -> str:
    encoded = msgspec.json.encode([_plain(p) for p in parts], order="sorted")
    return hashlib.sha256(encoded).hexdigest()


def _plain(part: object) -> object:
    """Return ``part`` as plain data without what equals its default: written out or not, now or in a later release."""
    if isinstance(part, list):
        return [_plain(p) for p in part]
    if not isinstance(part, Document):
        return part
    fields = ((f, getattr(part, f.name)) for f in msgspec.structs.fields(part))
    return {f.encode_name: _plain(value) for f, value in fields if value != _default(f)}


def _default(field: msgspec.structs.FieldInfo) -> object:
    made = field.default_factory
    return field.default if made is msgspec.NODEFAULT else made()
