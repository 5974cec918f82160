"""Our verdict and a scheduler's, on one node."""

from __future__ import annotations

from dataclasses import dataclass

from tests.real.agreement.case import Case


@dataclass(frozen=True)
class Verdict:
    """One scheduler, one node.

    Attributes
    ----------
    node
        Its name within the case.
    ours, theirs
        Whether the probe may go there.
    code, detail
        Our reason against it; empty where we have none.
    documented
        The name of the exception that explains the difference, if there is one.
    """

    case: Case
    scheduler: str
    node: str
    ours: bool
    theirs: bool
    code: str = ""
    detail: str = ""
    documented: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.ours == self.theirs

    def __str__(self) -> str:
        said = "yes" if self.ours else f"no ({self.code}: {self.detail})"
        return f"seed {self.case.seed}, node {self.node}: we say {said}, {self.scheduler} says {'yes' if self.theirs else 'no'}"
