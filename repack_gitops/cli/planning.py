"""What `repack plan` needs beyond its options: the run, the snapshot, and the answer in four forms."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, assert_never

import msgspec

from repack_gitops.cli.wiring import connect_cluster
from repack_gitops.errors import InvalidInput, RepackError
from repack_gitops.files.documents import read_document
from repack_gitops.files.snapshot import read_snapshot
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.documents import read_policy, read_run
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.problems import InvalidDocument
from repack_gitops.model.run import RepackRun, RunMetadata, RunSpec, new_run, run_spec
from repack_gitops.model.status import dry_run_status
from repack_gitops.model.writing import to_yaml
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from repack_gitops.planner.watch import Watch
from repack_gitops.policy.honoured import check_honoured
from repack_gitops.policy.replay import noted_options
from repack_gitops.policy.safety import planner_options
from repack_gitops.report.evaluation import evaluation_markdown
from repack_gitops.report.table import plan_table
from repack_gitops.workflow.clock import parse_timestamp

Format = Literal["table", "yaml", "json", "markdown"]
_EPOCH = "1970-01-01T00:00:00Z"
_WIDTH_OF_A_FILE = 100


#: A run and the options to plan it with, once the moment (RFC 3339) is known that ages count from.
Request = Callable[[str], tuple[RepackRun, PlannerOptions]]


def request_from_run(file: Path) -> Request:
    """Return the run in ``file`` as a DryRun, with the options that it records."""
    run = read_run(read_document(file), str(file))
    again = new_run(run.metadata, msgspec.structs.replace(run.spec, mode="DryRun"))
    options = noted_options(run.metadata.annotations)
    return lambda _: (again, options)


def request_from_policy(file: Path) -> Request:
    """Return the run that the policy in ``file`` proposes, under its safety options; not what past runs moved."""
    policy = read_policy(read_document(file), str(file))
    check_honoured(policy)
    template = policy.spec.run_template
    metadata = RunMetadata(policy.metadata.name, template.metadata.labels, template.metadata.annotations)
    run = new_run(metadata, run_spec(template.spec, "DryRun"))
    return lambda now: (run, planner_options(policy.spec, None, _moment(now)))


def _moment(text: str) -> datetime:
    try:
        moment = parse_timestamp(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidInput(
            f"the newest pod was created at {text[:40]!r}, which is no time with a zone", hint="Take the snapshot again."
        )
    return moment


def request_for_resource(resource: str, percent: int, pod_groups: int | None, cards: int | None) -> Request:
    """Return the run that the options describe."""
    run = _run_for_resource(resource, percent, pod_groups, cards)
    return lambda _: (run, PlannerOptions())


def _run_for_resource(resource: str, percent: int, pod_groups: int | None, cards: int | None) -> RepackRun:
    budget: dict[str, Any] = {"podGroups": pod_groups} if pod_groups is not None else {}
    if cards is not None:
        budget["resources"] = {resource: cards}
    goal = {"resource": resource, "minFragImprovementPercent": percent}
    document = {
        "apiVersion": "repack.volcano.sh/v1alpha1",
        "kind": "RepackRun",
        "metadata": {"name": "plan"},
        "spec": {"mode": "DryRun", "goals": [goal], **({"maxPerRun": budget} if budget else {})},
    }
    try:
        return read_run(msgspec.json.encode(document), "--resource")
    except InvalidDocument as error:
        # The numbers are checked before; positions in a document that nobody wrote help nobody.
        problem = error.problems[0]
        raise InvalidInput(f"--resource: {problem.message}", hint=problem.advice) from error


def snapshot_from_file(file: Path) -> tuple[ClusterSnapshot, str]:
    """Return the snapshot and its moment: its newest pod's, so that the same file gives the same bytes."""
    found = read_snapshot(file)
    return found, max((p.created for p in found.pods), default="") or _EPOCH


def snapshot_of_cluster(kubeconfig: Path | None, context: str | None) -> tuple[ClusterSnapshot, str]:
    """Return the live cluster's snapshot and the present moment."""
    with connect_cluster(kubeconfig, context) as cluster:
        return build_snapshot(cluster.list_objects()), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def answered(
    output: Format, run: RepackRun, snapshot: ClusterSnapshot, options: PlannerOptions, watch: Watch, *, now: str
) -> tuple[Evaluation, str]:
    """Return the evaluation of ``run``, after the independent judge accepted it, and its text in the form asked for."""
    evaluation = evaluate(snapshot, run.spec, options, watch)
    watch.entered("Checking the plan")
    checked(snapshot, run.spec, options, evaluation)
    return evaluation, rendered(output, run, snapshot, evaluation, now)


def checked(snapshot: ClusterSnapshot, spec: RunSpec, options: PlannerOptions, evaluation: Evaluation) -> Evaluation:
    """Return ``evaluation``, after the independent judge accepted it."""
    problems = verify(snapshot, spec, evaluation, options)
    if problems:
        raise RepackError(f"the plan did not pass its own judge: {problems[0]}", hint="Please report this with the snapshot.")
    return evaluation


def rendered(output: Format, run: RepackRun, snapshot: ClusterSnapshot, evaluation: Evaluation, now: str) -> str:
    """Return the answer in the form asked for; only the table depends on the terminal."""
    match output:
        case "table":
            return _table(run, snapshot, evaluation)
        case "markdown":
            return evaluation_markdown(evaluation, run.spec)
        case "yaml":
            return to_yaml(_planned(run, evaluation, now))
        case "json":
            return msgspec.json.format(msgspec.json.encode(_planned(run, evaluation, now)), indent=2).decode() + "\n"
        case other:
            assert_never(other)


def _planned(run: RepackRun, evaluation: Evaluation, now: str) -> RepackRun:
    threshold = run.spec.goals[0].min_frag_improvement_percent
    return new_run(run.metadata, run.spec, dry_run_status(evaluation, now, threshold=threshold))


def _table(run: RepackRun, snapshot: ClusterSnapshot, evaluation: Evaluation) -> str:
    width, colour, unicode = terminal_look()
    return plan_table(evaluation, run.spec, snapshot, width=width, colour=colour, unicode=unicode)


def terminal_look() -> tuple[int, bool, bool]:
    """Return the width of standard output, and whether it shows colour and more than ASCII."""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((_WIDTH_OF_A_FILE, 24)).columns if terminal else _WIDTH_OF_A_FILE
    colour = terminal and not os.environ.get("NO_COLOR")
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return width, colour, unicode
