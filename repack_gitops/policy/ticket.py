"""The change ticket of a run: where it stands, and whether the policy accepts it (spec 3.1)."""

from __future__ import annotations

import re

from repack_gitops.model.policy import ChangeTicket
from repack_gitops.model.run import RepackRun
from repack_gitops.policy.names import CHANGE_TICKET

#: The label that the guide's examples use.
LABEL = "change-ticket"


def ticket_of(run: RepackRun) -> str:
    """Return the run's ticket: our annotation, else the guide's label, else an empty string."""
    return run.metadata.annotations.get(CHANGE_TICKET) or run.metadata.labels.get(LABEL, "")


def why_not_ticket(rule: ChangeTicket, run: RepackRun) -> str | None:
    """Return why the run's ticket does not satisfy the policy, or None."""
    ticket = ticket_of(run)
    if not ticket:
        return "a change ticket is required" if rule.required else None
    if re.fullmatch(rule.pattern, ticket) is None:
        return f"change ticket {ticket!r} does not match {rule.pattern!r}"
    return None
