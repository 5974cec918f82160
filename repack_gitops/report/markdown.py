"""plan.md and the pull request: the same plan, once complete and once within a forge's limit."""

from __future__ import annotations

from repack_gitops.model.status import counted
from repack_gitops.report import proposal_budgets as budgets
from repack_gitops.report import proposal_plan as plan
from repack_gitops.report import proposal_process as process
from repack_gitops.report.facts import ProposalFacts
from repack_gitops.report.frontier import TITLE as FRONTIER
from repack_gitops.report.frontier import frontier_sentence
from repack_gitops.report.machine_block import machine_block
from repack_gitops.report.markup import alert, code, image
from repack_gitops.report.plain import clip, visible
from repack_gitops.report.proposal_frontier import PICTURE_FILE, frontier, frontier_briefly
from repack_gitops.report.sections import Section, fitted, whole
from repack_gitops.report.words import staying_groups

#: A body below this cannot hold the machine block and a verdict of the longest names.
SMALLEST_LIMIT = 8_000
_LONGEST_TITLE = 200
_STAYS = "Why the other nodes stay"
_FEW = 5
_PICTURE = "Cards of each node before and after this plan"
#: What gives way first when space is short: detail that plan.md has, long before what decides a review.
_GIVES_WAY = (
    "moves", "disturbed", "restarts", "freed", "moves", "disturbed", "restarts", "freed", "frontier", "budgets", "stays",
    "warnings", "stays", "budgets", "record", "freed", "picture", "frontier", "warnings", "disturbed", "restarts", "next",
    "summary",
)  # fmt: skip


def pull_request_title(facts: ProposalFacts) -> str:
    """Return the title, at most 200 characters: ``repack(<cluster>/<policy>): free N nodes by moving P pods (C cards)``."""
    d = facts.evaluation.disruption
    gain = (
        f"free {counted(len(facts.evaluation.steps), 'node')} by moving {counted(d.moved_pods, 'pod')} "
        f"({counted(d.moved_cards, 'card')})"
    )
    room = (_LONGEST_TITLE - len(f"repack(/): {gain}")) // 2
    return f"repack({clip(visible(facts.cluster), room)}/{clip(visible(facts.policy), room)}): {gain}"


def plan_markdown(facts: ProposalFacts) -> str:
    """Return plan.md: everything about the plan, as read from the run's folder."""
    sections = _sections(facts, process.file_in_folder("run.yaml"), "##")
    groups = staying_groups(facts.evaluation)
    if groups:
        everything = f"{plan.stays(groups)}\n\n{plan.every_stay(facts.evaluation, groups)}"
        sections["stays"] = Section("", (_titled("##", _STAYS, everything),))
    sections["picture"] = Section("", (image(_PICTURE, "layout.svg"),))
    sections["frontier"] = Section("", (_titled("##", FRONTIER, frontier(facts.evaluation, PICTURE_FILE)),))
    sections["files"] = Section("", (process.beside_plan(facts),))
    return whole({"title": Section("", (f"# Repack plan {code(facts.run)}",)), **sections})


def pull_request_body(facts: ProposalFacts, limit: int = 58_000) -> str:
    """Return the body of the pull request, at most ``limit`` characters.

    Parameters
    ----------
    limit
        What the forge accepts (GitHub: 65,536; 58,000 leaves room for what it adds itself); at least 8,000.

    Raises
    ------
    ValueError
        When ``limit`` is below 8,000.
    """
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"a pull request needs {SMALLEST_LIMIT} characters, {limit} are allowed")
    sections = _sections(facts, process.file_on_forge(facts, "run.yaml"), "###")
    complete = process.file_on_forge(facts, "plan.md")
    return fitted(
        machine_block(facts),
        sections,
        _GIVES_WAY,
        limit=limit,
        notice=lambda what: alert("NOTE", f"Shortened to fit this forge: {what}. {complete} is complete."),
    )


def _sections(facts: ProposalFacts, run_file: str, heading: str) -> dict[str, Section]:
    return {
        "verdict": Section("", (plan.verdict(facts),)),
        **_plan_sections(facts, heading),
        "next": Section("what happens next", (_titled(heading, "What happens next", process.next_steps(facts, run_file)),)),
        "record": Section("the record", (_titled(heading, "Record", process.record(facts)),)),
    }


def _plan_sections(facts: ProposalFacts, heading: str) -> dict[str, Section]:
    e, groups = facts.evaluation, staying_groups(facts.evaluation)
    forms: dict[str, tuple[str, str, tuple[str, ...]]] = {
        "warnings": ("warnings", "", (plan.warnings(e.warnings), plan.warnings(e.warnings, _FEW))),
        "summary": ("the summary", "", (plan.summary(facts) if e.steps else "",)),
        "picture": ("the picture", "", (image(_PICTURE, facts.picture_url) if facts.picture_url else "",)),
        "freed": ("freed nodes", "Nodes freed", (plan.freed(e), plan.freed(e, plan.MANY), plan.freed(e, plan.SCREENFUL))),
        "disturbed": (
            "PodGroups",
            "Who is disturbed",
            (plan.disturbed(e), plan.disturbed(e, plan.MANY), plan.disturbed(e, plan.SCREENFUL)),
        ),
        "restarts": (
            "what restarts",
            "What restarts",
            (plan.restarting(e), plan.restarting(e, plan.MANY), plan.restarting(e, plan.SCREENFUL)),
        ),
        "budgets": (
            "PodDisruptionBudgets",
            budgets.TITLE,
            (budgets.disruption_budgets(e), budgets.disruption_budgets(e, plan.SCREENFUL)),
        ),
        "frontier": (
            "what disruption buys",
            FRONTIER,
            (frontier_briefly(e, facts.frontier_url), frontier_sentence(e)),
        ),
        "moves": ("every move", "", (plan.moves(e), plan.moves(e, plan.MANY))),
        "stays": ("nodes that stay", _STAYS, (plan.stays(groups), plan.stays(groups, examples=False))),
    }
    return {
        key: Section(name, tuple(_titled(heading, title, form) for form in found))
        for key, (name, title, found) in forms.items()
    }


def _titled(heading: str, title: str, body: str) -> str:
    return f"{heading} {title}\n\n{body}" if title and body else body
