"""The repository's documents as they stand on one commit: configuration, policies, guardrails, runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from repack_gitops.errors import InvalidInput, Refused
from repack_gitops.git.interface import Repository
from repack_gitops.model.documents import read_guardrails, read_policy, read_repository_config, read_run
from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from repack_gitops.model.run import PlanStatus, RepackRun
from repack_gitops.policy.history import PastMove, ended_before, past_moves
from repack_gitops.policy.names import CONFIG_PATH, GUARDRAILS_PATH, POLICIES, RUNS, RunPath
from repack_gitops.workflow.agreement import check_agreement

LIMIT_BYTES = 8 * 2**20

_POLICY_FILE = re.compile(rf"{POLICIES}/(?P<name>[^/]+)\.ya?ml")
#: Deliberately wider than any parser: limits that are overlooked are worse than a false alarm.
_GUARDRAILS = re.compile(rb"""["']?kind["']?\s*:\s*["']?Guardrails\b""")


@dataclass(frozen=True, slots=True)
class ApprovedRun:
    """A run whose files are on the base branch."""

    path: RunPath
    run: RepackRun
    plan_run: RepackRun
    plan: PlanStatus


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file in policies/: the policy called ``name``, or what is wrong with it."""

    path: str
    name: str
    content: RepackPolicy | InvalidInput


