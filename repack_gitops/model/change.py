"""The nearest thing that would change a "no": one typed change, with the words people read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from repack_gitops.model.quantity import format_quantity


class Action(StrEnum):
    """What to do; docs/planning.md says which reason leads to which."""

    # the other nodes
    FREE_RESOURCE = "FreeResource"
    MAKE_READY = "MakeReady"
    UNCORDON = "Uncordon"
    TOLERATE_TAINT = "TolerateTaint"
    MATCH_NODE = "MatchNode"
    FREE_PORT = "FreePort"
    # the run
    RAISE_BUDGET = "RaiseBudget"
    LOWER_THRESHOLD = "LowerThreshold"
    WIDEN_SCOPE = "WidenScope"
    LIFT_GUARDRAIL = "LiftGuardrail"
    LIFT_SAFETY = "LiftSafety"
    RAISE_QUOTA = "RaiseQuota"
    APPROVE_AGAIN = "ApproveAgain"
    SNAPSHOT_AGAIN = "SnapshotAgain"
    # the workload
    WAIT = "Wait"
    REST = "Rest"
    REMOVE_ANNOTATION = "RemoveAnnotation"
    MEND_STORAGE = "MendStorage"
    SNAPSHOT_WITH_STORAGE = "SnapshotWithStorage"
    ALLOW_CASCADE = "AllowCascade"
    MEND_QUEUE = "MendQueue"
    CHANGE_DISRUPTION_BUDGET = "ChangeDisruptionBudget"
    RAISE_RETRIES = "RaiseRetries"
    USE_SCHEDULER = "UseScheduler"
    JOIN_POD_GROUP = "JoinPodGroup"
    USE_CONTROLLER = "UseController"
    REMOVE_POLICY = "RemovePolicy"
    DROP_CONSTRAINT = "DropConstraint"


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Attributes
    ----------
    subject
        What to change: a node's name, or a kind and a name (``pod team/x``, ``Job.batch.volcano.sh team/y``).
    what
        Which part of it: a resource, a taint, a field of the run, a policy.
    now, needed
        Numbers where there are any: the limit now and the one that would do; for `Action.FREE_RESOURCE` what is idle
        now and what must be, in thousandths.
    """

    action: Action
    subject: str
    what: str = ""
    now: int | None = None
    needed: int | None = None

    def __str__(self) -> str:
        return _WORDS[self.action].format(subject=self.subject, what=self.what, amount=self._amount(), now=self._now())

    def _amount(self) -> str:
        if self.needed is None:
            return ""
        if self.action is Action.FREE_RESOURCE:
            return format_quantity(self.needed - (self.now or 0))
        return f"{self.needed:,}"

    def _now(self) -> str:
        return "" if self.now is None else f"{self.now:,}"


_WORDS: dict[Action, str] = {
    Action.FREE_RESOURCE: "{amount} more {what} idle on node {subject}",
    Action.MAKE_READY: "node {subject} being Ready",
    Action.UNCORDON: "uncordoning node {subject}",
    Action.TOLERATE_TAINT: "tolerating taint {what} of node {subject}",
    Action.MATCH_NODE: "a node selector or affinity that node {subject} matches",
    Action.FREE_PORT: "host port {what} free on node {subject}",
    Action.RAISE_BUDGET: "{what} {amount} instead of {now}",
    Action.LOWER_THRESHOLD: "{what} {amount} instead of {now}",
    Action.WIDEN_SCOPE: "{what} that includes {subject}",
    Action.LIFT_GUARDRAIL: "a guardrail that allows {what}",
    Action.APPROVE_AGAIN: "an approved plan that covers {subject}",
    Action.SNAPSHOT_AGAIN: "a snapshot that holds {subject}",
    Action.WAIT: "waiting until {subject} is gone",
    Action.REST: "waiting: {what}",
    Action.REMOVE_ANNOTATION: "{subject} without an annotation that forbids to disrupt it",
    Action.SNAPSHOT_WITH_STORAGE: "a snapshot with its storage: {what}",
    Action.ALLOW_CASCADE: "safety.cascades Allow, or removing policy {what} of {subject}",
    Action.MEND_STORAGE: "other storage: {what}",
    Action.MEND_QUEUE: "another state of the queue: {what}",
    Action.CHANGE_DISRUPTION_BUDGET: "PodDisruptionBudgets changed so that just one selects {subject} and can let it go",
    Action.RAISE_RETRIES: "more retries: {what}",
    Action.LIFT_SAFETY: "a safety option that allows it: {what}",
    Action.RAISE_QUOTA: "a higher limit, or waiting: {what}",
    Action.USE_SCHEDULER: "schedulerName {what} for {subject}",
    Action.JOIN_POD_GROUP: "a PodGroup for {subject}",
    Action.USE_CONTROLLER: "a controller that recreates {subject}",
    Action.REMOVE_POLICY: "removing policy {what} of {subject}",
    Action.DROP_CONSTRAINT: "{subject} without {what}",
}
