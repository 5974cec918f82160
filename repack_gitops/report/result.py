"""result.md and the comment on the merged pull request: what a finished run really did."""

from __future__ import annotations

from repack_gitops.model.run import RepackRun, RunStatus
from repack_gitops.report import result_parts as parts
from repack_gitops.report.markup import alert, code, link
from repack_gitops.report.sections import Section, fitted, whole

#: A comment below this cannot hold the verdict of the longest message.
SMALLEST_LIMIT = 4_000
_GIVES_WAY = ("pods", "troubles", "nodes", "troubles", "when", "nodes", "numbers")


def result_markdown(run: RepackRun) -> str:
    """Return result.md for a run that ended; everything comes from its status, and a missing part is left out."""
    return whole({"title": Section("", (f"# Result of {code(run.metadata.name)}",)), **_sections(run, "##")})


def result_comment(run: RepackRun, *, result_url: str = "", limit: int = 58_000) -> str:
    """Return the same as a comment of at most ``limit`` characters.

    Parameters
    ----------
    result_url
        Where result.md can be read on the forge; empty where it has no page.
    limit
        What the forge accepts; at least 4,000.

    Raises
    ------
    ValueError
        When ``limit`` is below 4,000.
    """
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"a result needs {SMALLEST_LIMIT} characters, {limit} are allowed")
    complete = link("`result.md`", result_url) if result_url else "`result.md`"
    return fitted(
        f"### Result of {code(run.metadata.name)}",
        _sections(run, "####"),
        _GIVES_WAY,
        limit=limit,
        notice=lambda what: alert("NOTE", f"Shortened to fit this forge: {what}. {complete} is complete."),
    )


def _sections(run: RepackRun, heading: str) -> dict[str, Section]:
    status = run.status or RunStatus(phase="Pending")
    troubles = parts.troubles(status)
    found = {
        "verdict": ("the verdict", "", (parts.verdict(status),)),
        "numbers": ("the numbers", "", (parts.numbers(status),)),
        "troubles": (
            "what did not go as planned",
            "What did not go as planned",
            (parts.listed(troubles), parts.listed(troubles, parts.FEW)),
        ),
        "nodes": ("nodes", "Nodes", (parts.nodes(status), parts.nodes(status, parts.FEW))),
        "pods": ("pods", "Pods", (parts.pods(status),)),
        "when": ("the times", "When", (parts.when(status),)),
    }
    return {
        key: Section(name, tuple(f"{heading} {title}\n\n{form}" if title and form else form for form in forms))
        for key, (name, title, forms) in found.items()
    }
