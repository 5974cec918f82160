"""The parts of a proposal that tell what people can do with it, and what it was made from."""

from __future__ import annotations

from pathlib import PurePosixPath

from repack_gitops.model.status import counted
from repack_gitops.report.facts import ProposalFacts
from repack_gitops.report.frontier import pictured
from repack_gitops.report.markup import bullets, code, link, prose, shell, table
from repack_gitops.report.proposal_frontier import PICTURE_FILE

_ENVELOPE = {
    "Subset": "only PodGroups of this plan may move, only its nodes may be emptied, and no more cards than it says",
    "Budget": "any plan within the run's own scope and budget",
    "Exact": "exactly these moves, or none",
}
FILES = ("run.yaml", "plan.yaml", "plan.md", "layout.svg")


def next_steps(facts: ProposalFacts, run_file: str) -> str:
    """Return what merging, closing and holding do, and how to compute the plan again; ``run_file`` is a link."""
    steps = [
        f"**Merge** approves {run_file}. The executor plans again on the live cluster, never beyond what is approved here "
        f"({code(facts.envelope)}: {_ENVELOPE[facts.envelope]}), and evicts node by node. {_conditions(facts)}",
        "**Close** without merging rejects this plan: it is not proposed again until it changes, "
        f"or {prose(facts.rejected_for)} have passed.",
        f"**Hold** with the label {code(facts.hold_label)}, or push a commit of your own: "
        "the bot then leaves this branch alone.",
    ]
    return f"{bullets(steps)}\n\nTo compute the plan again:\n\n{shell(facts.reproduce)}"


def _conditions(facts: ProposalFacts) -> str:
    age = f"A plan older than {prose(facts.max_plan_age)} is not executed."
    if not facts.min_approvals:
        return age
    return f"It takes {counted(facts.min_approvals, 'approving review')}. {age}"


def record(facts: ProposalFacts) -> str:
    """Return what the plan was made from."""
    rows = [
        ("Policy", f"{code(facts.policy)} ({code(facts.policy_path)}, {code(_short(facts.policy_digest))})"),
        ("Cluster", f"{code(facts.cluster)}, as of {prose(facts.snapshot_time)}"),
        ("Base", f"{code(facts.base_branch)} at {code(_short(facts.base_commit))}"),
        ("Plan", f"{code(_short(facts.plan_digest))}, strategy {code(facts.evaluation.strategy)}"),
        ("Change ticket", code(facts.change_ticket) if facts.change_ticket else "none"),
        ("Last checked", prose(facts.last_checked) if facts.last_checked else ""),
    ]
    return table(["Run", code(facts.run)], [row for row in rows if row[1]])


def _short(digest: str) -> str:
    """The twelve characters people compare; an algorithm's prefix stays."""
    algorithm, colon, value = digest.rpartition(":")
    return f"{algorithm}{colon}{value[:12]}"


def file_in_folder(name: str) -> str:
    """Return a link to a file of the run, as seen from the run's folder."""
    return link(code(name), name)


def file_on_forge(facts: ProposalFacts, name: str) -> str:
    """Return a link to a file of the run, as seen from the pull request."""
    if not facts.files_url:
        return code(f"{facts.run_path}/{name}")
    return link(code(name), f"{facts.files_url.rstrip('/')}/{name}")


def beside_plan(facts: ProposalFacts) -> str:
    """Return links to the other files, as seen from the run's folder."""
    names = [*FILES, *([PICTURE_FILE] if pictured(facts.evaluation) else [])]
    files = ", ".join(file_in_folder(name) for name in names if name != "plan.md")
    up = "../" * len(PurePosixPath(facts.run_path).parts)
    policy = link(code(facts.policy_path), up + facts.policy_path)
    return f"Beside this file: {files}. Policy: {policy}."
