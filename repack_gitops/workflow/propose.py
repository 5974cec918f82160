"""The planner's tick (spec 3.2): which policies are due, what they would do, and their pull requests kept true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from repack_gitops.errors import ClusterUnavailable, Forbidden, InvalidInput, RepackError, TryAgain
from repack_gitops.git.interface import Identity
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.duration import parse_duration
from repack_gitops.model.options import FRONTIER_STRATEGIES, PlannerOptions
from repack_gitops.model.plan import Evaluation, Verdict
from repack_gitops.model.policy import RepackPolicy
from repack_gitops.model.status import verdict_message
from repack_gitops.planner import evaluate
from repack_gitops.planner.fragmentation import fragmentation
from repack_gitops.planner.verify import verify
from repack_gitops.policy.due import cron_due, fragmentation_due
from repack_gitops.policy.guardrails import violations
from repack_gitops.policy.history import PastMove
from repack_gitops.policy.honoured import check_honoured
from repack_gitops.policy.lifecycle import (
    HOLD_LABEL,
    Action,
    Close,
    Keep,
    Leave,
    Nothing,
    OpenRequest,
    Situation,
    Update,
    decide,
)
from repack_gitops.policy.safety import planner_options, remembered_since
from repack_gitops.workflow.books import Books, PolicyFile, base_books
from repack_gitops.workflow.ports import Ports
from repack_gitops.workflow.proposal import Origin, Proposal, propose_run
from repack_gitops.workflow.requests import BranchMoved, Requests
from repack_gitops.workflow.standing import Scene, Scout, Standing


@dataclass(frozen=True, slots=True)
class Tick:
    """Which policies to look at: all due ones, or those named; ``lookback`` is the period of the CronJob that asks."""

    lookback: timedelta
    only: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """What a tick did for one policy; ``exit_code`` is the error's where it failed, else 0."""

    policy: str
    action: str
    message: str
    url: str = ""
    exit_code: int = 0


def propose(ports: Ports, branch: str, tick: Tick, progress: Callable[[str], None]) -> tuple[PolicyReport, ...]:
    """Run one tick on the base branch ``branch``; returns a report per policy, sorted by name.

    A policy that cannot be read or served is reported, and the others are served. Where nothing can go on, because the
    cluster or the forge does not answer now, the rest is left for the next tick.

    Raises
    ------
    InvalidInput
        The repository's configuration or guardrails are broken, or a name in ``tick`` is no policy: nothing was done.
    """
    books = base_books(ports.repository, branch)
    files = books.policies()
    unknown = tick.only - {file.name for file in files}
    if unknown:
        raise InvalidInput(f"no policy is called {', '.join(sorted(unknown))}", hint="Look into policies/ on the base branch.")
    return tuple(_reports(_Tick(ports, books, tick, progress), files))


def _reports(tick: _Tick, files: Sequence[PolicyFile]) -> Iterator[PolicyReport]:
    stopped = ""
    for file in files:
        if stopped:
            yield PolicyReport(file.name, "skipped", f"not looked at: {stopped}")
            continue
        try:
            yield tick.file(file)
        except RepackError as error:
            # A rate limit or a cluster that is away meets every policy alike; a race on one branch does not.
            if isinstance(error, TryAgain | ClusterUnavailable | Forbidden) and not isinstance(error, BranchMoved):
                stopped = error.message
            yield PolicyReport(file.name, "failed", " ".join(filter(None, (error.message, error.hint))), "", error.exit_code)


