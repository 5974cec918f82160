"""Everything a proposal shows, as one value: the reports add no fact of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalFacts:
    """What plan.md and the pull request say.

    Attributes
    ----------
    policy_path, run_path
        Inside the repository: the policy's file, and the run's folder without a trailing slash.
    snapshot_time, last_checked
        RFC 3339 texts; last_checked is when the open proposal was last found to still hold, empty in a new one.
    spec
        The RepackRun's spec: goal, scope and budget.
    envelope, max_plan_age, min_approvals
        The policy's approval rules.
    rejected_for
        How long a plan stays rejected once its pull request is closed unmerged, such as ``7d``.
    hold_label
        The label that makes the bot leave the pull request alone.
    files_url, picture_url, frontier_url
        Where a reader of the pull request finds the run's folder, layout.svg and frontier.svg on the forge; empty where it has
        no page.
    reproduce
        The command line that computes the plan again.
    tool_version
        The version of this project that made the plan.
    """

    cluster: str
    policy: str
    run: str
    policy_path: str
    run_path: str
    plan_digest: str
    policy_digest: str
    base_branch: str
    base_commit: str
    snapshot_time: str
    spec: RunSpec
    evaluation: Evaluation
    envelope: Literal["Subset", "Budget", "Exact"]
    max_plan_age: str
    min_approvals: int
    rejected_for: str
    hold_label: str
    reproduce: str
    tool_version: str
    change_ticket: str = ""
    last_checked: str = ""
    files_url: str = ""
    picture_url: str = ""
    frontier_url: str = ""

    @property
    def resource(self) -> str:
        """The resource whose nodes are freed."""
        return self.evaluation.resource

    @property
    def threshold(self) -> int:
        """The least gain the goal asks for, in percentage points."""
        return self.spec.goals[0].min_frag_improvement_percent

    @property
    def most_pod_groups(self) -> int | None:
        """The budget's PodGroups; None without a cap."""
        return self.spec.max_per_run.pod_groups if self.spec.max_per_run else None

    @property
    def most_cards(self) -> int | None:
        """The budget's cards; None without a cap."""
        return self.spec.max_per_run.resources.get(self.resource) if self.spec.max_per_run else None
