"""Names and paths: one place decides what runs, branches, files and Jobs are called."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

#: Annotations this project writes on RepackRuns and Jobs.
PREFIX = "gitops.repack.volcano.sh/"
POLICY = PREFIX + "policy"
PLAN_DIGEST = PREFIX + "plan-digest"
POLICY_DIGEST = PREFIX + "policy-digest"
PLANNED_AT = PREFIX + "planned-at"
PLANNER_OPTIONS = PREFIX + "planner-options"
CHANGE_TICKET = PREFIX + "change-ticket"
RUN_PATH = PREFIX + "run-path"

CONFIG_PATH = "repack.yaml"
POLICIES = "policies"
GUARDRAILS_PATH = "policies/guardrails.yaml"
RUNS = "runs"

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
#: What Kubernetes takes as a name and git as a part of a branch's name.
_NAME = rf"{_LABEL}(?:\.{_LABEL})*(?<!\.lock)"
_IN_RUN = re.compile(rf"runs/(?P<policy>{_NAME})/(?P<run>{_NAME})(?P<rest>(?:/[^/\x00-\x1f]+)*)/?")
_MAX_NAME = 63


@dataclass(frozen=True, slots=True, order=True)
class RunPath:
    """Where a run lives in the repository: ``runs/<policy>/<run>``."""

    policy: str
    run: str

    @property
    def directory(self) -> str:
        """The run's directory."""
        return f"{RUNS}/{self.policy}/{self.run}"

    @property
    def branch(self) -> str:
        """The branch of its pull request."""
        return f"repack/{self.policy}/{self.run}"

    def file(self, name: str) -> str:
        """Return the path of one of its files."""
        return f"{self.directory}/{name}"

    @staticmethod
    def parse(path: str) -> RunPath | None:
        """Return the run that ``path`` (a directory or a file in it) belongs to, or None."""
        match = _IN_RUN.fullmatch(path)
        if match is None or not {".", ".."}.isdisjoint(match["rest"].split("/")):
            return None
        return RunPath(match["policy"], match["run"])

    @staticmethod
    def of_branch(branch: str) -> RunPath | None:
        """Return the run that ``branch`` proposes, or None where it is no branch of ours."""
        found = RunPath.parse(f"{RUNS}/{branch.removeprefix('repack/')}")
        return found if found is not None and found.branch == branch else None


def branch_prefix(policy: str) -> str:
    """Return what the branches of a policy's pull requests start with."""
    return f"repack/{policy}/"


def run_name(policy: str, stamp: str) -> str:
    """Return the name of a run proposed at ``stamp`` (UTC, ``YYYYMMDD-HHMMSS``)."""
    return _bounded(f"{policy}-{stamp}")


def label_value(name: str) -> str:
    """Return ``name`` as a label can hold it; names of at most 63 characters are what they are."""
    return _bounded(name)


def job_name(run: str, plan_digest: str) -> str:
    """Return the name of the executor's Job: the same run and plan always give the same one."""
    return _bounded(f"repack-{run}-{plan_digest[:8]}")


def _bounded(name: str) -> str:
    """Shorten to what Kubernetes allows for labels, keeping names distinct by a hash."""
    if len(name) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _MAX_NAME - 9].rstrip('-.')}-{digest}"
