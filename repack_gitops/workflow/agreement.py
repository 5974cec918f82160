"""Whether a run's files say the same: what is executed must be what was reviewed (spec 3.3, 3.4).

run.yaml carries the digest of what its pull request showed. It is computed again here from the spec of run.yaml and the
plan in plan.yaml, so that neither can be changed by itself, by whoever may push, without the change being noticed.
"""

from __future__ import annotations

from collections.abc import Iterator

from repack_gitops.errors import InvalidInput, Refused
from repack_gitops.model.run import PlanStatus, RepackRun, run_spec
from repack_gitops.policy.digest import plan_digest
from repack_gitops.policy.names import PLAN_DIGEST, PLANNED_AT, POLICY, POLICY_DIGEST, RunPath

_HINT = "Close this proposal: remove its folder, and let the planner propose the run again."


def check_agreement(path: RunPath, run: RepackRun, plan_run: RepackRun, plan: PlanStatus) -> None:
    """Refuse a run whose files disagree with their folder, with each other or with the digest.

    Raises
    ------
    InvalidInput
        The name in run.yaml is not the folder's.
    Refused
        Anything else; the message names what disagrees.
    """
    run_file = path.file("run.yaml")
    if run.metadata.name != path.run:
        raise InvalidInput(f"{run_file}: metadata.name is {run.metadata.name}", hint=f"Name it {path.run}, as its folder.")
    if run.spec.mode != "Execute":
        raise Refused(f"{run_file}: spec.mode is {run.spec.mode}", hint="Only runs in mode Execute are executed.")
    for problem in _problems(path, run, plan_run, plan):
        raise Refused(problem, hint=_HINT)


def _problems(path: RunPath, run: RepackRun, plan_run: RepackRun, plan: PlanStatus) -> Iterator[str]:
    run_file, plan_file = path.file("run.yaml"), path.file("plan.yaml")
    notes, planned = run.metadata.annotations, plan_run.metadata.annotations
    if notes.get(POLICY) != path.policy:
        yield f"{run_file}: annotation {POLICY} is {notes.get(POLICY)}, but the run lies in the folder of {path.policy}"
    if run_spec(plan_run.spec, "Execute") != run.spec:
        yield f"{run_file} and {plan_file} have different specs: the plan was made for something else"
    for key in (PLAN_DIGEST, POLICY_DIGEST, PLANNED_AT):
        if key not in notes or notes[key] != planned.get(key):
            yield f"{run_file} and {plan_file} disagree about annotation {key}: {notes.get(key)} and {planned.get(key)}"
    found = plan_digest(run.spec, plan, notes.get(POLICY_DIGEST, ""))
    if found != notes.get(PLAN_DIGEST):
        yield (
            f"{plan_file} is not the plan that {run_file} approves: its digest is {found[:12]}, "
            f"not {notes.get(PLAN_DIGEST, '')[:12]}; it was changed after it was made"
        )
    yield from _sums(plan_file, plan)


def _sums(plan_file: str, plan: PlanStatus) -> Iterator[str]:
    """The digest covers the moves; the sums above them limit what may be done."""
    cards, by_pod = sum(m.cards for m in plan.moves), sum(p.cards for m in plan.moves for p in m.pods)
    if not plan.summary.moved_card_count == cards == by_pod:
        yield f"{plan_file}: summary.movedCardCount is {plan.summary.moved_card_count}, the moves add up to {by_pod}"
    if plan.summary.freed_node_count != len(plan.freed_nodes):
        yield f"{plan_file}: summary.freedNodeCount is {plan.summary.freed_node_count}, {len(plan.freed_nodes)} are listed"
