"""What to do about one policy's pull request: a pure decision over what the forge, git and the planner say (spec 3.2).

At most one pull request per policy is open; nothing is pushed while the material plan is the same; a human's commit,
hold label or merge queue is never overwritten; a human's "no" holds until the plan changes or time passes.
"""

from __future__ import annotations

from dataclasses import dataclass

HOLD_LABEL = "repack/hold"


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """The open pull request of a policy, as far as the decision needs it.

    Attributes
    ----------
    digest
        The material digest of its branch; empty when its body does not tell of that plan.
    human_commits
        Whether somebody else committed to its branch.
    expired
        Whether its plan is older than maxPlanAge.
    """

    number: int
    digest: str
    human_commits: bool
    held: bool
    in_merge_queue: bool
    expired: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the decision depends on.

    Attributes
    ----------
    digest
        The new plan's, None when nothing is recommended.
    blocked
        The guardrails that forbid it.
    in_flight
        A run of the policy that is approved and not finished.
    rejected
        Whether a human closed a pull request with this very plan.
    recorded
        Whether the open request's own run is on the base branch already, merged in some way the forge did not see.
    """

    digest: str | None
    verdict: str
    blocked: str = ""
    in_flight: str = ""
    rejected: bool = False
    open: OpenRequest | None = None
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class Nothing:
    """Leave everything as it is."""

    why: str


@dataclass(frozen=True, slots=True)
class Open:
    """Push a branch and open a pull request."""


@dataclass(frozen=True, slots=True)
class Update:
    """Rebuild the open pull request's branch as one commit on the current base."""

    number: int


@dataclass(frozen=True, slots=True)
class Keep:
    """The open pull request still holds: refresh its status, push nothing."""

    number: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Not ours to change now; say so once."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Close:
    """Close the open pull request and delete its branch; ``reopen`` opens a new one right after."""

    number: int
    why: str
    reopen: bool = False


Action = Nothing | Open | Update | Keep | Leave | Close


def decide(now: Situation) -> Action:
    """Return what to do; every situation has exactly one answer."""
    if now.open is None:
        return _without(now)
    request = now.open
    if request.in_merge_queue:
        return Nothing(f"pull request {request.number} is in a merge queue")
    if request.held:
        return Leave(request.number, f"it carries the label {HOLD_LABEL}")
    if request.human_commits:
        return Leave(request.number, "somebody committed to its branch")
    return _with(now, request)


def _without(now: Situation) -> Action:
    if now.digest is None:
        return Nothing(now.verdict)
    if now.in_flight:
        return Nothing(f"run {now.in_flight} is approved and not finished")
    if now.blocked:
        return Nothing(f"guardrails forbid it: {now.blocked}")
    if now.rejected:
        return Nothing("this plan was rejected: its pull request was closed unmerged")
    return Open()


def _with(now: Situation, request: OpenRequest) -> Action:
    if now.recorded:
        return Close(request.number, "superseded: its run is on the base branch already")
    if now.in_flight:
        return Close(request.number, f"superseded: run {now.in_flight} is approved and not finished")
    if now.digest is None:
        return Close(request.number, f"no longer recommended: {now.verdict}")
    if now.blocked:
        return Close(request.number, f"guardrails forbid it: {now.blocked}")
    if now.rejected and request.digest != now.digest:
        return Close(request.number, "superseded: what the planner finds now is a plan that was rejected")
    if request.expired:
        return Close(request.number, "expired: its plan is older than maxPlanAge", reopen=not now.rejected)
    return Keep(request.number) if request.digest == now.digest else Update(request.number)
