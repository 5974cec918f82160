"""The repository's documents as they stand on one commit: configuration, policies, guardrails, runs."""

from __future__ import annotations

from dataclasses import dataclass

from repack_gitops.errors import InvalidInput, Refused
from repack_gitops.git.interface import Repository
from repack_gitops.model.documents import read_guardrails, read_policy, read_repository_config, read_run
from repack_gitops.model.policy import Guardrails, RepackPolicy, RepositoryConfig
from repack_gitops.model.run import PlanStatus, RepackRun
from repack_gitops.policy.names import CONFIG_PATH, GUARDRAILS_PATH, POLICIES, RUNS, RunPath

LIMIT_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class ApprovedRun:
    """A run whose files are on the base branch."""

    path: RunPath
    run: RepackRun
    plan_run: RepackRun
    plan: PlanStatus


class Books:
    """Reads documents at ``commit``; nothing outside that commit counts."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository, self.commit = repository, commit

    def config(self) -> RepositoryConfig:
        """Return repack.yaml."""
        return read_repository_config(self._required(CONFIG_PATH), CONFIG_PATH)

    def guardrails(self) -> Guardrails | None:
        """Return policies/guardrails.yaml, or None where there is none."""
        content = self._repository.read(self.commit, GUARDRAILS_PATH, LIMIT_BYTES)
        return None if content is None else read_guardrails(content, GUARDRAILS_PATH)

    def policies(self) -> dict[str, RepackPolicy]:
        """Return every policy by its path, sorted; names must be unique and equal the file's."""
        found = {}
        for path in self._repository.list_files(self.commit, POLICIES):
            if not path.endswith((".yaml", ".yml")) or path == GUARDRAILS_PATH or path.count("/") != 1:
                continue
            policy = read_policy(self._required(path), path)
            stem = path.rpartition("/")[2].rpartition(".")[0]
            if policy.metadata.name != stem:
                raise InvalidInput(f"{path}: metadata.name is {policy.metadata.name}", hint=f"Name it {stem}, as its file.")
            found[path] = policy
        return found

    def policy(self, name: str) -> RepackPolicy:
        """Return the policy called ``name``."""
        for policy in self.policies().values():
            if policy.metadata.name == name:
                return policy
        raise Refused(f"policy {name} is not on the base branch", hint="A run whose policy was removed is not executed.")

    def runs(self, policy: str | None = None) -> dict[RunPath, frozenset[str]]:
        """Return every run with the names of its files, sorted by path."""
        found: dict[RunPath, set[str]] = {}
        for path in self._repository.list_files(self.commit, f"{RUNS}/{policy}" if policy else RUNS):
            run = RunPath.parse(path)
            if run is not None and path.startswith(run.directory + "/"):
                found.setdefault(run, set()).add(path[len(run.directory) + 1 :])
        return {run: frozenset(found[run]) for run in sorted(found)}

    def approved(self, policy: str | None = None) -> tuple[RunPath, ...]:
        """Return the runs whose run.yaml is here and whose result.yaml is not."""
        return tuple(run for run, files in self.runs(policy).items() if "run.yaml" in files and "result.yaml" not in files)

    def finished(self, run: RunPath) -> bool:
        """Tell whether the run's result is recorded."""
        return self._repository.read(self.commit, run.file("result.yaml"), LIMIT_BYTES) is not None

    def approved_run(self, path: RunPath) -> ApprovedRun:
        """Return a run with its plan; both must say what their place says."""
        run_file, plan_file = path.file("run.yaml"), path.file("plan.yaml")
        run = read_run(self._required(run_file), run_file)
        plan = read_run(self._required(plan_file), plan_file)
        if run.metadata.name != path.run:
            raise InvalidInput(f"{run_file}: metadata.name is {run.metadata.name}", hint=f"Name it {path.run}, as its folder.")
        if run.spec.mode != "Execute":
            raise Refused(f"{run_file}: spec.mode is {run.spec.mode}", hint="Only runs in mode Execute are executed.")
        if plan.status is None or plan.status.plan is None:
            raise InvalidInput(f"{plan_file}: it has no status.plan", hint="Propose the run again.")
        return ApprovedRun(path, run, plan, plan.status.plan)

    def _required(self, path: str) -> bytes:
        content = self._repository.read(self.commit, path, LIMIT_BYTES)
        if content is None:
            raise InvalidInput(f"{path} is not in the repository at {self.commit[:12]}", hint="Commit it to the base branch.")
        return content


def base_books(repository: Repository, branch: str) -> Books:
    """Return the documents at the tip of the remote's base branch."""
    commit = repository.fetch(branch)
    if commit is None:
        raise InvalidInput(f"the remote has no branch {branch}", hint="Set spec.git.baseBranch in repack.yaml.")
    return Books(repository, commit)
