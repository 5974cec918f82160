"""One proposal as files: run.yaml, plan.yaml, plan.md, layout.svg, perhaps frontier.svg, and the commit that holds them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from repack_gitops import __version__
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.policy import RepackPolicy, RepositoryConfig
from repack_gitops.model.run import RepackRun, RunMetadata, new_run, run_spec
from repack_gitops.model.status import dry_run_status, plan_status
from repack_gitops.model.trailers import with_trailers
from repack_gitops.model.writing import to_yaml
from repack_gitops.policy.digest import plan_digest, policy_digest
from repack_gitops.policy.lifecycle import HOLD_LABEL
from repack_gitops.policy.names import PLAN_DIGEST, PLANNED_AT, POLICY, POLICY_DIGEST, RunPath, run_name
from repack_gitops.policy.replay import options_note
from repack_gitops.policy.ticket import ticket_of
from repack_gitops.report.facts import ProposalFacts
from repack_gitops.report.markdown import plan_markdown, pull_request_title
from repack_gitops.report.svg import layout_svg
from repack_gitops.report.svg_frontier import frontier_svg
from repack_gitops.workflow.clock import timestamp

_RUN_HEADER = """\
# yaml-language-server: $schema=../../../schemas/repackrun.schema.json
# Merging this file approves the run. Closing the pull request without a merge rejects it.
# What the planner saw and proposes: plan.yaml; for people: plan.md.
"""
_PLAN_HEADER = "# yaml-language-server: $schema=../../../schemas/repackrun.schema.json\n"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A recommended plan of one policy."""

    path: RunPath
    run: RepackRun
    plan: RepackRun
    facts: ProposalFacts
    snapshot: ClusterSnapshot
    planned_at: datetime

    @property
    def digest(self) -> str:
        """The material digest."""
        return self.facts.plan_digest

    def files(self) -> dict[str, bytes]:
        """Return the run's files by path; the same proposal gives the same bytes."""
        texts = {
            "run.yaml": _RUN_HEADER + to_yaml(self.run),
            "plan.yaml": _PLAN_HEADER + to_yaml(self.plan),
            "plan.md": plan_markdown(self.facts),
            "layout.svg": layout_svg(self.snapshot, self.facts.evaluation),
            "frontier.svg": frontier_svg(self.facts.evaluation),
        }
        return {self.path.file(name): text.encode() for name, text in texts.items() if text}

    def message(self) -> str:
        """Return the commit message, with the trailers that audits read."""
        trailers = [
            ("Repack-Run", self.path.run),
            ("Repack-Policy", self.path.policy),
            ("Repack-Plan-Digest", self.digest),
            ("Change-Ticket", self.facts.change_ticket),
        ]
        return with_trailers(pull_request_title(self.facts), trailers)

    def on_forge(self, files_url: str, picture_url: str, frontier_url: str) -> Proposal:
        """Return the proposal with the addresses that its pull request shows."""
        facts = replace(self.facts, files_url=files_url, picture_url=picture_url, frontier_url=frontier_url)
        return replace(self, facts=facts)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a proposal comes from: the repository's documents, the policy's file, the base commit, the moment, the options."""

    config: RepositoryConfig
    policy: RepackPolicy
    policy_path: str
    base_commit: str
    planned_at: datetime
    options: PlannerOptions


def propose_run(origin: Origin, snapshot: ClusterSnapshot, evaluation: Evaluation, run: str | None = None) -> Proposal:
    """Return the proposal of ``evaluation``; ``run`` keeps the name of a run whose pull request is open."""
    policy, template = origin.policy, origin.policy.spec.run_template
    name = run or run_name(policy.metadata.name, origin.planned_at.astimezone(UTC).strftime("%Y%m%d-%H%M%S"))
    path = RunPath(policy.metadata.name, name)
    version = policy_digest(policy)
    digest = plan_digest(template.spec, plan_status(evaluation), version)
    annotations = {
        **template.metadata.annotations,
        POLICY: policy.metadata.name,
        PLAN_DIGEST: digest,
        POLICY_DIGEST: version,
        PLANNED_AT: timestamp(origin.planned_at),
    }
    metadata = RunMetadata(name=name, labels=template.metadata.labels, annotations=annotations)
    executed = new_run(metadata, run_spec(template.spec, "Execute"))
    threshold = template.spec.goals[0].min_frag_improvement_percent
    planned = new_run(
        RunMetadata(f"{name}-plan", template.metadata.labels, annotations | options_note(origin.options)),
        run_spec(template.spec, "DryRun"),
        dry_run_status(evaluation, timestamp(origin.planned_at), threshold=threshold),
    )
    facts = _facts(origin, path, executed, evaluation, (digest, version))
    return Proposal(path, executed, planned, facts, snapshot, origin.planned_at)


def _facts(origin: Origin, path: RunPath, run: RepackRun, evaluation: Evaluation, digests: tuple[str, str]) -> ProposalFacts:
    approval, config = origin.policy.spec.approval, origin.config.spec
    return ProposalFacts(
        cluster=config.cluster.name,
        policy=path.policy,
        run=path.run,
        policy_path=origin.policy_path,
        run_path=path.directory,
        plan_digest=digests[0],
        policy_digest=digests[1],
        base_branch=config.git.base_branch,
        base_commit=origin.base_commit,
        snapshot_time=timestamp(origin.planned_at),
        spec=run.spec,
        evaluation=evaluation,
        envelope=approval.envelope,
        max_plan_age=approval.max_plan_age,
        min_approvals=approval.min_approvals,
        rejected_for=config.rejected_for,
        hold_label=HOLD_LABEL,
        # plan.yaml, not run.yaml: it holds the options that the plan was made with
        reproduce=f"repack plan --context {config.cluster.name} --run {path.file('plan.yaml')}",
        tool_version=__version__,
        change_ticket=ticket_of(run),
    )