class Books:
    """Reads documents at ``commit``; nothing outside that commit counts."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository, self.commit = repository, commit
        self._listed: dict[str, tuple[str, ...]] = {}

    def config(self) -> RepositoryConfig:
        """Return repack.yaml."""
        return read_repository_config(self._required(CONFIG_PATH), CONFIG_PATH)

    def guardrails(self) -> Guardrails | None:
        """Return policies/guardrails.yaml, or None where there is none."""
        content = self._repository.read(self.commit, GUARDRAILS_PATH, LIMIT_BYTES)
        misnamed = GUARDRAILS_PATH.removesuffix(".yaml") + ".yml"
        if self._repository.read(self.commit, misnamed, LIMIT_BYTES) is not None:
            raise InvalidInput(f"{misnamed}: guardrails are only read from {GUARDRAILS_PATH}", hint="Rename the file.")
        return None if content is None else read_guardrails(content, GUARDRAILS_PATH)

    def policies(self) -> tuple[PolicyFile, ...]:
        """Return every file directly in policies/ that holds a policy, sorted by name; sub-folders hold none.

        Raises
        ------
        InvalidInput
            Guardrails stand where nobody would read them: not even the other policies may be served then.
        """
        paths: dict[str, list[str]] = {}
        for path in self._list(POLICIES):
            match = _POLICY_FILE.fullmatch(path)
            if match is not None and path != GUARDRAILS_PATH:
                paths.setdefault(match["name"], []).append(path)
        return tuple(self._policy_file(name, paths[name]) for name in sorted(paths))

    def policy(self, name: str) -> RepackPolicy:
        """Return the policy called ``name``; what is wrong with others does not matter."""
        found = [p for p in (f"{POLICIES}/{name}.yaml", f"{POLICIES}/{name}.yml") if p in self._list(POLICIES)]
        if not found or found == [GUARDRAILS_PATH]:
            raise Refused(f"policy {name} is not on the base branch", hint="A run whose policy was removed is not executed.")
        content = self._policy_file(name, found).content
        if isinstance(content, InvalidInput):
            raise content
        return content

    def runs(self, policy: str | None = None) -> dict[RunPath, frozenset[str]]:
        """Return every run with the names of its files, sorted by path."""
        found: dict[RunPath, set[str]] = {}
        for path in self._list(f"{RUNS}/{policy}" if policy else RUNS):
            run = RunPath.parse(path)
            if run is not None and path.startswith(run.directory + "/"):
                found.setdefault(run, set()).add(path[len(run.directory) + 1 :])
        return {run: frozenset(found[run]) for run in sorted(found)}

    def misplaced(self) -> tuple[str, ...]:
        """Return every run.yaml that is in no run's folder, such as one with capitals in its name."""
        found = [p for p in self._list(RUNS) if p.endswith("/run.yaml")]
        return tuple(p for p in found if (run := RunPath.parse(p)) is None or not p.startswith(run.directory + "/"))

    def approved(self, policy: str | None = None) -> tuple[RunPath, ...]:
        """Return the runs whose run.yaml is here and whose result.yaml is not."""
        return tuple(run for run, files in self.runs(policy).items() if "run.yaml" in files and "result.yaml" not in files)

    def finished(self, run: RunPath) -> bool:
        """Tell whether the run's result is recorded."""
        return run.file("result.yaml") in self._list(run.directory)

    def result(self, run: RunPath) -> RepackRun:
        """Return the recorded result of a run."""
        file = run.file("result.yaml")
        return read_run(self._required(file), file)

    def past_moves(self, since: datetime) -> frozenset[PastMove]:
        """Return what the recorded runs moved that may have ended after ``since`` (aware); reads all results.

        People may end a run by a result in their own words: that tells of no moves.

        Raises
        ------
        InvalidInput
            A result is a link, or too large to be read.
        """
        files = [run.file("result.yaml") for run, names in self.runs().items() if "result.yaml" in names]
        contents = self._repository.read_many(self.commit, files, LIMIT_BYTES)
        recent = [content for content in contents.values() if not ended_before(content, since)]
        return frozenset(move for content in recent for move in _moves_of(content))

    def approved_run(self, path: RunPath) -> ApprovedRun:
        """Return a run with its plan.

        Raises
        ------
        InvalidInput, Refused
            A file is broken, or the two do not say what their place, their digest and each other say.
        """
        run_file, plan_file = path.file("run.yaml"), path.file("plan.yaml")
        run = read_run(self._required(run_file), run_file)
        plan = read_run(self._required(plan_file), plan_file)
        if plan.status is None or plan.status.plan is None:
            raise InvalidInput(f"{plan_file}: it has no status.plan", hint="Propose the run again.")
        check_agreement(path, run, plan, plan.status.plan)
        return ApprovedRun(path, run, plan, plan.status.plan)

    def _policy_file(self, name: str, paths: list[str]) -> PolicyFile:
        if len(paths) > 1:
            problem = InvalidInput(f"policy {name} is in {' and in '.join(paths)}", hint="Delete one of the files.")
            return PolicyFile(paths[0], name, problem)
        path, content = paths[0], b""
        try:
            content = self._required(path)
            policy = read_policy(content, path)
        except InvalidInput as problem:
            if _GUARDRAILS.search(content):
                raise InvalidInput(f"{path}: guardrails are only read from {GUARDRAILS_PATH}", hint="Move them.") from problem
            return PolicyFile(path, name, problem)
        if policy.metadata.name == name:
            return PolicyFile(path, name, policy)
        misnamed = InvalidInput(f"{path}: metadata.name is {policy.metadata.name}", hint=f"Name it {name}, as its file.")
        return PolicyFile(path, name, misnamed)

    def _list(self, folder: str) -> tuple[str, ...]:
        """Return the files below ``folder``; a link, a submodule or a file in its place is an error, not an empty folder."""
        if folder not in self._listed:
            found = self._repository.list_files(self.commit, folder)
            if set(found) <= {folder} and self._repository.read(self.commit, folder, LIMIT_BYTES) is not None:
                raise InvalidInput(f"{folder} is a file, not a folder", hint="Rename it.")
            self._listed[folder] = found
        return self._listed[folder]

    def _required(self, path: str) -> bytes:
        content = self._repository.read(self.commit, path, LIMIT_BYTES)
        if content is None:
            raise InvalidInput(f"{path} is not in the repository at {self.commit[:12]}", hint="Commit it to the base branch.")
        return content


def _moves_of(content: bytes) -> frozenset[PastMove]:
    try:
        return past_moves(read_run(content, "result.yaml"))
    except InvalidInput:
        return frozenset()


def base_books(repository: Repository, branch: str) -> Books:
    """Return the documents at the tip of the remote's base branch, which must call itself that."""
    commit = repository.fetch(branch)
    if commit is None:
        raise InvalidInput(f"the remote has no branch {branch}", hint="Set spec.git.baseBranch in repack.yaml.")
    books = Books(repository, commit)
    said = books.config().spec.git.base_branch
    if said != branch:
        raise InvalidInput(
            f"{CONFIG_PATH} on branch {branch} says that the base branch is {said}",
            hint=f"Use --branch {said}, or set spec.git.baseBranch to {branch}.",
        )
    return books