class _Tick:
    def __init__(self, ports: Ports, books: Books, tick: Tick, progress: Callable[[str], None]) -> None:
        self._ports, self._books, self._tick, self._progress = ports, books, tick, progress
        self._config, self._guardrails, self._now = books.config(), books.guardrails(), ports.clock.now()
        base, author = self._config.spec.git.base_branch, self._config.spec.git.identity
        identity = Identity(author.name, author.email)
        self._scout = Scout(ports, books, base, identity, self._now)
        self._requests = Requests(ports, base, books.commit, identity, progress)
        self._snapshot: ClusterSnapshot | None = None
        self._past: dict[datetime, frozenset[PastMove]] = {}

    def file(self, file: PolicyFile) -> PolicyReport:
        """Bring the pull request of one policy's file up to date."""
        if self._tick.only and file.name not in self._tick.only:
            return PolicyReport(file.name, "skipped", "not asked for")
        if isinstance(file.content, InvalidInput):
            raise file.content
        asleep = self._asleep(file.content)
        if asleep is not None:
            return PolicyReport(file.name, "skipped", asleep)
        check_honoured(file.content)
        self._progress(f"policy {file.name}: planning")
        return self._awake(file.path, file.content)

    def _asleep(self, policy: RepackPolicy) -> str | None:
        """Return why the policy is not looked at now, or None."""
        if policy.spec.suspend:
            return "suspended"
        trigger = policy.spec.trigger
        if self._tick.only or cron_due(trigger, self._now, self._tick.lookback):
            return None
        if trigger.on_frag_above_percent is None:
            return "not due"
        current = fragmentation(self._cluster(), policy.spec.run_template.spec.goals[0].resource)
        if fragmentation_due(trigger, current):
            return None
        return f"fragmentation {current.percent}% is not above {trigger.on_frag_above_percent}%"

    def _cluster(self) -> ClusterSnapshot:
        """Return the tick's one snapshot, taken when first needed."""
        if self._snapshot is None:
            try:
                self._snapshot = build_snapshot(self._ports.cluster.list_objects())
            except InvalidInput as error:
                raise ClusterUnavailable(
                    f"the cluster's objects do not fit together: {error.message}", hint=error.hint
                ) from error
        return self._snapshot

    # ---- what there is, and what is to be ----
    def _awake(self, path: str, policy: RepackPolicy) -> PolicyReport:
        options = self._options(policy)
        origin = Origin(self._config, policy, path, self._books.commit, self._now, options)
        evaluation, scene = self._evaluation(policy, options), self._scout.look(policy.metadata.name)
        standing = self._standing(scene)
        if standing is not None and standing.tip is None:
            # A moment later the forge closes it: whoever deleted the branch said no.
            return PolicyReport(policy.metadata.name, "nothing", f"branch {standing.path.branch} was deleted")
        reused = standing or self._orphan(policy, scene)
        proposal = self._proposal(origin, evaluation, reused)
        situation = self._situation(policy, evaluation, proposal, standing)
        report = self._act(decide(situation), origin, proposal, standing or reused, situation.verdict)
        self._clean(scene, standing or (reused if report.action == "opened" else None))
        return report

    def _options(self, policy: RepackPolicy) -> PlannerOptions:
        since = remembered_since(policy.spec, self._guardrails, self._now)
        if since is not None and since not in self._past:
            self._past[since] = self._books.past_moves(since)
        past = self._past[since] if since is not None else frozenset()
        options = planner_options(policy.spec, self._guardrails, self._now, past)
        # For reviewers. The executor, who plans again with everybody waiting, does without.
        return replace(options, frontier=options.strategy in FRONTIER_STRATEGIES)

    def _evaluation(self, policy: RepackPolicy, options: PlannerOptions) -> Evaluation:
        spec = policy.spec.run_template.spec
        evaluation = evaluate(self._cluster(), spec, options)
        problems = verify(self._cluster(), spec, evaluation, options)
        if problems:
            raise RepackError(f"the plan did not pass its own judge: {problems[0]}", hint="Please report this with a snapshot.")
        return evaluation

    def _standing(self, scene: Scene) -> Standing | None:
        """Return the policy's proposal: its first open pull request; without a forge, its branch."""
        if self._requests.exist:
            return next(iter(scene.requests), None)
        touched = [s for s in scene.orphans if s.human_commits]
        return next(reversed(touched or [s for s in scene.orphans if s.ours]), None)

    def _orphan(self, policy: RepackPolicy, scene: Scene) -> Standing | None:
        """Return the branch of a tick that died before its pull request, unless its plan is too old by now."""
        age = timedelta(milliseconds=parse_duration(policy.spec.approval.max_plan_age))
        return next((s for s in reversed(scene.orphans) if s.ours and not s.older_than(age, self._now)), None)

    def _proposal(self, origin: Origin, evaluation: Evaluation, reused: Standing | None = None) -> Proposal | None:
        if evaluation.verdict is not Verdict.RECOMMENDED:
            return None
        proposal = propose_run(origin, self._cluster(), evaluation, reused.path.run if reused else None)
        if reused and reused.digest == proposal.digest and reused.planned_at and reused.base_commit:
            # Nothing will be pushed, so the text tells of the files as they are.
            made = replace(origin, planned_at=reused.planned_at, base_commit=reused.base_commit)
            proposal = propose_run(made, self._cluster(), evaluation, reused.path.run)
        forge, branch = self._ports.forge, proposal.path.branch
        pictures = [forge.file_content(branch, proposal.path.file(name)) for name in ("layout.svg", "frontier.svg")]
        return proposal.on_forge(forge.file_page(branch, proposal.path.directory), *pictures)

    def _situation(
        self, policy: RepackPolicy, evaluation: Evaluation, proposal: Proposal | None, standing: Standing | None
    ) -> Situation:
        name, spec = policy.metadata.name, policy.spec.run_template.spec
        approved = self._books.approved(name)
        digest = proposal.digest if proposal else None
        return Situation(
            digest=digest,
            verdict=verdict_message(evaluation, threshold=spec.goals[0].min_frag_improvement_percent),
            blocked="; ".join(violations(self._guardrails, spec, evaluation)) if proposal else "",
            in_flight=approved[0].run if approved else "",
            rejected=digest is not None and self._rejected(name, digest, standing),
            recorded=standing is not None and standing.path in self._books.runs(name),
            open=self._describe(policy, standing) if standing else None,
        )

    def _rejected(self, policy: str, digest: str, standing: Standing | None) -> bool:
        if standing is not None and standing.digest == digest:
            return False
        age = timedelta(milliseconds=parse_duration(self._config.spec.rejected_for))
        return self._scout.rejected(policy, digest, self._now - age)

    def _describe(self, policy: RepackPolicy, standing: Standing) -> OpenRequest:
        request, age = standing.request, timedelta(milliseconds=parse_duration(policy.spec.approval.max_plan_age))
        return OpenRequest(
            number=request.number if request else 0,
            digest=standing.told_digest,
            human_commits=standing.human_commits,
            held=request is not None and HOLD_LABEL in request.labels,
            in_merge_queue=request is not None and request.in_merge_queue,
            expired=standing.older_than(age, self._now),
        )

    # ---- what is done about it ----
    def _act(
        self, action: Action, origin: Origin, proposal: Proposal | None, standing: Standing | None, verdict: str
    ) -> PolicyReport:
        name, options = origin.policy.metadata.name, origin.policy.spec.pull_request
        url = standing.request.url if standing and standing.request else ""
        match action:
            case Nothing(why=why):
                return PolicyReport(name, "nothing", why)
            case Keep() if standing is not None:
                self._requests.keep(options, standing)
                return PolicyReport(name, "unchanged", "what is proposed still holds", url)
            case Leave(why=why) if standing is not None:
                self._requests.leave(standing, why)
                return PolicyReport(name, "left alone", why, url)
            case Close(why=why, reopen=reopen) if standing is not None:
                if not self._requests.close(standing, why):
                    return PolicyReport(name, "nothing", f"pull request {action.number} was merged meanwhile", url)
                # The branch of a closed pull request is not used again: the run gets a new name.
                fresh = self._proposal(origin, proposal.facts.evaluation) if reopen and proposal else None
                return self._opened(origin, fresh, None, verdict) if fresh else PolicyReport(name, "closed", why, url)
            case Update() if standing is not None and proposal is not None:
                self._requests.update(proposal, options, standing)
                return PolicyReport(name, "updated", verdict, url)
            case _ if proposal is not None:
                return self._opened(origin, proposal, standing, verdict)
            case _:
                raise TryAgain(f"policy {name}: nothing is proposed to {action}", hint="The next tick looks again.")

    def _opened(self, origin: Origin, proposal: Proposal, orphan: Standing | None, verdict: str) -> PolicyReport:
        url = self._requests.open(proposal, origin.policy.spec.pull_request, orphan)
        return PolicyReport(origin.policy.metadata.name, "opened", verdict, url)

    def _clean(self, scene: Scene, used: Standing | None) -> None:
        """At most one pull request stays open, and no branch of ours without one."""
        for surplus in scene.requests[1:]:
            request = surplus.request
            if surplus.ours and request and HOLD_LABEL not in request.labels and not request.in_merge_queue:
                self._requests.close(surplus, f"superseded by pull request {_number(scene.requests[0])}")
        for left in (*scene.orphans, *scene.remains):
            if left.ours and left is not used:
                self._requests.delete(left)


def _number(standing: Standing) -> int:
    return standing.request.number if standing.request else 0


def summary(reports: Sequence[PolicyReport]) -> str:
    """Return the tick in lines for a log."""
    return "\n".join(f"{r.policy}: {r.action}: {r.message}" + (f" ({r.url})" if r.url else "") for r in reports)
