"""Who approved a run, as the forge tells it; and whether the policy asks for more (spec 3.1, 3.4)."""

from __future__ import annotations

from repack_gitops.errors import Refused
from repack_gitops.forge.interface import Forge, PullRequest
from repack_gitops.model.policy import RepackPolicy
from repack_gitops.policy.ticket import why_not_ticket
from repack_gitops.workflow.books import ApprovedRun


def check_approval(forge: Forge, base: str, policy: RepackPolicy, approved: ApprovedRun) -> None:
    """Raise Refused unless ticket and approvals are what the policy asks for; the forge is asked, not the files."""
    why = why_not_ticket(policy.spec.change_ticket, approved.run)
    if why is not None:
        raise Refused(f"run {approved.path.run}: {why}", hint=f"Set it in {approved.path.file('run.yaml')}.")
    wanted = policy.spec.approval.min_approvals
    if not wanted:
        return
    request = merged_request(forge, base, approved.path.branch)
    if request is None:
        raise Refused(f"run {approved.path.run}: no merged pull request is known", hint="minApprovals needs one.")
    found = len(approvers(forge, request))
    if found < wanted:
        raise Refused(
            f"run {approved.path.run}: {found} of {wanted} approvals of its last commit by others than the author",
            hint=f"Approve {request.url} again, or revert the merge and let the planner propose the run anew.",
        )


def merged_request(forge: Forge, base: str, branch: str) -> PullRequest | None:
    """Return the pull request that brought ``branch`` to the base branch ``base``; merges elsewhere do not count."""
    found = forge.find_merged(branch)
    return found if found is not None and found.base == base else None


def approvers(forge: Forge, request: PullRequest) -> tuple[str, ...]:
    """Return who approved what was merged, sorted: never the author, and nobody who approved an older commit."""
    reviews = [r for r in forge.reviews(request.number) if r.state == "approved" and r.counts]
    # A forge that does not say which commit was approved leaves it to its own rules.
    latest = (r for r in reviews if r.commit in ("", request.head_commit))
    return tuple(sorted({r.user for r in latest if r.user != request.author}))
